/* One pass of the supervise loop: takes the reports of the watches, lets the policy decide, and acts. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "explain_internal.h"
#include "inventory_internal.h"
#include "judge_internal.h"
#include "leftovers_internal.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observe_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "read_progress_internal.h"
#include "record_internal.h"
#include "save_run_internal.h"
#include "stop_internal.h"
#include "supervise_internal.h"

#define PROGRESS_MS 10000 /* between two checks of the training's progress */
#define OUTPUT_MS   60000 /* how old the times of output in the record may be */
/* torchrun notices the end of a worker within its monitor interval: 5 s before torch 2.3 */
#define HEAR_MS 6000
/* a node is behind the others when it lags by more than two heartbeats and this time */

/* --- the node set of the current attempt ------------------------------------------------------------ */

int supervise_open(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    if (node_set_open_run(&loop->set, loop->context, run, err) != 0 || node_set_hold(&loop->set, err) != 0) {
        node_set_close(&loop->set);
        return -1;
    }
    loop->set_open = true;
    if (loop->request->end_on_hangup) {
        node_set_catch_hangup(&loop->set);
    }
    loop->pings = cleanup_pings_open(&loop->set, run);
    loop->watchers = watchers_open(&loop->set, run, policy_beat_s(&run->policy));
    if (loop->request->with_logs) {
        const struct node_tail_options options = {.from = NODE_TAIL_ALL, .follow = true};
        AUTO_FREE bool *all = xcalloc(run->nodes_len, sizeof(bool));
        for (size_t i = 0; i < run->nodes_len; i++) {
            all[i] = true;
        }
        loop->tails = tails_open(&loop->set, run, all, &options, NULL);
    }
    loop->due = true;
    return 0;
}

void supervise_close(struct supervise_loop *loop)
{
    if (loop->set_open) {
        loop->hung_up = loop->hung_up || loop->set.hung_up;
        node_set_close(&loop->set);
    }
    loop->set_open = false;
    watchers_free(loop->watchers);
    loop->watchers = NULL;
    cleanup_pings_free(loop->pings);
    loop->pings = NULL;
    tails_free(loop->tails);
    loop->tails = NULL;
    free(loop->stall_cause);
    loop->stall_cause = NULL;
    loop->explained = loop->no_restart = loop->stalled = loop->heard = false;
    loop->hear_until_ms = 0;
}

/* --- reporting ---------------------------------------------------------------------------------- */

void supervise_explain(struct supervise_loop *loop)
{
    struct run *run = loop->run;
    struct explanation explanation;
    if (run_first_failure(run) < 0 || loop->explained || run_is_finished_by_rank0(run)) {
        return;
    }
    loop->explained = true;
    run_explain(&loop->set, run, 0, NULL, NULL, &explanation);
    run_set_explained_reason(&loop->set, run, &explanation);
    loop->no_restart = explanation.forbidden;
    explanation_release(&explanation);
}

/* "node3 exited with 1": what is known before the logs are searched. */
static char *failure_text(const struct run_node *node)
{
    if (node->signal) {
        return xasprintf("%s was killed by SIG%s", node->label, node->signal);
    }
    if (node->exit_status > 0) {
        return xasprintf("%s exited with %d", node->label, node->exit_status);
    }
    return xasprintf("%s failed: %s", node->label, node->reason ? node->reason : "nothing more is known");
}

/*
 * Whether to wait for other nodes: a node has failed, and its log shows only consequences of the failure of
 * another node. The node that fails first seldom exits first, so the others get some seconds to end by
 * themselves and log why.
 */
static bool waits_for_others(struct supervise_loop *loop, const struct policy_decision *decision)
{
    struct run *run = loop->run;
    struct explanation explanation;
    if (decision->cause != POLICY_CAUSE_FAILED || loop->heard) {
        return false;
    }
    if (loop->hear_until_ms == 0) {
        AUTO_FREE bool *failed = xcalloc(run->nodes_len, sizeof(bool));
        for (size_t i = 0; i < run->nodes_len; i++) {
            failed[i] = run->nodes[i].state == NODE_FAILED;
        }
        AUTO_FREE char *end = failure_text(&run->nodes[decision->node]);
        report_warn(loop->context, "%s, looking for the cause", end);
        run_set_reason(run, xasprintf("%s, looking for the cause", end));
        loop->hear_until_ms = clock_mono_ms() + HEAR_MS;
        run_explain(&loop->set, run, 0, failed, NULL, &explanation);
        loop->heard = !explanation_is_open(&explanation);
        explanation_release(&explanation);
    }
    loop->heard = loop->heard || clock_mono_ms() >= loop->hear_until_ms;
    return !loop->heard;
}

/* Has a log that shows the progress grown since it was read? */
static bool is_progress_due(const struct supervise_loop *loop)
{
    const int64_t *grown = watchers_grown(loop->watchers);
    bool news = grown[0] > loop->progress_read_ms || grown[loop->run->nodes_len - 1] > loop->progress_read_ms;
    return news && clock_mono_ms() >= loop->progress_ms;
}

/* Read the training's progress from time to time, while logs grow. */
static void refresh_progress(struct supervise_loop *loop, bool now)
{
    if (now || is_progress_due(loop)) {
        loop->progress_read_ms = fleet_now_ms(loop->set.fleet);
        run_read_progress(&loop->set, loop->run);
        run_take_inventory(&loop->set, loop->run, now);
        loop->progress_ms = clock_mono_ms() + PROGRESS_MS;
        run_samples_note_training(&loop->samples, loop->context->store, loop->run);
    }
}

/* The nodes have ended: find out from their logs why. */
static void explain(void *ctx)
{
    refresh_progress(ctx, true);
    supervise_explain(ctx);
}

/* Apply the news of the watches, with an event for each node whose state changed. */
static void take_news(struct supervise_loop *loop)
{
    struct run *run = loop->run;
    AUTO_FREE enum node_state *before = xcalloc(run->nodes_len, sizeof(*before));
    for (size_t i = 0; i < run->nodes_len; i++) {
        before[i] = run->nodes[i].state;
    }
    watchers_apply(loop->watchers, run);
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct run_node *node = &run->nodes[i];
        const char *reason = node->reason ? node->reason : "";
        if (node->state == before[i]) {
            continue;
        }
        if (node->state == NODE_LOST) {
            run_note_event(loop->context, run, "unreachable", node->label, "%s", reason);
            report_warn(loop->context, "%s does not answer: %s", node->label, reason);
        } else if (before[i] == NODE_LOST) {
            run_note_event(loop->context, run, "answers", node->label, "it is %s",
                           node_state_name(node->state));
            report_info(loop->context, "%s answers again: it is %s", node->label,
                        node_state_name(node->state));
        }
        if (node->state == NODE_FAILED) {
            run_note_event(loop->context, run, "node-failed", node->label, "%s", reason);
        }
    }
}

static void check_alone(struct supervise_loop *loop)
{
    const struct run *run = loop->run;
    bool alone = policy_all_silent(run, watchers_silent_since(loop->watchers));
    if (alone && !loop->reported_alone) {
        const char *head = run->head_host ? run->head_host : "this machine";
        run_note_event(loop->context, run, "alone", NULL,
                       "none of %zu nodes answers: the network of the head '%s' itself may be down",
                       run->nodes_len, head);
        report_warn(loop->context,
                    "none of %zu nodes answers: the network of the head '%s' itself may be down; the run is "
                    "left alone",
                    run->nodes_len, head);
    }
    if (!alone && loop->reported_alone) {
        watchers_begin_anew(loop->watchers);
    }
    loop->reported_alone = alone;
}

/* --- acting ------------------------------------------------------------------------------------- */

/* Stop the run while its lock is held. */
static int stop_now(struct supervise_loop *loop, const char *why, struct error *err)
{
    struct run *run = loop->run;
    struct run_stop_result result = {0};
    const struct stop_nodes_request request = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .conclude = explain,
        .ctx = loop,
    };
    int code = run_stop_locked(&loop->set, run, request, false, why, &result, err);
    run_stop_result_release(&result);
    return code;
}

static int reload(struct supervise_loop *loop, struct error *err)
{
    struct run fresh;
    if (run_store_load(loop->context->store, loop->run->name, &fresh, err) != 0) {
        return -1;
    }
    if (fresh.revision == loop->run->revision) {
        run_release(&fresh);
    } else {
        run_release(loop->run);
        *loop->run = fresh;
    }
    return 0;
}

int supervise_stop(struct supervise_loop *loop, const char *why, unsigned long limit_s, struct error *err)
{
    struct run *run = loop->run;
    const unsigned attempt = run->attempt;
    AUTO_CLOSE int lock = run_lock(loop->context, run->name, true, err);
    if (lock < 0 || reload(loop, err) != 0) {
        return -1;
    }
    if (run->attempt != attempt || !run_state_is_live(run->state)) {
        return 0;
    }
    if (!run->reason) {
        run_set_reason(run, xstrdup(why));
    }
    if (limit_s > 0) {
        run->timed_out = true;
        run->timed_out_after_s = limit_s;
        run_note_event(loop->context, run, "time-limit", NULL, "%s", why);
    }
    return stop_now(loop, why, err);
}

/*
 * A stop was begun but could not be verified: continue it. For a node that does not answer, wait until its
 * watch reports it; ask the others again with growing pauses.
 */
static int carry_on_stop(struct supervise_loop *loop, struct error *err)
{
    const struct run *run = loop->run;
    const int64_t *silent = watchers_silent_since(loop->watchers);
    struct error one = ERROR_INIT;
    if (!loop->stays) {
        error_set(err, &kind_not_proven,
                  "the last stop of run '%s' could not verify that everything has stopped", run->name);
        return error_hint(err, "repeat `mtlaunch stop %s`, which is safe", run->name);
    }
    for (size_t i = 0; i < run->nodes_len && loop->tries > 0; i++) {
        if (silent[i] != 0 && run->nodes[i].state == NODE_LOST) {
            return 0;
        }
    }
    if (clock_mono_ms() < loop->retry_ms) {
        return 0;
    }
    if (stop_now(loop, "the stop continues", &one) == 0) {
        loop->tries = 0;
        return 0;
    }
    loop->retry_ms = clock_mono_ms() + policy_retry_ms(++loop->tries, UINT32_MAX / 2);
    if (loop->tries == 1) {
        report_warn(loop->context, "%s", one.text);
    }
    return node_set_is_interrupted(&loop->set) ? node_set_interrupted_error(&loop->set, err) : 0;
}

/* The reason of a decision, as text. */
static char *decision_reason(const struct supervise_loop *loop, const struct policy_decision *decision)
{
    const struct run *run = loop->run;
    if (decision->cause == POLICY_CAUSE_STALLED) {
        return xasprintf("no log has grown for %lu s%s%s", run->policy.stall_s, loop->stall_cause ? ": " : "",
                         loop->stall_cause ? loop->stall_cause : "");
    }
    const struct run_node *node = &run->nodes[decision->node];
    if (decision->cause == POLICY_CAUSE_FINISHED) {
        return xasprintf("%s (node 0) has ended with 0 (finish_on: rank0)", node->label);
    }
    if (decision->cause == POLICY_CAUSE_LOST) {
        return xasprintf("%s (node %u) has not answered for %lu s: %s", node->label, node->rank,
                         run->policy.lost_after_s, node->reason ? node->reason : "?");
    }
    return failure_text(node);
}

static struct policy_decision decide(const struct supervise_loop *loop)
{
    const struct policy_view view = {
        .now_ms = fleet_now_ms(loop->set.fleet),
        .silent_since_ms = watchers_silent_since(loop->watchers),
        .stalled = loop->stalled,
        .no_restart = loop->no_restart,
    };
    struct policy_decision decision = policy_decide(loop->run, &view);
    if (decision.step == POLICY_STEP_RESTART && !supervise_can_restart(loop)) {
        decision.step = POLICY_STEP_STOP;
    }
    return decision;
}

/* If a stop could not be verified, the supervisor keeps trying. */
static int tolerate_unproven(struct supervise_loop *loop, int code, struct error *err)
{
    if (code != 0 && loop->stays && !node_set_is_interrupted(&loop->set)) {
        loop->tries = 1;
        loop->retry_ms = clock_mono_ms() + policy_retry_ms(1, UINT32_MAX / 2);
        report_warn(loop->context, "%s", err->text);
        return 0;
    }
    return code;
}

static int act(struct supervise_loop *loop, const struct policy_decision *decision, struct error *err)
{
    struct run *run = loop->run;
    AUTO_FREE char *why = decision_reason(loop, decision);
    run_set_reason(run, xstrdup(why));
    if (decision->cause == POLICY_CAUSE_LOST) {
        run_note_event(loop->context, run, "lost", run->nodes[decision->node].label, "%s", why);
    }
    if (decision->step == POLICY_STEP_RESTART) {
        return supervise_restart(loop, why, err);
    }
    if (decision->cause == POLICY_CAUSE_FINISHED) {
        report_info(loop->context, "%s; stopping the other nodes", why);
    } else {
        report_warn(loop->context, "%s; stopping the run", why);
    }
    return tolerate_unproven(loop, stop_now(loop, why, err), err);
}

int supervise_stop_at_limit(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    const unsigned attempt = run->attempt;
    AUTO_CLOSE int lock = run_lock(loop->context, run->name, true, err);
    if (lock < 0 || reload(loop, err) != 0) {
        return -1;
    }
    if (run->attempt != attempt || !run_state_is_live(run->state) || (run->stopping && !run->restarting)) {
        loop->due = true;
        return 0;
    }
    AUTO_FREE char *why = xasprintf("its time limit of %lu s has passed", run->policy.time_limit_s);
    run->timed_out = true;
    run->timed_out_after_s = run->policy.time_limit_s;
    run_set_reason(run, xstrdup(why));
    run_note_event(loop->context, run, "time-limit", NULL, "%s", why);
    report_warn(loop->context, "run '%s': %s; stopping the run", run->name, why);
    return tolerate_unproven(loop, stop_now(loop, why, err), err);
}

/* Save the record if it has changed. */
static int keep_if_changed(struct supervise_loop *loop, struct error *err)
{
    enum run_state before = loop->run->state;
    enum run_state now = judge_run(loop->run, clock_real_ms());
    AUTO_FREE char *text = run_record_write(loop->run);
    if (loop->kept && text && before == now && strcmp(loop->kept, text) == 0) {
        return 0;
    }
    if (run_save_state(loop->context, loop->run, err) != 0) {
        return -1;
    }
    free(loop->kept);
    loop->kept = run_record_write(loop->run);
    return 0;
}

/* A node of an earlier attempt is back: end what is left of that attempt there. */
static int try_cleanups(struct supervise_loop *loop, struct error *err)
{
    struct run_stop_result result = {0};
    int code = pending_cleanup_try_locked(loop->context, loop->run, &result, err);
    run_stop_result_release(&result);
    cleanup_pings_resume(loop->pings);
    loop->due = true;
    return code;
}

static int follow_up(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    run_note_dead_start(loop->context, run);
    loop->followed_ms = fleet_now_ms(loop->set.fleet);
    take_news(loop);
    if (run->restarting) {
        return supervise_restart(loop, NULL, err);
    }
    if (run->stopping) {
        return carry_on_stop(loop, err);
    }
    check_alone(loop);
    supervise_check_stall(loop);
    struct policy_decision decision = decide(loop);
    if (decision.step != POLICY_STEP_NONE && !waits_for_others(loop, &decision)) {
        return act(loop, &decision, err);
    }
    refresh_progress(loop, !run_has_open_node(run));
    run_samples_note_gpus(&loop->samples, loop->context->store, run, loop->watchers);
    if (!run_has_open_node(run)) {
        supervise_explain(loop);
        bool failed = run_first_failure(run) >= 0 && run->policy.on_failure != POLICY_KEEP;
        run_report_leftovers(&loop->set, run, failed);
    }
    return keep_if_changed(loop, err);
}

/* Has any log grown since the record was brought up to date, long ago? */
static bool is_output_due(const struct supervise_loop *loop)
{
    const int64_t *grown = watchers_grown(loop->watchers);
    bool old = fleet_now_ms(loop->set.fleet) >= loop->followed_ms + OUTPUT_MS;
    for (size_t i = 0; old && i < loop->run->nodes_len; i++) {
        if (grown[i] > loop->followed_ms) {
            return true;
        }
    }
    return false;
}

/* Whether there is anything to do that needs the lock. */
static bool is_due(struct supervise_loop *loop)
{
    int64_t stamp = run_store_stamp(loop->context->store, loop->run->name);
    if (loop->due || cleanup_pings_answered(loop->pings) || stamp != loop->record_stamp ||
        watchers_have_news(loop->watchers)) {
        return true;
    }
    if (loop->run->restarting || loop->run->stopping) {
        int64_t when = loop->run->restarting ? loop->restart_ms : loop->retry_ms;
        return clock_mono_ms() >= when;
    }
    bool alone = policy_all_silent(loop->run, watchers_silent_since(loop->watchers));
    bool stalled =
        policy_is_stalled(loop->run, watchers_grown(loop->watchers), fleet_now_ms(loop->set.fleet));
    return is_progress_due(loop) || is_output_due(loop) ||
           run_samples_gpus_due(&loop->samples, loop->run, loop->watchers) || alone != loop->reported_alone ||
           stalled != loop->stalled || decide(loop).step != POLICY_STEP_NONE;
}

int supervise_once(struct supervise_loop *loop, struct error *err)
{
    struct run *run = loop->run;
    const unsigned attempt = run->attempt;
    watchers_check(loop->watchers);
    if (!is_due(loop)) {
        return 0;
    }
    AUTO_CLOSE int lock = run_lock(loop->context, run->name, false, err);
    if (lock < 0) {
        return lock == -2 ? 0 : -1; /* another command holds it: try again in a second */
    }
    if (reload(loop, err) != 0) {
        return -1;
    }
    loop->due = false;
    int result = 0;
    if (run->attempt != attempt && loop->stays) {
        loop->superseded = true; /* the start of that attempt has its own supervisor and notifications */
        return 0;
    }
    if (run->attempt == attempt && run_state_is_live(run->state)) {
        result = cleanup_pings_answered(loop->pings) ? try_cleanups(loop, err) : follow_up(loop, err);
    }
    loop->record_stamp = run_store_stamp(loop->context->store, run->name);
    if (run->attempt != attempt && result == 0 && run_state_is_live(run->state)) {
        supervise_close(loop); /* a new attempt was started: its nodes and logs differ */
        return supervise_open(loop, err);
    }
    return result;
}
