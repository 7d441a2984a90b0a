/* Writes the metrics of runs from one table, as text and as JSON. */
#include "report/metrics.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/json_internal.h"

#define LABELS_MAX  6
#define NODE_STATES (NODE_LOST + 1)

/* --- samples ------------------------------------------------------------------------------------------ */

struct label {
    const char *name, *value;
};

/* Where the samples of a metric go: into the JSON array, if there is one, else into text. */
struct writer {
    const char *name;
    struct str *text;
    json_t *array;
};

static void add_label_value(struct str *out, const char *value)
{
    AUTO_STR struct str valid = STR_INIT;
    text_add_utf8(&valid, value, strlen(value));
    for (const char *at = str_text(&valid); *at; at++) {
        str_add(out, *at == '\\' ? "\\\\" : *at == '"' ? "\\\"" : *at == '\n' ? "\\n" : "");
        str_add_mem(out, at, *at == '\\' || *at == '"' || *at == '\n' ? 0 : 1);
    }
}

/* NAN: the value is unknown, and no sample is written. */
static void write_sample(struct writer *writer, const struct label *labels, size_t count, double value)
{
    if (isnan(value)) {
        return;
    }
    if (writer->array) {
        json_t *object = json_object(), *set = json_object();
        for (size_t i = 0; i < count; i++) {
            json_object_set_new(set, labels[i].name, js_text(labels[i].value));
        }
        json_object_set_new(object, "labels", set);
        json_object_set_new(object, "value", json_real(value));
        json_array_append_new(writer->array, object);
        return;
    }
    str_add(writer->text, writer->name);
    for (size_t i = 0; i < count; i++) {
        str_addf(writer->text, "%s%s=\"", i ? "," : "{", labels[i].name);
        add_label_value(writer->text, labels[i].value);
        str_add_char(writer->text, '"');
    }
    str_addf(writer->text, "%s %.15g\n", count ? "}" : "", value);
}

/* Write a sample of a run, with one additional label (name NULL: none). */
static void write_run(struct writer *writer, const struct metrics_run *item, const char *name,
                      const char *text, double value)
{
    const struct label labels[] = {{"run", item->run->name}, {"job", item->run->job}, {name, text}};
    write_sample(writer, labels, name ? 3 : 2, value);
}

static void write_node(struct writer *writer, const struct metrics_run *item, size_t node, const char *name,
                       const char *text, double value)
{
    AUTO_FREE char *number = xasprintf("%zu", node);
    const struct label labels[] = {{"run", item->run->name},
                                   {"job", item->run->job},
                                   {"node", number},
                                   {"host", item->run->nodes[node].label},
                                   {name, text}};
    write_sample(writer, labels, name ? 5 : 4, value);
}

static double known(double value)
{
    return value >= 0 ? value : (double)NAN;
}

static double seconds(int64_t ms)
{
    return ms > 0 ? (double)ms / 1000 : (double)NAN;
}

/* --- of mtlaunch -------------------------------------------------------------------------------------- */

static void write_build(struct writer *writer, const struct metrics *metrics)
{
    const struct label label = {"version", metrics->version};
    write_sample(writer, &label, 1, 1);
}

static void write_states(struct writer *writer, const struct metrics *metrics)
{
    for (size_t i = 0; i < ARRAY_LEN(metrics->states); i++) {
        const struct label label = {"state", run_state_name((enum run_state)i)};
        write_sample(writer, &label, 1, (double)metrics->states[i]);
    }
}

/* --- of a run ----------------------------------------------------------------------------------------- */

static void write_run_info(struct writer *writer, const struct metrics_run *item)
{
    const struct run *run = item->run;
    AUTO_FREE char *gpu = strlist_join(&run->inventory.gpus, ", ");
    AUTO_FREE char *network = strlist_join(&run->inventory.networks, ", ");
    const struct label labels[] = {
        {"run", run->name}, {"job", run->job}, {"run_id", run->id}, {"gpu", gpu}, {"network", network}};
    write_sample(writer, labels, ARRAY_LEN(labels), 1);
}

static void write_run_state(struct writer *writer, const struct metrics_run *item)
{
    for (int i = 0; i <= RUN_FINISHED; i++) {
        write_run(writer, item, "state", run_state_name((enum run_state)i),
                  item->run->state == (enum run_state)i);
    }
}

static void write_run_nodes(struct writer *writer, const struct metrics_run *item)
{
    size_t counts[NODE_STATES] = {0};
    for (size_t i = 0; i < item->run->nodes_len; i++) {
        counts[item->run->nodes[i].state]++;
    }
    for (size_t i = 0; i < NODE_STATES; i++) {
        write_run(writer, item, "state", node_state_name((enum node_state)i), (double)counts[i]);
    }
}

static double get_attempt(const struct metrics_run *item)
{
    return item->run->attempt;
}

static double get_restarts(const struct metrics_run *item)
{
    return item->run->restarts;
}

static double get_supervised(const struct metrics_run *item)
{
    return item->supervised;
}

static double get_started(const struct metrics_run *item)
{
    return seconds(item->run->started_ms);
}

static double get_ended(const struct metrics_run *item)
{
    return seconds(item->run->ended_ms);
}

static double get_gpus(const struct metrics_run *item)
{
    return item->run->nproc_per_node > 0 ? (double)item->run->nproc_per_node * (double)item->run->nodes_len
                                         : (double)NAN;
}

static double get_iteration(const struct metrics_run *item)
{
    return known((double)item->run->progress.iteration);
}

static double get_planned(const struct metrics_run *item)
{
    return known((double)item->run->progress.total);
}

static double get_loss(const struct metrics_run *item)
{
    return item->run->progress.has_loss ? item->run->progress.loss : (double)NAN;
}

static double get_step(const struct metrics_run *item)
{
    return known(item->run->progress.step_time_s);
}

static double get_samples(const struct metrics_run *item)
{
    return known(item->run->progress.samples_per_second);
}

static double get_tokens(const struct metrics_run *item)
{
    return known(item->run->progress.tokens_per_second);
}

static double get_tflops(const struct metrics_run *item)
{
    return known(item->run->progress.tflops_per_gpu);
}

static double get_remaining(const struct metrics_run *item)
{
    return run_state_is_live(item->run->state) ? known(item->run->progress.eta_s) : (double)NAN;
}

static double get_nan(const struct metrics_run *item)
{
    return known((double)item->run->progress.nan);
}

static double get_skipped(const struct metrics_run *item)
{
    return known((double)item->run->progress.skipped);
}

static double get_checkpoint(const struct metrics_run *item)
{
    return known((double)item->run->progress.checkpoint);
}

static double get_updated(const struct metrics_run *item)
{
    return seconds(item->run->progress.updated_ms);
}

/* --- of a node ---------------------------------------------------------------------------------------- */

/* Only the current state is written: all of them would be five times as many samples. */
static void write_node_state(struct writer *writer, const struct metrics_run *item, size_t node)
{
    write_node(writer, item, node, "state", node_state_name(item->run->nodes[node].state), 1);
}

static double get_last_output(const struct metrics_run *item, size_t node)
{
    return seconds(item->run->nodes[node].last_output_ms);
}

/* What the supervisor last saw of the node's GPUs. */
static const struct gpu_sample *gpus_of(const struct metrics_run *item, size_t node)
{
    return item->gpus && node < item->gpus->nodes_len ? &item->gpus->nodes[node] : NULL;
}

static double get_utilization(const struct metrics_run *item, size_t node)
{
    const struct gpu_sample *gpus = gpus_of(item, node);
    bool told = gpus && gpus->utilization_mean != SAMPLE_PERCENT_UNKNOWN;
    return told ? (double)gpus->utilization_mean / 100 : (double)NAN;
}

static double get_memory_used(const struct metrics_run *item, size_t node)
{
    const struct gpu_sample *gpus = gpus_of(item, node);
    return known(gpus ? (double)gpu_sample_bytes(gpus->memory_max) : -1);
}

static double get_memory(const struct metrics_run *item, size_t node)
{
    const struct gpu_sample *gpus = gpus_of(item, node);
    return known(gpus ? (double)gpu_sample_bytes(gpus->memory_total) : -1);
}

/* --- the table ---------------------------------------------------------------------------------------- */

/*
 * A metric has one of these callbacks: all of its samples, those of a run or a run's number, those of a node
 * or a node's number.
 */
static const struct metric {
    const char *name, *unit, *help; /* unit NULL: none; the name ends with it */
    void (*all)(struct writer *writer, const struct metrics *metrics);
    void (*run)(struct writer *writer, const struct metrics_run *item);
    double (*run_number)(const struct metrics_run *item);
    void (*node)(struct writer *writer, const struct metrics_run *item, size_t node);
    double (*node_number)(const struct metrics_run *item, size_t node);
} table[] = {
    {"mtlaunch_build_info", NULL, "The version of mtlaunch.", .all = write_build},
    {"mtlaunch_runs", NULL, "Runs recorded on this machine, by state.", .all = write_states},
    {"mtlaunch_run_info", NULL, "What is known of a run: its id, its GPUs' model, the network NCCL chose.",
     .run = write_run_info},
    {"mtlaunch_run_state", NULL, "1 for the state that the run is in, 0 for the others.",
     .run = write_run_state},
    {"mtlaunch_run_nodes", NULL, "Nodes of the run, by state.", .run = write_run_nodes},
    {"mtlaunch_run_attempt", NULL, "The number of the current attempt, from 1.", .run_number = get_attempt},
    {"mtlaunch_run_restarts", NULL, "Attempts that the supervisor began by itself since the last start.",
     .run_number = get_restarts},
    {"mtlaunch_run_supervised", NULL, "Whether the run has a supervisor.", .run_number = get_supervised},
    {"mtlaunch_run_started_timestamp_seconds", "seconds", "When the current attempt was started.",
     .run_number = get_started},
    {"mtlaunch_run_ended_timestamp_seconds", "seconds", "When the run ended.", .run_number = get_ended},
    {"mtlaunch_run_gpus", NULL, "Processes of the training on all nodes, a GPU each.",
     .run_number = get_gpus},
    {"mtlaunch_run_iteration", NULL, "Completed iterations.", .run_number = get_iteration},
    {"mtlaunch_run_planned_iterations", NULL, "Total iterations.", .run_number = get_planned},
    {"mtlaunch_run_loss", NULL, "The last loss that was printed.", .run_number = get_loss},
    {"mtlaunch_run_step_seconds", "seconds", "Time of an iteration, the median of the last ones.",
     .run_number = get_step},
    {"mtlaunch_run_samples_per_second", NULL, "Samples a second of all processes.",
     .run_number = get_samples},
    {"mtlaunch_run_tokens_per_second", NULL, "Tokens a second of all processes.", .run_number = get_tokens},
    {"mtlaunch_run_gpu_tflops", NULL, "TFLOP/s of a GPU, as the program reports them.",
     .run_number = get_tflops},
    {"mtlaunch_run_remaining_seconds", "seconds", "Time that the remaining iterations will take.",
     .run_number = get_remaining},
    {"mtlaunch_run_nan_iterations", NULL, "Iterations without a finite loss.", .run_number = get_nan},
    {"mtlaunch_run_skipped_iterations", NULL, "Iterations that the framework skipped.",
     .run_number = get_skipped},
    {"mtlaunch_run_checkpoint_iteration", NULL, "The iteration of the last checkpoint that was written.",
     .run_number = get_checkpoint},
    {"mtlaunch_run_progress_timestamp_seconds", "seconds",
     "When the log that tells the progress was last written.", .run_number = get_updated},
    {"mtlaunch_node_state", NULL, "1, with the state that the node is in.", .node = write_node_state},
    {"mtlaunch_node_last_output_timestamp_seconds", "seconds",
     "When the log of the node last grew, to the minute.", .node_number = get_last_output},
    {"mtlaunch_node_gpu_utilization_ratio", "ratio", "How busy the node's GPUs are on average.",
     .node_number = get_utilization},
    {"mtlaunch_node_gpu_memory_used_bytes", "bytes", "Memory in use on the fullest of the node's GPUs.",
     .node_number = get_memory_used},
    {"mtlaunch_node_gpu_memory_bytes", "bytes", "Memory of one of the node's GPUs.",
     .node_number = get_memory},
};

static void write_item(struct writer *writer, const struct metric *metric, const struct metrics_run *item)
{
    if (metric->run) {
        metric->run(writer, item);
    } else if (metric->run_number) {
        write_run(writer, item, NULL, NULL, metric->run_number(item));
    }
    for (size_t node = 0; node < item->run->nodes_len; node++) {
        if (metric->node) {
            metric->node(writer, item, node);
        } else if (metric->node_number) {
            write_node(writer, item, node, NULL, NULL, metric->node_number(item, node));
        }
    }
}

static void write_metric(struct writer *writer, const struct metric *metric, const struct metrics *metrics)
{
    writer->name = metric->name;
    if (metric->all) {
        metric->all(writer, metrics);
        return;
    }
    for (size_t i = 0; i < metrics->len; i++) {
        write_item(writer, metric, &metrics->runs[i]);
    }
}

void report_metrics_text(const struct metrics *metrics, struct str *out)
{
    struct writer writer = {.text = out};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        str_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", table[i].name, table[i].help, table[i].name);
        if (table[i].unit) {
            str_addf(out, "# UNIT %s %s\n", table[i].name, table[i].unit);
        }
        write_metric(&writer, &table[i], metrics);
    }
    str_add(out, "# EOF\n");
}

void report_metrics_json(const struct metrics *metrics, struct str *out)
{
    json_t *answer = js_answer();
    json_t *array = json_array();
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct writer writer = {.array = json_array()};
        write_metric(&writer, &table[i], metrics);
        json_t *object = json_object();
        json_object_set_new(object, "name", js_text(table[i].name));
        json_object_set_new(object, "help", js_text(table[i].help));
        json_object_set_new(object, "unit", js_text(table[i].unit));
        json_object_set_new(object, "samples", writer.array);
        json_array_append_new(array, object);
    }
    json_object_set_new(answer, "metrics", array);
    js_add_line(out, answer);
}
