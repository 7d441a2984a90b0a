/* Shows runs as text: the status of one run, and the list of runs. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "report/spark.h"
#include "report/status_internal.h"
#include "report/table.h"

#define PROGRESS_INDENT strlen("progress: ")
#define TREND_LEAST     8 /* bars */
#define TREND_MOST      48

/* The usual reason why a signal ended a training process. */
static const struct {
    const char *signal;
    const char *meaning;
} signal_meanings[] = {
    {"KILL", "often out of memory: see dmesg there"}, {"BUS", "often a full /dev/shm"},
    {"SEGV", "a memory fault in native code"},        {"ABRT", "aborted by the program or by NCCL"},
    {"ILL", "built for another processor"},
};

static enum report_tone run_tone(enum run_state state)
{
    static const enum report_tone tones[] = {
        [RUN_STOPPING] = TONE_WARN, [RUN_STARTING] = TONE_WARN, [RUN_DEGRADED] = TONE_BAD,
        [RUN_RUNNING] = TONE_GOOD,  [RUN_LOST] = TONE_BAD,      [RUN_FAILED] = TONE_BAD,
        [RUN_STOPPED] = TONE_WARN,  [RUN_FINISHED] = TONE_GOOD,
    };
    return tones[state];
}

char *report_exit_text(const struct run_node *node)
{
    if (node->exit_status < 0) {
        return NULL;
    }
    if (!node->signal) {
        return xasprintf("exit status %d", node->exit_status);
    }
    for (size_t i = 0; i < ARRAY_LEN(signal_meanings); i++) {
        if (strcmp(node->signal, signal_meanings[i].signal) == 0) {
            return xasprintf("killed by SIG%s (%s)", node->signal, signal_meanings[i].meaning);
        }
    }
    return xasprintf("killed by SIG%s", node->signal);
}

static void add_safe(struct str *out, const char *text)
{
    text_add_line(out, text, strlen(text));
}

/* Add how long it ran, or has been running. */
static void add_span(struct table *table, int64_t started_ms, int64_t ended_ms, int64_t now_ms)
{
    char buffer[CLOCK_TEXT_SIZE];
    int64_t until = ended_ms ? ended_ms : now_ms;
    int64_t span_s = until > started_ms ? (until - started_ms) / 1000 : 0; /* a node's clock may be slow */
    table_add(table, started_ms ? clock_format_span(span_s, buffer) : NULL, TONE_PLAIN);
}

/* Add "11-30 17:26", or "2025-11-30" for a year other than the current one. */
static void add_local_time(struct table *table, int64_t time_ms, int64_t now_ms)
{
    enum {
        YEAR = sizeof("2026-") - 1,
        DATE = sizeof("2026-11-30") - 1,
        MINUTE = sizeof("2026-11-30 17:26") - 1
    };
    char text[CLOCK_TEXT_SIZE], now[CLOCK_TEXT_SIZE];
    clock_format_local(time_ms, text);
    clock_format_local(now_ms, now);
    if (!time_ms) {
        table_add(table, NULL, TONE_PLAIN);
    } else if (strncmp(text, now, YEAR) == 0) {
        table_addf(table, TONE_PLAIN, "%.*s", MINUTE - YEAR, text + YEAR);
    } else {
        table_addf(table, TONE_PLAIN, "%.*s", DATE, text);
    }
}

/* Most runs have a single attempt, so the first one leaves the cell empty. */
static void add_attempt(struct table *table, unsigned attempt)
{
    if (attempt > 1) {
        table_addf(table, TONE_PLAIN, "%u", attempt);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
}

/*
 * "ARTIFACTS/logs/RUN_node<N>.log": the log's path with a placeholder for the node's rank. The caller frees.
 */
static char *log_pattern(const struct run_node *node)
{
    AUTO_FREE char *tail = xasprintf("_node%u.log", node->rank);
    if (!node->log) {
        return NULL;
    }
    if (!text_ends(node->log, tail)) {
        return xstrdup(node->log);
    }
    return xasprintf("%.*s_node<N>.log", (int)(strlen(node->log) - strlen(tail)), node->log);
}

/* Append where the logs are: one line per path, with its hosts if not all share it. */
static void add_logs(const struct run *run, struct str *out)
{
    AUTO_STRLIST struct strlist patterns = STRLIST_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        AUTO_FREE char *pattern = log_pattern(&run->nodes[i]);
        if (pattern && !strlist_has(&patterns, pattern)) {
            strlist_add(&patterns, pattern);
        }
    }
    for (size_t p = 0; p < patterns.len; p++) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str folded = STR_INIT;
        for (size_t i = 0; i < run->nodes_len; i++) {
            AUTO_FREE char *pattern = log_pattern(&run->nodes[i]);
            if (pattern && strcmp(pattern, patterns.items[p]) == 0) {
                strlist_add(&hosts, run->nodes[i].label);
            }
        }
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        str_add(out, "logs: ");
        add_safe(out, patterns.items[p]);
        str_add(out, " on ");
        add_safe(out, str_text(&folded));
        str_add_char(out, '\n');
    }
}

static void add_heading(const struct run *run, const struct report_style *style, struct str *out)
{
    char buffer[CLOCK_TEXT_SIZE];
    add_safe(out, run->name);
    str_add(out, ": ");
    tone_add(out, run_state_name(run->state), run_tone(run->state), style->color);
    str_add(out, " (job ");
    add_safe(out, run->job ? run->job : "?");
    str_addf(out, ", attempt %u, id ", run->attempt);
    add_safe(out, run->id);
    str_add(out, ")\n");
    if (run->started_ms) {
        str_addf(out, "started: %s\n", clock_format_local(run->started_ms, buffer));
    }
    if (run->ended_ms) {
        str_addf(out, "ended: %s\n", clock_format_local(run->ended_ms, buffer));
    }
    if (run->reason) {
        AUTO_STR struct str reason = STR_INIT;
        run_add_reason(run, &reason);
        str_add(out, "reason: ");
        text_add_lines(out, str_text(&reason), reason.len);
        str_add_char(out, '\n');
    }
    if (run->cause.hint) {
        str_add(out, "hint: ");
        add_safe(out, run->cause.hint);
        str_add_char(out, '\n');
    }
}

/* "500/1000 (50 %), loss 2.345, 0.512 s/step, 62.5 samples/s, 32000 tokens/s, 3.2 TFLOP/s per GPU, 4m16s
 * left" */
void report_progress_text(const struct training_progress *progress, bool live, struct str *out)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (progress->iteration >= 0) {
        str_addf(out, "%lld", (long long)progress->iteration);
    }
    if (progress->iteration >= 0 && progress->total > 0) {
        str_addf(out, "/%lld (%lld %%)", (long long)progress->total,
                 (long long)(progress->iteration * 100 / progress->total));
    }
    if (progress->has_loss) {
        str_addf(out, ", loss %.4g", progress->loss);
    }
    if (progress->step_time_s >= 0) {
        str_addf(out, ", %.3g s/step", progress->step_time_s);
    }
    if (progress->samples_per_second >= 0) {
        str_addf(out, ", %.4g samples/s", progress->samples_per_second);
    }
    if (progress->tokens_per_second >= 0) {
        str_addf(out, ", %.0f tokens/s", progress->tokens_per_second);
    }
    if (progress->tflops_per_gpu >= 0) {
        str_addf(out, ", %.4g TFLOP/s per GPU", progress->tflops_per_gpu);
    }
    if (progress->checkpoint >= 0) {
        str_addf(out, ", checkpoint at %lld", (long long)progress->checkpoint);
    }
    if (progress->nan > 0) {
        str_addf(out, ", %lld iteration%s without a finite loss", (long long)progress->nan,
                 progress->nan == 1 ? "" : "s");
    }
    if (progress->skipped > 0) {
        str_addf(out, ", %lld skipped", (long long)progress->skipped);
    }
    if (live && progress->eta_s >= 0) {
        str_addf(out, ", %s left", clock_format_span((int64_t)progress->eta_s, buffer));
    }
}

static void add_progress(const struct run *run, const struct report_style *style, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;
    if (!run->progress.known) {
        return;
    }
    report_progress_text(&run->progress, run_state_is_live(run->state), &text);
    const char *shown = str_text(&text);
    if (text.len > 0) {
        str_add(out, "progress: ");
        text_add_wrapped(out, strncmp(shown, ", ", 2) == 0 ? shown + 2 : shown, PROGRESS_INDENT,
                         PROGRESS_INDENT, style->columns);
    }
    unsigned long world = (unsigned long)run->nodes_len * run->nproc_per_node;
    if (run->progress.world_size > 0 && world > 0 && (unsigned long)run->progress.world_size != world) {
        str_addf(out, "progress: the program reports %lld processes, the run has %lu\n",
                 (long long)run->progress.world_size, world);
    }
}

/* "loss: █▅▃▂▁▁ from 8.34 to 2.35 in 2h03m" */
static void add_trend(const struct report_trend *trend, const struct report_style *style, struct str *out)
{
    char span[CLOCK_TEXT_SIZE];
    AUTO_STR struct str numbers = STR_INIT;
    if (!trend || trend->len == 0) {
        return;
    }
    str_addf(&numbers, " from %.4g to %.4g%s in %s", trend->values[0], trend->values[trend->len - 1],
             trend->unit, clock_format_span(trend->span_s, span));
    const size_t taken = strlen(trend->what) + strlen(": ") + numbers.len;
    const size_t room = style->columns > taken + TREND_LEAST ? style->columns - taken : TREND_LEAST;
    str_addf(out, "%s: ", trend->what);
    spark_add(trend->values, trend->len, room < TREND_MOST ? room : TREND_MOST, out);
    str_addf(out, "%s\n", str_text(&numbers));
}

/* Append the node that failed first and how it ended, if the reason does not name the culprit. */
static void add_first_failure(const struct run *run, struct str *out)
{
    long first = run_first_failure(run);
    if (first < 0 || run->cause.hosts.len > 0) {
        return;
    }
    const struct run_node *node = &run->nodes[first];
    AUTO_FREE char *ended = report_exit_text(node);
    str_add(out, "failed first: ");
    add_safe(out, node->label);
    str_addf(out, " (node %u)", node->rank);
    if (ended || node->reason) {
        str_add(out, ": ");
        add_safe(out, ended ? ended : node->reason);
    }
    str_add_char(out, '\n');
}

static void add_survivors(const struct report_run *view, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "HOST", .names = true},       {.title = "NODE", .right = true},
        {.title = "PID", .right = true},        {.title = "STATE"},
        {.title = "COMMAND", .flexible = true},
    };
    struct table table;
    if (!view->survivors_len) {
        return;
    }
    str_add(out, "still there:\n");
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < view->survivors_len; i++) {
        const struct run_survivor *survivor = &view->survivors[i];
        table_add(&table, survivor->host, TONE_STRONG);
        table_addf(&table, TONE_PLAIN, "%zu", survivor->rank);
        table_addf(&table, TONE_PLAIN, "%lld", (long long)survivor->pid);
        table_add(&table, survivor->state, TONE_BAD);
        table_add(&table, survivor->command, TONE_PLAIN);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

static void add_left_over(const struct run *run, struct str *out)
{
    for (size_t i = 0; i < run->left_over_len; i++) {
        const struct run_left_over *item = &run->left_over[i];
        str_add(out, "left over: ");
        text_add_line(out, item->host, strlen(item->host));
        str_addf(out, ": %lld ", (long long)item->pid);
        text_add_line(out, item->command, strlen(item->command));
        str_addf(out, " (mtlaunch stop %s ends it)\n", run->name);
    }
}

void report_run_text(const struct report_run *view, const struct report_style *style, struct str *out)
{
    const struct run *run = view->run;
    add_heading(run, style, out);
    add_progress(run, style, out);
    add_trend(view->trend, style, out);
    if (run_state_is_live(run->state) && !view->supervisor_alive) {
        str_add(out, "supervisor: none; nothing acts on failures ('mtlaunch supervise' starts one)\n");
    }
    report_nodes_text(run, style, out);
    add_first_failure(run, out);
    add_logs(run, out);
    add_survivors(view, style, out);
    add_left_over(run, out);
}

static void add_step(struct table *table, const struct training_progress *progress)
{
    if (progress->iteration < 0) {
        table_add(table, NULL, TONE_PLAIN);
    } else if (progress->total < 0) {
        table_addf(table, TONE_PLAIN, "%lld", (long long)progress->iteration);
    } else {
        table_addf(table, TONE_PLAIN, "%lld/%lld", (long long)progress->iteration,
                   (long long)progress->total);
    }
}

void report_runs_text(const struct report_run *views, size_t count, const struct report_style *style,
                      struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "RUN", .names = true, .last = true},
        {.title = "STATE"},
        {.title = "JOB", .names = true},
        {.title = "NODES", .right = true},
        {.title = "ATTEMPT", .right = true, .hide_empty = true},
        {.title = "STARTED"},
        {.title = "TIME", .right = true},
        {.title = "STEP", .right = true, .hide_empty = true},
        {.title = "REASON", .own_line = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < count; i++) {
        const struct run *run = views[i].run;
        table_add(&table, run->name, TONE_STRONG);
        table_add(&table, run_state_name(run->state), run_tone(run->state));
        table_add(&table, run->job, TONE_PLAIN);
        table_addf(&table, TONE_PLAIN, "%zu", views[i].node_count);
        add_attempt(&table, run->attempt);
        add_local_time(&table, run->started_ms, style->now_ms);
        add_span(&table, run->started_ms, run->ended_ms, style->now_ms);
        add_step(&table, &run->progress);
        table_add(&table, run->reason, TONE_PLAIN);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}
