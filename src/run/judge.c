/* Derives the state of a node from its answers, and the outcome of a run from its nodes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check.h"
#include "judge_internal.h"
#include "model/kind.h"

#define OUTPUT_TAIL_MAX 600 /* bytes of a log's end that go into an error's text */

void judge_set_reason(struct run_node *node, const char *format, ...)
{
    free(node->reason);
    node->reason = NULL;
    if (format) {
        va_list args;
        va_start(args, format);
        node->reason = xvasprintf(format, args);
        va_end(args);
    }
}

static void set_signal(struct run_node *node, const char *signal)
{
    free(node->signal);
    node->signal = xstrdup(signal);
}

/* Describe an exit status: "exit status 3", "killed by SIGKILL: …". */
static void set_exit_reason(struct run_node *node)
{
    if (node->exit_status == 0) {
        judge_set_reason(node, NULL);
    } else if (node->signal && strcmp(node->signal, "KILL") == 0) {
        judge_set_reason(node, "killed by SIGKILL: by hand, or the machine ran out of memory (see dmesg)");
    } else if (node->signal && strcmp(node->signal, "BUS") == 0) {
        judge_set_reason(node, "killed by SIGBUS: often /dev/shm is full");
    } else if (node->signal) {
        judge_set_reason(node, "killed by SIG%s", node->signal);
    } else {
        judge_set_reason(node, "exit status %d", node->exit_status);
    }
}

/* The job's command has ended, and its status was recorded. */
static void judge_exit(struct run_node *node, int status, const char *signal, int64_t ended_s,
                       int64_t ended_uptime_ms)
{
    node->exit_status = status;
    set_signal(node, signal);
    node->ended_ms = ended_s * 1000;
    node->ended_uptime_ms = ended_uptime_ms;
    if (node->signalled) {
        node->state = NODE_STOPPED;
        judge_set_reason(node, NULL);
    } else {
        node->state = status == 0 ? NODE_EXITED : NODE_FAILED;
        set_exit_reason(node);
    }
}

static void judge_gone(struct run_node *node, const struct node_observation *seen)
{
    if (node->ended_ms == 0) {
        node->ended_ms = seen->now_s * 1000;
    }
    if (node->signalled) {
        node->state = NODE_STOPPED;
        judge_set_reason(node, NULL);
        return;
    }
    node->state = NODE_FAILED;
    if (seen->container_lost) {
        judge_set_reason(node, "%s", seen->container_lost);
    } else if (seen->rebooted) {
        judge_set_reason(node, "gone: the machine was restarted");
    } else if (seen->pid_reused) {
        judge_set_reason(node, "gone without an exit status; its pid belongs to another process now");
    } else {
        judge_set_reason(node, "gone without an exit status: killed together with its keeper");
    }
}

/* The reason when the run's .state file is gone. other: the run_id that is there now, or NULL. */
static void set_record_reason(struct run_node *node, const char *prefix, const char *other)
{
    if (!other) {
        judge_set_reason(node, "%sits state file was removed", prefix);
    } else {
        judge_set_reason(node, "%sits state file was replaced by that of run id '%s'", prefix, other);
    }
}

static void judge_none(struct run_node *node, const char *other)
{
    if (!node_state_may_run(node->state)) {
        return;
    }
    if (node->started_ms == 0) {
        node->state = NODE_PENDING;
        judge_set_reason(node, NULL);
    } else {
        node->state = NODE_FAILED;
        set_record_reason(node, "gone: ", other);
    }
}

/* Seconds since the last output, by the node's clock; the log may have grown while the node answered. */
static int64_t silence_of(const struct node_observation *seen)
{
    if (seen->log_size == 0 || seen->log_s == 0 || seen->now_s == 0) {
        return -1;
    }
    return seen->now_s > seen->log_s ? seen->now_s - seen->log_s : 0;
}

void judge_observation(struct run_node *node, const struct node_observation *seen, const char *run_id,
                       unsigned attempt)
{
    bool other_run = seen->found_run_id && strcmp(seen->found_run_id, run_id) != 0;
    const char *other = other_run ? seen->found_run_id : NULL;
    if (seen->life == NODE_LIFE_UNRECORDED) {
        node->state = NODE_RUNNING;
        set_record_reason(node, "", other);
        return;
    }
    if (seen->life == NODE_LIFE_NONE || other_run || seen->found_attempt != attempt) {
        judge_none(node, other);
        return;
    }
    node->written_off = false;
    if (seen->pid > 0) {
        node->pid = seen->pid;
    }
    node->last_output_ms = seen->log_size > 0 ? seen->log_s * 1000 : 0;
    node->silent_s = silence_of(seen);
    if (seen->started_s > 0) {
        node->started_ms = seen->started_s * 1000;
    }
    switch (seen->life) {
    case NODE_LIFE_NONE:
    case NODE_LIFE_UNRECORDED:
        break;
    case NODE_LIFE_STARTING:
        node->state = NODE_RUNNING;
        judge_set_reason(node, "in its setup lines");
        break;
    case NODE_LIFE_RUNNING:
        node->state = NODE_RUNNING;
        if (seen->ending) {
            judge_set_reason(node, "its command has ended; its exit status could not be written yet: %s",
                             seen->ending);
        } else {
            judge_set_reason(node,
                             seen->keeper_alive ? NULL : "its keeper is gone: the exit status will be lost");
        }
        break;
    case NODE_LIFE_EXITED:
        judge_exit(node, seen->status, seen->signal, seen->ended_s, seen->ended_uptime_ms);
        if (seen->never_ran && !node->signalled) {
            node->state = NODE_FAILED;
            judge_set_reason(node, "setup line %u ended with status %d", seen->setup_line, seen->status);
        }
        break;
    case NODE_LIFE_GONE:
        judge_gone(node, seen);
        break;
    case NODE_LIFE_ELSEWHERE:
        node->state = NODE_LOST;
        judge_set_reason(node, "its files were written by another host on a shared folder");
        break;
    }
}

static void add_gpu(struct run_node *node, const struct node_gpu *gpu)
{
    node->gpus[node->gpus_len + node->gpus_others] = (struct run_gpu){
        .index = gpu->index,
        .utilization = gpu->utilization,
        .memory_used = gpu->memory_used,
        .memory_total = gpu->memory_total,
    };
    *(gpu->own ? &node->gpus_len : &node->gpus_others) += 1;
}

void judge_own_gpus(const struct run_node *node, struct node_observation *seen)
{
    if (!seen->own_gpus) {
        node_gpus_set_own(&seen->gpus, node->host.gpus);
    }
}

void judge_gpus(struct run_node *node, const struct node_gpus *gpus)
{
    free(node->gpus);
    node->gpus = NULL;
    node->gpus_len = node->gpus_others = 0;
    node->gpus_known = gpus->known;
    if (gpus->len > 0) {
        node->gpus = xcalloc(gpus->len, sizeof(*node->gpus));
    }
    for (int own = 1; own >= 0; own--) {
        for (size_t i = 0; i < gpus->len; i++) {
            if (gpus->items[i].own == (own == 1)) {
                add_gpu(node, &gpus->items[i]);
            }
        }
    }
}

void judge_note_stop(const struct run *run, struct run_node *node)
{
    if (run->stopping && !node->stop_missed && node_state_may_run(node->state)) {
        node->signalled = true;
    }
}

void judge_silence(struct run_node *node, const struct error *why)
{
    node->state = NODE_LOST;
    judge_set_reason(node, "%s", why->text);
}

/* --- start -------------------------------------------------------------------------------------- */

/* The end of a log, as an indented paragraph below an error's text. */
static void add_output(struct error *err, const char *output)
{
    if (!output || output[0] == '\0') {
        return;
    }
    size_t len = strlen(output);
    const char *from = len > OUTPUT_TAIL_MAX ? output + len - OUTPUT_TAIL_MAX : output;
    AUTO_STR struct str text = STR_INIT;
    text_add_safe(&text, from, strlen(from));
    while (text.len > 0 && text.data[text.len - 1] == '\n') {
        str_truncate(&text, text.len - 1);
    }
    AUTO_STR struct str indented = STR_INIT;
    for (const char *at = str_text(&text); *at != '\0'; at++) {
        str_add_char(&indented, *at);
        if (*at == '\n') {
            str_add(&indented, "    ");
        }
    }
    AUTO_FREE char *head = xstrdup(err->text);
    AUTO_FREE char *hint = xstrdup(err->hint);
    error_set(err, err->kind, "%s:\n    %s", head, str_text(&indented));
    if (hint[0] != '\0') {
        error_hint(err, "%s", hint);
    }
}

static int start_refused(const struct node_start *start, const char *run, struct error *err)
{
    const struct node_foreign *foreign = &start->foreign;
    if (start->stage == NODE_START_LIVE) {
        error_set(err, &kind_run_live, "processes of an earlier attempt of '%s' are still running there",
                  run);
        return error_hint(err, "`mtlaunch stop %s` ends them", run);
    }
    if (start->stage == NODE_START_PORT) {
        error_set(err, &kind_port_taken, "another run there has just taken the master port");
        return error_hint(err, "start again, or choose another with --master-port");
    }
    const struct check_foreign found = {
        .run_id = foreign->run_id,
        .host = foreign->host,
        .user = foreign->user,
        .head = foreign->head,
        .pid = foreign->pid,
        .lives = foreign->lives,
    };
    return check_foreign_error(&found, run, err);
}

static int start_ended(struct run_node *node, const struct node_start *start, struct error *err)
{
    node->exit_status = start->status;
    set_signal(node, start->signal);
    node->state = NODE_FAILED;
    switch (start->stage) {
    case NODE_START_SETUP:
        if (start->setup_line == 0) {
            judge_set_reason(node, "its working folder can't be entered");
        } else {
            judge_set_reason(node, "setup line %u%s%s%s ended with status %d", start->setup_line,
                             start->setup_text ? " (" : "", start->setup_text ? start->setup_text : "",
                             start->setup_text ? ")" : "", start->status);
        }
        error_set(err, &kind_setup_failed, "%s", node->reason);
        break;
    case NODE_START_EXEC:
        judge_set_reason(node, "the command can't be executed (status %d)", start->status);
        error_set(err, &kind_start_failed, "%s", node->reason);
        break;
    case NODE_START_TIMEOUT:
        judge_set_reason(node, "it did not start within start_timeout");
        error_set(err, &kind_time_limit, "%s", node->reason);
        error_hint(err, "raise start_timeout in the spec, or look at what its setup lines wait for");
        break;
    case NODE_START_CLAIM:
        judge_set_reason(node, "its files can't be written: %s", start->problem ? start->problem : "?");
        error_set(err, &kind_artifacts_unwritable, "%s", node->reason);
        break;
    case NODE_START_STARTED:
    case NODE_START_FOREIGN:
    case NODE_START_LIVE:
    case NODE_START_PORT:
    case NODE_START_COMMAND:
        set_exit_reason(node);
        error_set(err, &kind_start_failed, "the command ended at once: %s",
                  node->reason ? node->reason : "no status");
        break;
    }
    add_output(err, start->output);
    return -1;
}

int judge_start(struct run_node *node, const struct node_start *start, const char *run, struct error *err)
{
    if (start->stage == NODE_START_FOREIGN || start->stage == NODE_START_LIVE ||
        start->stage == NODE_START_PORT) {
        start_refused(start, run, err);
        judge_set_reason(node, "%s", err->text);
        return -1;
    }
    if (start->pid > 0) {
        node->pid = start->pid;
    }
    if (start->started_s > 0) {
        node->started_ms = start->started_s * 1000;
    }
    if (start->log) {
        free(node->log);
        node->log = xstrdup(start->log);
    }
    if (start->stage != NODE_START_STARTED) {
        return start_ended(node, start, err);
    }
    node->state = start->ended ? NODE_EXITED : NODE_RUNNING;
    node->exit_status = start->ended ? 0 : -1;
    judge_set_reason(node, NULL);
    return 0;
}

/* --- stop --------------------------------------------------------------------------------------- */

void judge_stop(struct run_node *node, const struct node_stop *stop, bool repeated)
{
    bool may_run = node_state_may_run(node->state);
    node->written_off = false;
    if (stop->was_alive || (repeated && may_run)) {
        node->signalled = true;
    }
    if (stop->status >= 0) {
        judge_exit(node, stop->status, stop->signal, stop->ended_s, stop->ended_uptime_ms);
    } else if (node->signalled) {
        node->state = NODE_STOPPED;
        judge_set_reason(node, NULL);
    } else if (node->started_ms == 0 && node->state != NODE_FAILED) {
        node->state = NODE_PENDING;
    } else if (node_state_may_run(node->state)) {
        node->state = NODE_FAILED;
        judge_set_reason(node, "%s",
                         stop->container_lost ? stop->container_lost : "gone without an exit status");
    }
    if (stop->survivors.total > 0) {
        judge_set_reason(node, "%llu process%s could not be ended", (unsigned long long)stop->survivors.total,
                         stop->survivors.total == 1 ? "" : "es");
    }
}

/* --- the run ------------------------------------------------------------------------------------ */

static int64_t last_end(const struct run *run)
{
    int64_t last = 0;
    for (size_t i = 0; i < run->nodes_len; i++) {
        last = run->nodes[i].ended_ms > last ? run->nodes[i].ended_ms : last;
    }
    return last;
}

static void judge_outcome(struct run *run, int64_t now_ms)
{
    long first = run_first_failure(run);
    if (run->ended_ms == 0) {
        int64_t last = last_end(run);
        run->ended_ms = last > run->started_ms && last < now_ms ? last : now_ms;
    }
    if (run->state == RUN_FINISHED) {
        run->exit_status = 0;
    } else if (run->state == RUN_FAILED && first >= 0) {
        const struct run_node *node = &run->nodes[first];
        run->exit_status = node->exit_status > 0 ? node->exit_status : -1;
        if (!run->reason) {
            run_set_reason(run, xasprintf("%s (node %u): %s", node->label, node->rank,
                                          node->reason ? node->reason : "failed"));
        }
    } else {
        run->exit_status = -1;
    }
    struct run_attempt *attempt = run_current_attempt(run);
    if (attempt) {
        attempt->ended_ms = run->ended_ms;
        free(attempt->reason);
        attempt->reason = xstrdup(run->reason);
    }
}

enum run_state judge_run(struct run *run, int64_t now_ms)
{
    struct run_attempt *attempt = run_current_attempt(run);
    run->state = run_derive_state(run);
    if (attempt) {
        attempt->state = run->state;
    }
    if (!run_state_is_live(run->state)) {
        judge_outcome(run, now_ms);
    }
    return run->state;
}

int judge_failure(const struct run *run, struct error *err)
{
    AUTO_STR struct str reason = STR_INIT;
    run_add_reason(run, &reason);
    if (text_starts(str_text(&reason), "run '")) { /* the reason of a failed start already names the run */
        error_set(err, &kind_run_failed, "%s", str_text(&reason));
    } else {
        error_set(err, &kind_run_failed, "run '%s' failed: %s", run->name,
                  run->reason ? str_text(&reason) : "no reason is known");
    }
    return run->cause.hint ? error_hint(err, "%s", run->cause.hint) : -1;
}
