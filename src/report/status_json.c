/* Shows runs as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/json_internal.h"
#include "report/status_internal.h"
#include "report/values_internal.h"

static json_t *supervisor_object(const struct report_run *view)
{
    json_t *object = json_object();
    json_object_set_new(object, "host", js_text(view->supervisor_host));
    json_object_set_new(object, "pid", js_integer(view->supervisor_pid, 0));
    json_object_set_new(object, "alive", json_boolean(view->supervisor_alive));
    return object;
}

/* 0 when finished; null while the run is live and when it was stopped. */
static json_t *exit_status_value(const struct run *run)
{
    if (run->state == RUN_FINISHED) {
        return json_integer(0);
    }
    if (run->state == RUN_FAILED) {
        return js_integer(run->exit_status, -1);
    }
    return json_null();
}

static json_t *left_over_array(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->left_over_len; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(run->left_over[i].host));
        json_object_set_new(object, "pid", js_integer(run->left_over[i].pid, 0));
        json_object_set_new(object, "command", js_text(run->left_over[i].command));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *figure(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

json_t *report_progress_json(const struct training_progress *progress)
{
    if (progress->iteration < 0 && !progress->has_loss) {
        return json_null();
    }
    json_t *object = json_object();
    json_object_set_new(object, "iteration", js_integer(progress->iteration, -1));
    json_object_set_new(object, "total", js_integer(progress->total, -1));
    json_object_set_new(object, "loss", progress->has_loss ? json_real(progress->loss) : json_null());
    json_object_set_new(object, "step_time", figure(progress->step_time_s));
    json_object_set_new(object, "tokens_per_second", figure(progress->tokens_per_second));
    json_object_set_new(object, "samples_per_second", figure(progress->samples_per_second));
    json_object_set_new(object, "tflops_per_gpu", figure(progress->tflops_per_gpu));
    json_object_set_new(object, "eta", figure(progress->eta_s));
    json_object_set_new(object, "nan", js_integer(progress->nan, -1));
    json_object_set_new(object, "skipped", js_integer(progress->skipped, -1));
    json_object_set_new(object, "checkpoint", js_integer(progress->checkpoint, -1));
    json_object_set_new(object, "updated", js_time(progress->updated_ms));
    return object;
}

/* The keys that the list of runs and the status of one run share. */
static void add_common(json_t *object, const struct report_run *view)
{
    const struct run *run = view->run;
    json_object_set_new(object, "run", js_text(run->name));
    json_object_set_new(object, "job", js_text(run->job));
    json_object_set_new(object, "run_id", js_text_or_null(run->id));
    json_object_set_new(object, "state", js_text(run_state_name(run->state)));
    json_object_set_new(object, "attempt", js_integer(run->attempt, 0));
    json_object_set_new(object, "reason", js_text(run->reason));
    json_object_set_new(object, "exit_status", exit_status_value(run));
    json_object_set_new(object, "started", js_time(run->started_ms));
    json_object_set_new(object, "ended", js_time(run->ended_ms));
    json_object_set_new(object, "supervisor", supervisor_object(view));
    json_object_set_new(object, "left_over", left_over_array(run));
}

static json_t *gpus_value(const struct run_node *node)
{
    if (!node->gpus_known) {
        return json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < node->gpus_len; i++) {
        const struct run_gpu *gpu = &node->gpus[i];
        json_t *object = json_object();
        json_object_set_new(object, "index", json_integer(gpu->index));
        json_object_set_new(object, "utilization", js_integer(gpu->utilization, -1));
        json_object_set_new(object, "memory_used", js_integer(gpu->memory_used, -1));
        json_object_set_new(object, "memory_total", js_integer(gpu->memory_total, -1));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *node_object(const struct run_node *node)
{
    json_t *object = json_object();
    json_object_set_new(object, "rank", json_integer(node->rank));
    json_object_set_new(object, "host", js_text(node->label));
    json_object_set_new(object, "addr", js_text(node->addr));
    json_object_set_new(object, "state", js_text(node_state_name(node->state)));
    json_object_set_new(object, "last_output", js_time(node->last_output_ms));
    json_object_set_new(object, "reason", js_text(node->reason));
    json_object_set_new(object, "pid", js_integer(node->pid, 0));
    json_object_set_new(object, "exit_status", js_integer(node->exit_status, -1));
    json_object_set_new(object, "signal", js_text(node->signal));
    json_object_set_new(object, "started", js_time(node->started_ms));
    json_object_set_new(object, "ended", js_time(node->ended_ms));
    json_object_set_new(object, "log", js_text(node->log));
    json_object_set_new(object, "gpus", gpus_value(node));
    return object;
}

static json_t *nodes_array(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->nodes_len; i++) {
        json_array_append_new(array, node_object(&run->nodes[i]));
    }
    return array;
}

/* The values of the current attempt are those of the run; earlier attempts are history. */
static json_t *attempts_array(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->attempts_len; i++) {
        const struct run_attempt *attempt = &run->attempts[i];
        bool current = attempt->number == run->attempt;
        json_t *object = json_object();
        json_object_set_new(object, "attempt", json_integer(attempt->number));
        json_object_set_new(object, "state", js_text(run_state_name(current ? run->state : attempt->state)));
        json_object_set_new(object, "started", js_time(attempt->started_ms));
        json_object_set_new(object, "ended", js_time(current ? run->ended_ms : attempt->ended_ms));
        json_object_set_new(object, "reason", js_text(current ? run->reason : attempt->reason));
        json_object_set_new(object, "nodes", js_list(&attempt->nodes));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *report_events_json(const struct run_events *events)
{
    json_t *array = json_array();
    for (size_t i = 0; events && i < events->len; i++) {
        const struct run_event *event = &events->items[i];
        json_t *object = json_object();
        json_object_set_new(object, "time", js_time(event->time_ms));
        json_object_set_new(object, "event", js_text(event->event));
        json_object_set_new(object, "host", js_text(event->host));
        json_object_set_new(object, "text", js_text_or_null(event->text));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *survivors_array(const struct report_run *view)
{
    json_t *array = json_array();
    for (size_t i = 0; i < view->survivors_len; i++) {
        const struct run_survivor *survivor = &view->survivors[i];
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(survivor->host));
        json_object_set_new(object, "rank", json_integer((json_int_t)survivor->rank));
        json_object_set_new(object, "pid", js_integer(survivor->pid, 0));
        json_object_set_new(object, "state", js_text_or_null(survivor->state));
        json_object_set_new(object, "command", js_text(survivor->command));
        json_array_append_new(array, object);
    }
    return array;
}

static void fill_run(json_t *answer, const struct report_run *view, const struct error *failure,
                     const struct strlist *hosts)
{
    add_common(answer, view);
    json_object_set_new(answer, "nodes", nodes_array(view->run));
    json_object_set_new(answer, "progress", report_progress_json(&view->run->progress));
    json_object_set_new(answer, "attempts", attempts_array(view->run));
    json_object_set_new(answer, "events", report_events_json(view->events));
    if (view->with_survivors) {
        json_object_set_new(answer, "survivors", survivors_array(view));
    }
    if (failure && failure->kind) {
        json_object_set_new(answer, "error", js_error(failure, hosts));
    }
}

void report_run_json(const struct report_run *view, const struct error *failure, const struct strlist *hosts,
                     struct str *out)
{
    json_t *answer = js_answer();
    fill_run(answer, view, failure, hosts);
    js_add_line(out, answer);
}

/* --- several runs ------------------------------------------------------------------------------- */

json_t *report_run_value(const struct report_run *view)
{
    json_t *object = json_object();
    fill_run(object, view, NULL, NULL);
    return object;
}

struct report_many {
    json_t *runs;
    json_t *error; /* such as a pattern that matched no run; NULL: none */
};

struct report_many *report_many_new(void)
{
    struct report_many *many = xcalloc(1, sizeof(*many));
    many->runs = json_array();
    return many;
}

void report_many_free(struct report_many *many)
{
    if (many) {
        json_decref(many->runs);
        json_decref(many->error);
        free(many);
    }
}

void report_many_add(struct report_many *many, const struct report_run *view, const struct error *failure,
                     const struct strlist *hosts)
{
    json_t *object = json_object();
    fill_run(object, view, failure, hosts);
    json_array_append_new(many->runs, object);
}

void report_many_add_failed(struct report_many *many, const char *run, bool with_survivors,
                            const struct error *failure)
{
    static const char *const unknown[] = {"job",         "run_id",   "state",    "attempt",    "reason",
                                          "exit_status", "started",  "ended",    "supervisor", "left_over",
                                          "nodes",       "progress", "attempts", "events"};
    json_t *object = json_object();
    json_object_set_new(object, "run", js_text(run));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        json_object_set_new(object, unknown[i], json_null());
    }
    if (with_survivors) {
        json_object_set_new(object, "survivors", json_null());
    }
    json_object_set_new(object, "error", js_error(failure, NULL));
    json_array_append_new(many->runs, object);
}

void report_many_add_removed(struct report_many *many, const char *run, const struct error *failure,
                             const struct strlist *hosts)
{
    json_t *object = json_object();
    json_object_set_new(object, "run", js_text(run));
    json_object_set_new(object, "removed", json_boolean(!failure));
    json_object_set_new(object, "error", failure ? js_error(failure, hosts) : json_null());
    json_array_append_new(many->runs, object);
}

bool report_many_has(const struct report_many *many, const char *run)
{
    for (size_t i = 0; i < json_array_size(many->runs); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(many->runs, i), "run"));
        if (name && strcmp(name, run) == 0) {
            return true;
        }
    }
    return false;
}

void report_many_set_error(struct report_many *many, const struct error *error)
{
    json_decref(many->error);
    many->error = js_error(error, NULL);
}

void report_many_json(struct report_many *many, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set(answer, "runs", many->runs);
    if (many->error) {
        json_object_set(answer, "error", many->error);
    }
    js_add_line(out, answer);
}

void report_runs_json(const struct report_run *views, size_t count, struct str *out)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        add_common(object, &views[i]);
        json_object_set_new(object, "progress", report_progress_json(&views[i].run->progress));
        json_array_append_new(array, object);
    }
    json_t *answer = js_answer();
    json_object_set_new(answer, "runs", array);
    js_add_line(out, answer);
}
