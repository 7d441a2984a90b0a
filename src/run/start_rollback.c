/* Rolls back a failed start: stops what was started, and records why. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "explain_internal.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "observer_internal.h"
#include "save_run_internal.h"
#include "stand_in_internal.h"
#include "start_internal.h"
#include "stop_internal.h"

static void say_what_may_run(const struct start *start)
{
    for (size_t i = 0; i < start->run->nodes_len; i++) {
        if (start->touched[i]) {
            report_warn(start->context, "%s: may still be running", start->run->nodes[i].label);
        }
    }
}

/*
 * End what was started; run->reason says why the start failed. If the rollback itself fails, err gets its
 * error, which takes precedence: not_proven, or an interruption. 0 when nothing is left anywhere.
 */
static int roll_back(struct start *start, struct error *err)
{
    struct run *run = start->run;
    struct run_stop_result result = {0};
    const struct stop_nodes_request request = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .repeated = true, /* a node whose answer did not arrive may have been running */
        .nodes = start->touched,
    };
    size_t unproven = 0;
    run->starting = false;
    run->stopping = true;
    run->state = RUN_STOPPING;
    run_save_record(start->context, run, NULL); /* the stop matters more than a full disk here */
    start->set.patience = start->set.signals;
    if (start->set.signals > 0) {
        run_leave_stand_in(start->context, run->name);
    }
    int code = run_stop_nodes(&start->set, run, &request, &result, &unproven, NULL);
    if (code != 0) {
        run_leave_stand_in(start->context, run->name);
        say_what_may_run(start);
        node_set_interrupted_error(&start->set, err);
        error_hint(
            err,
            "the stop continues without this command: `mtlaunch status %s` shows it, `mtlaunch stop %s` "
            "waits until it is verified",
            run->name, run->name);
    } else if (unproven > 0) {
        code = run_unproven_error(run, &result, unproven, err);
    } else {
        run->stopping = false;
        if (start->set.signals > 0) {
            run_report_stopped(start->context, run, start->touched);
        }
    }
    run_stop_result_release(&result);
    return code;
}

static bool anything_touched(const struct start *start)
{
    for (size_t i = 0; i < start->run->nodes_len; i++) {
        if (start->touched[i]) {
            return true;
        }
    }
    return false;
}

/* A node that could not start has failed, even if the rollback found it running and stopped it. */
static void keep_failures(const struct start *start)
{
    for (size_t i = 0; i < start->failures.len; i++) {
        const struct error *error = &start->failures.errors[i];
        struct run_node *node = &start->run->nodes[i];
        if (start->ends[i].reason) {
            node->state = NODE_FAILED;
            judge_set_reason(node, "%s", start->ends[i].reason);
        } else if (error->kind && !error_is_interruption(error) && node->state == NODE_STOPPED) {
            node->state = NODE_FAILED;
            judge_set_reason(node, "%s", error->text);
        }
    }
}

/* Whether nodes ended early and nothing worse happened: then the run has failed as a started run does. */
static bool is_run_failure(const struct start *start)
{
    bool any = false;
    for (size_t i = 0; i < start->failures.len; i++) {
        if (!start->ends[i].reason && start->failures.errors[i].kind) {
            return false;
        }
        any = any || start->ends[i].reason;
    }
    return any;
}

/* Find out why the run failed. err (may be NULL) gets the reason too. */
static void explain(struct start *start, struct error *err)
{
    struct run *run = start->run;
    struct explanation explanation;
    long first = run_first_failure(run);
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (start->ends[i].reason) {
            run_note_event(start->context, run, "node-failed", run->nodes[i].label, "%s",
                           start->ends[i].reason);
        }
    }
    if (first < 0) {
        return;
    }
    run_explain(&start->set, run, 0, NULL, NULL, &explanation);
    if (start->ends[first].setup) {
        run_set_end_reason(&start->set, run, (size_t)first, &explanation);
    } else {
        run_set_explained_reason(&start->set, run, &explanation);
    }
    explanation_release(&explanation);
    if (err) {
        judge_failure(run, err);
    }
}

int start_fail(struct start *start, struct error *err)
{
    struct run *run = start->run;
    struct error worse = ERROR_INIT;
    run_set_reason(run, xstrdup(err->text));
    run->starting = false;
    run->unstarted = !start->asked_to_start || !anything_touched(start);
    if (anything_touched(start) && roll_back(start, &worse) != 0) {
        *err = worse;
    }
    keep_failures(start);
    if (is_run_failure(start)) {
        explain(start, worse.kind ? NULL : err);
    }
    if (start->request->is_restart) {
        run->stopping = true; /* the calling restart decides what happens next */
        judge_run(run, clock_real_ms());
        run_save_record(start->context, run, NULL);
        return -1;
    }
    run_save_state(start->context, run,
                   NULL); /* the caller needs the error of the start, not that of saving the record */
    return -1;
}

int start_nodes_failed(struct start *start, const char *step, struct error *err)
{
    struct error worst = ERROR_INIT;
    if (is_run_failure(start)) {
        return error_set(err, &kind_run_failed, "run '%s' failed", start->run->name);
    }
    node_failures_report(&start->failures, start->context, &worst);
    if (start->failures.count == start->run->nodes_len && start->failures.count == 1) {
        *err = worst;
        return -1;
    }
    return error_set(err, worst.kind, "run '%s' was not started: %zu of %zu nodes failed %s",
                     start->run->name, start->failures.count, start->run->nodes_len, step);
}
