/*
 * Restarts a run: verifies that the old attempt has ended on every node, or replaces the node by a spare,
 * then begins the next attempt.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "respawn_internal.h"
#include "save_run_internal.h"
#include "spares_internal.h"
#include "start_internal.h"
#include "stop_internal.h"
#include "supervise_internal.h"

bool supervise_can_restart(const struct supervise_loop *loop)
{
    return run_respawn_has(loop->context->store, loop->run->name);
}

/* There will be no further attempt: finish the run with what is known. */
static int finish_without_restart(struct supervise_loop *loop, const char *why, struct error *err)
{
    struct run *run = loop->run;
    run->restarting = false;
    run->stopping = false;
    run_note_event(loop->context, run, "not-restarted", NULL, "%s", why);
    report_warn(loop->context, "run '%s' is not started again: %s", run->name, why);
    return run_save_state(loop->context, run, err);
}

/*
 * Replace a node that does not answer by a spare. false: there is none, or it cannot be saved for the
 * restart.
 */
static bool take_spare(struct supervise_loop *loop, size_t node)
{
    struct run *run = loop->run;
    struct error err = ERROR_INIT;
    struct host host = {0};
    int taken = run_take_spare(loop->context, run, node, "does not answer", true, &host, &err);
    if (taken < 0) {
        report_warn(loop->context, "%s", err.text);
    }
    if (taken != 1) {
        return false;
    }
    host_release(&host);
    pending_cleanup_add(run, node);
    run->nodes[node].written_off = true;
    return true;
}

/* Add an event with the reason: its first line, without the log's last lines that may follow. */
static void note_restart(struct supervise_loop *loop, const char *event, const char *reason, const char *what)
{
    const char *why = reason ? reason : "unknown";
    size_t len = strcspn(why, "\n");
    len -= why[len] == '\n' && len > 0 && why[len - 1] == ':';
    run_note_event(loop->context, loop->run, event, NULL, "%s, after: %.*s", what, (int)len, why);
}

/* Record the outcome of the attempt in the list of attempts. */
static void finish_attempt(struct run *run)
{
    struct run_attempt *attempt = run_current_attempt(run);
    attempt->state = run_first_failure(run) >= 0 ? RUN_FAILED : RUN_STOPPED;
    attempt->ended_ms = clock_real_ms();
    free(attempt->reason);
    attempt->reason = xstrdup(run->reason);
}

static int wait_longer(struct supervise_loop *loop, const char *label, const char *why)
{
    loop->retry_ms = clock_mono_ms() + policy_retry_ms(++loop->tries, UINT32_MAX / 2);
    if (loop->tries == 1) {
        report_warn(loop->context, "%s %s: the restart waits until that is over", label, why);
    }
    return run_save_record(loop->context, loop->run, NULL);
}

/* Every node was asked to end the old attempt: decide whether the next one may start. */
static int conclude_end(struct supervise_loop *loop, const struct run_stop_result *result, const bool *silent,
                        struct error *err)
{
    struct run *run = loop->run;
    if (result->survivors_len > 0) {
        return wait_longer(loop, result->survivors[0].host,
                           "has processes of the old attempt that can't be ended");
    }
    supervise_explain(loop);
    if (loop->no_restart) {
        return finish_without_restart(loop, "its log contains a text that restart.no_restart_on names", err);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (silent[i] && !run->nodes[i].written_off && !take_spare(loop, i)) {
            return wait_longer(loop, run->nodes[i].label, "does not answer and no spare is left");
        }
    }
    finish_attempt(run);
    int64_t pause = policy_backoff_ms(&run->policy, run->restarts + 1);
    loop->tries = 0;
    loop->restart_ms = clock_mono_ms() + pause;
    AUTO_FREE char *what = xasprintf("restart %u of %u in %lld s", run->restarts + 1, run->policy.restart_max,
                                     (long long)pause / 1000);
    note_restart(loop, "backoff", run->reason, what);
    return run_save_record(loop->context, run, err);
}

/* Whether to wait for a node that did not answer and has no spare: its watch reports when it is back. */
static bool waits_for_node(const struct supervise_loop *loop)
{
    const struct run *run = loop->run;
    const int64_t *silent = watchers_silent_since(loop->watchers);
    for (size_t i = 0; i < run->nodes_len && loop->tries > 0 && run->policy.spares.len == 0; i++) {
        if (silent[i] != 0 && run->nodes[i].state == NODE_LOST && !run->nodes[i].written_off) {
            return true;
        }
    }
    return clock_mono_ms() < loop->retry_ms;
}

static int end_attempt(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    struct run_stop_result result = {0};
    size_t unproven = 0;
    AUTO_FREE bool *silent = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE bool *nodes = xcalloc(run->nodes_len, sizeof(bool));
    for (size_t i = 0; i < run->nodes_len; i++) {
        nodes[i] = !run->nodes[i].written_off;
    }
    const struct stop_nodes_request request = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .repeated = true,
        .quiet = true,
        .nodes = nodes,
    };
    if (waits_for_node(loop)) {
        return 0;
    }
    int code = run_stop_nodes(&loop->set, run, &request, &result, &unproven, silent);
    if (code != 0) {
        run_save_record(loop->context, run,
                        NULL); /* save what is known so far; the error to report is still the interruption */
        code = node_set_interrupted_error(&loop->set, err);
    } else {
        code = conclude_end(loop, &result, silent, err);
    }
    run_stop_result_release(&result);
    return code;
}

/* Start the next attempt. The node set is closed, because that attempt may have other nodes. */
static int start_next(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    struct run_respawn respawn = {0};
    const struct run_start_sync sync = {0}; /* no observer */
    int result = run_respawn_load(loop->context, run->name, &respawn, err);
    if (result == 0) {
        struct run_context context = *loop->context;
        context.environ_ = (const char *const *)(const void *)respawn.environ_;
        const struct run_start_request request = {
            .run = run->name,
            .job = &respawn.job,
            .hosts = &respawn.reached.list,
            .host_facts = respawn.reached.facts,
            .endpoints = respawn.reached.endpoints,
            .sync = json_is_true(json_object_get(respawn.object, "sync")) ? &sync : NULL,
            .no_check = json_is_true(json_object_get(respawn.object, "no_check")),
            .is_restart = true,
        };
        result = run_restart(&context, &request, run, err);
        loop->context->steps = context.steps;
    }
    run_respawn_release(&respawn);
    return result;
}

static int begin_next(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    struct error why = ERROR_INIT;
    const unsigned restarts = run->restarts;
    loop->restart_ms = 0;
    AUTO_FREE char *name = xstrdup(run->name);
    supervise_close(loop);
    if (start_next(loop, &why) == 0) {
        AUTO_FREE char *what =
            xasprintf("attempt %u (restart %u of %u)", run->attempt, run->restarts, run->policy.restart_max);
        const size_t attempts = run->attempts_len;
        note_restart(loop, "restarted", attempts > 1 ? run->attempts[attempts - 2].reason : NULL, what);
        report_info(loop->context, "run '%s' was started again: attempt %u (restart %u of %u)", name,
                    run->attempt, run->restarts, run->policy.restart_max);
        return 0;
    }
    if (error_is_interruption(&why)) {
        *err = why;
        return -1;
    }
    report_warn(loop->context, "restart %u of %u failed: %s", run->restarts, run->policy.restart_max,
                why.text);
    if (run->restarts == restarts) {
        return finish_without_restart(loop, why.text,
                                      err); /* no attempt was made, so another try would fail too */
    }
    if (why.kind == &kind_run_live && run->restarts > 0) {
        run->restarts--; /* an interrupted start has succeeded after all: end it, then start again */
    } else if (run->restarts >= run->policy.restart_max) {
        return finish_without_restart(loop, "restart.max attempts were made", err);
    }
    run->stopping = run->restarting = true;
    return run_save_record(loop->context, run, err);
}

int supervise_restart(struct supervise_loop *loop, const char *why, struct error *err)
{
    struct run *run = loop->run;
    if (!run->restarting || !run->stopping) {
        run->stopping = true;
        run->restarting = true;
        run->state = RUN_STOPPING;
        loop->tries = 0;
        loop->retry_ms = loop->restart_ms = 0;
        if (run_save_record(loop->context, run, err) != 0) {
            return -1;
        }
        run_note_event(loop->context, run, "restarting", NULL, "%s", why ? why : "carried on");
        report_warn(loop->context, "%s; ending the attempt to start again", why ? why : "carried on");
    }
    if (loop->restart_ms == 0) {
        return end_attempt(loop, err);
    }
    return clock_mono_ms() < loop->restart_ms ? 0 : begin_next(loop, err);
}
