#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "guard_internal.h"
#include "judge_internal.h"
#include "lastlines_internal.h"
#include "model/kind.h"
#include "record_internal.h"

#define LINES_READ     40 /* of the log of the node that failed first */
#define STALL_MARGIN_S 1  /* beyond two beats: a node is behind the others */

/* --- the crew of the current attempt ------------------------------------------------------------ */

int guard_open(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    if (crew_open(&guard->crew, guard->context, run, err) != 0 || crew_hold(&guard->crew, err) != 0) {
        crew_close(&guard->crew);
        return -1;
    }
    guard->crew_open = true;
    if (guard->request->end_on_hangup) {
        crew_catch_hangup(&guard->crew);
    }
    guard->debtors = debtors_open(&guard->crew);
    guard->watchers = watchers_open(&guard->crew, policy_beat_s(&run->policy));
    if (guard->request->with_logs) {
        const struct node_tail_wish wish = {.from = NODE_TAIL_ALL, .follow = true};
        AUTO_FREE bool *all = xcalloc(run->nodes_len, sizeof(bool));
        for (size_t i = 0; i < run->nodes_len; i++) {
            all[i] = true;
        }
        guard->tails = tails_open(&guard->crew, all, &wish, NULL);
    }
    guard->due = true;
    return 0;
}

void guard_close(struct guard *guard)
{
    if (guard->crew_open) {
        guard->hung_up = guard->hung_up || guard->crew.hung_up;
        crew_close(&guard->crew);
    }
    guard->crew_open = false;
    watchers_free(guard->watchers);
    guard->watchers = NULL;
    debtors_free(guard->debtors);
    guard->debtors = NULL;
    tails_free(guard->tails);
    guard->tails = NULL;
    guard->explained = guard->no_restart = guard->stalled = false;
}

/* --- telling ------------------------------------------------------------------------------------ */

static void set_reason(struct run *run, char *reason)
{
    free(run->reason);
    run->reason = reason;
}

void guard_explain(struct guard *guard)
{
    struct run *run = guard->run;
    long first = run_first_failure(run);
    if (first < 0 || guard->explained || run_is_finished_by_rank0(run)) {
        return;
    }
    guard->explained = true;
    AUTO_FREE bool *wanted = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE char **texts = xcalloc(run->nodes_len, sizeof(*texts));
    wanted[first] = true;
    run_fetch_lines(&guard->crew, wanted, LINES_READ, texts);
    AUTO_FREE char *text = texts[first];
    set_reason(run, run_failure_text(&run->nodes[first], text));
    guard->no_restart = text && policy_forbids_restart(&run->policy, text);
}

static void explain(void *ctx)
{
    guard_explain(ctx);
}

/* What watches have brought, with an event for each node that changed. */
static void take_news(struct guard *guard)
{
    struct run *run = guard->run;
    AUTO_FREE enum node_state *before = xcalloc(run->nodes_len, sizeof(*before));
    for (size_t i = 0; i < run->nodes_len; i++) {
        before[i] = run->nodes[i].state;
    }
    watchers_apply(guard->watchers, run);
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct run_node *node = &run->nodes[i];
        const char *reason = node->reason ? node->reason : "";
        if (node->state == before[i]) {
            continue;
        }
        if (node->state == NODE_LOST) {
            run_note_event(guard->context, run, "unreachable", node->label, "%s", reason);
            tell_warn(guard->context, "%s does not answer: %s", node->label, reason);
        } else if (before[i] == NODE_LOST) {
            run_note_event(guard->context, run, "answers", node->label, "it is %s",
                           node_state_name(node->state));
            tell_info(guard->context, "%s answers again: it is %s", node->label,
                      node_state_name(node->state));
        }
        if (node->state == NODE_FAILED) {
            run_note_event(guard->context, run, "node-failed", node->label, "%s", reason);
        }
    }
}

static void check_alone(struct guard *guard)
{
    const struct run *run = guard->run;
    bool alone = policy_all_silent(run, watchers_silent_since(guard->watchers));
    if (alone && !guard->told_alone) {
        const char *head = run->head_host ? run->head_host : "this machine";
        run_note_event(guard->context, run, "alone", NULL,
                       "none of %zu nodes answers: the network of the head '%s' itself may be down",
                       run->nodes_len, head);
        tell_warn(guard->context,
                  "none of %zu nodes answers: the network of the head '%s' itself may be down; the run is "
                  "left alone",
                  run->nodes_len, head);
    }
    if (!alone && guard->told_alone) {
        watchers_begin_anew(guard->watchers);
    }
    guard->told_alone = alone;
}

/* The event of a stall: the last line of each node, and who is behind the others. */
static void tell_stall(struct guard *guard)
{
    struct run *run = guard->run;
    AUTO_FREE bool *running = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE bool *behind = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE char **texts = xcalloc(run->nodes_len, sizeof(*texts));
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    int64_t margin = ((int64_t)policy_beat_s(&run->policy) * 2 + STALL_MARGIN_S) * 1000;
    for (size_t i = 0; i < run->nodes_len; i++) {
        running[i] = run->nodes[i].state == NODE_RUNNING;
    }
    run_fetch_lines(&guard->crew, running, 1, texts);
    policy_find_behind(run, watchers_grown(guard->watchers), margin, behind);
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (behind[i]) {
            strlist_add(&names, run->nodes[i].label);
        }
    }
    str_addf(&text, "no log has grown for %lu s", run->policy.stall_s);
    if (names.len > 0) {
        AUTO_FREE char *joined = strlist_join(&names, ", ");
        str_addf(&text, "; behind the others: %s", joined);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (running[i]) {
            str_addf(&text, "\n    %s: %s", run->nodes[i].label, texts[i] ? texts[i] : "");
        }
        free(texts[i]);
    }
    run_note_event(guard->context, run, "stalled", names.len == 1 ? names.items[0] : NULL, "%s",
                   str_text(&text));
    tell_warn(guard->context, "run '%s' has stalled: %s", run->name, str_text(&text));
}

static void check_stall(struct guard *guard)
{
    bool stalled =
        policy_is_stalled(guard->run, watchers_grown(guard->watchers), fleet_now_ms(guard->crew.fleet));
    if (stalled && !guard->stalled) {
        tell_stall(guard);
    } else if (!stalled && guard->stalled) {
        run_note_event(guard->context, guard->run, "goes-on", NULL, "logs grow again");
        tell_info(guard->context, "run '%s' goes on: logs grow again", guard->run->name);
    }
    guard->stalled = stalled;
}

/* --- acting ------------------------------------------------------------------------------------- */

/* Stop the run while its lock is held. */
static int stop_now(struct guard *guard, const char *why, struct error *err)
{
    struct run *run = guard->run;
    struct run_stop_result result = {0};
    const struct stop_orders orders = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .conclude = explain,
        .ctx = guard,
    };
    int code = run_stop_held(&guard->crew, run, orders, false, why, &result, err);
    run_stop_result_release(&result);
    return code;
}

static int reload(struct guard *guard, struct error *err)
{
    struct run fresh;
    if (run_store_load(guard->context->store, guard->run->name, &fresh, err) != 0) {
        return -1;
    }
    if (fresh.revision == guard->run->revision) {
        run_release(&fresh);
    } else {
        run_release(guard->run);
        *guard->run = fresh;
    }
    return 0;
}

int guard_stop(struct guard *guard, const char *why, struct error *err)
{
    struct run *run = guard->run;
    const unsigned attempt = run->attempt;
    AUTO_CLOSE int lock = run_take_turn(guard->context, run->name, true, err);
    if (lock < 0 || reload(guard, err) != 0) {
        return -1;
    }
    if (run->attempt != attempt || !run_state_is_live(run->state)) {
        return 0;
    }
    if (!run->reason) {
        set_reason(run, xasprintf("stopped: %s", why));
    }
    return stop_now(guard, why, err);
}

/*
 * A stop was begun and did not come to its proof: carry on. A node that does not answer says itself when it
 * is back; others are asked again with growing pauses.
 */
static int carry_on_stop(struct guard *guard, struct error *err)
{
    const struct run *run = guard->run;
    const int64_t *silent = watchers_silent_since(guard->watchers);
    struct error one = ERROR_INIT;
    if (!guard->stays) {
        error_set(err, &kind_not_proven, "the last stop of run '%s' did not prove that everything is gone",
                  run->name);
        return error_hint(err, "`mtlaunch stop %s` again is safe", run->name);
    }
    for (size_t i = 0; i < run->nodes_len && guard->tries > 0; i++) {
        if (silent[i] != 0 && run->nodes[i].state == NODE_LOST) {
            return 0;
        }
    }
    if (clock_mono_ms() < guard->retry_ms) {
        return 0;
    }
    if (stop_now(guard, "the stop goes on", &one) == 0) {
        guard->tries = 0;
        return 0;
    }
    guard->retry_ms = clock_mono_ms() + policy_retry_ms(++guard->tries, UINT32_MAX / 2);
    if (guard->tries == 1) {
        tell_warn(guard->context, "%s", one.text);
    }
    return crew_is_interrupted(&guard->crew) ? crew_interrupted_error(&guard->crew, err) : 0;
}

/* What the decision says in words. */
static char *decision_reason(const struct guard *guard, const struct policy_decision *decision)
{
    const struct run *run = guard->run;
    if (decision->cause == POLICY_CAUSE_STALLED) {
        return xasprintf("no log has grown for %lu s", run->policy.stall_s);
    }
    const struct run_node *node = &run->nodes[decision->node];
    if (decision->cause == POLICY_CAUSE_FINISHED) {
        return xasprintf("%s (node 0) has ended with 0 (finish_on: rank0)", node->label);
    }
    if (decision->cause == POLICY_CAUSE_LOST) {
        return xasprintf("%s (node %u) has not answered for %lu s: %s", node->label, node->rank,
                         run->policy.lost_after_s, node->reason ? node->reason : "?");
    }
    return run_failure_text(node, NULL);
}

static struct policy_decision decide(const struct guard *guard)
{
    const struct policy_view view = {
        .now_ms = fleet_now_ms(guard->crew.fleet),
        .silent_since_ms = watchers_silent_since(guard->watchers),
        .stalled = guard->stalled,
        .no_restart = guard->no_restart,
    };
    struct policy_decision decision = policy_decide(guard->run, &view);
    if (decision.step == POLICY_STEP_RESTART && !guard_can_restart(guard)) {
        decision.step = POLICY_STEP_STOP;
    }
    return decision;
}

/* The supervisor goes on with a stop that did not come to its proof. */
static int tolerate_unproven(struct guard *guard, int code, struct error *err)
{
    if (code != 0 && guard->stays && !crew_is_interrupted(&guard->crew)) {
        guard->tries = 1;
        guard->retry_ms = clock_mono_ms() + policy_retry_ms(1, UINT32_MAX / 2);
        tell_warn(guard->context, "%s", err->text);
        return 0;
    }
    return code;
}

static int act(struct guard *guard, const struct policy_decision *decision, struct error *err)
{
    struct run *run = guard->run;
    AUTO_FREE char *why = decision_reason(guard, decision);
    set_reason(run, xstrdup(why));
    if (decision->cause == POLICY_CAUSE_LOST) {
        run_note_event(guard->context, run, "lost", run->nodes[decision->node].label, "%s", why);
    }
    if (decision->step == POLICY_STEP_RESTART) {
        return guard_restart(guard, why, err);
    }
    if (decision->cause == POLICY_CAUSE_FINISHED) {
        tell_info(guard->context, "%s; stopping the other nodes", why);
    } else {
        tell_warn(guard->context, "%s; stopping the run", why);
    }
    return tolerate_unproven(guard, stop_now(guard, why, err), err);
}

int guard_stop_at_limit(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    const unsigned attempt = run->attempt;
    AUTO_CLOSE int lock = run_take_turn(guard->context, run->name, true, err);
    if (lock < 0 || reload(guard, err) != 0) {
        return -1;
    }
    if (run->attempt != attempt || !run_state_is_live(run->state) || (run->stopping && !run->restarting)) {
        guard->due = true;
        return 0;
    }
    AUTO_FREE char *why = xasprintf("its time limit of %lu s has passed", run->policy.time_limit_s);
    run->timed_out = true;
    set_reason(run, xasprintf("stopped: %s", why));
    run_note_event(guard->context, run, "time-limit", NULL, "%s", why);
    tell_warn(guard->context, "run '%s': %s; stopping the run", run->name, why);
    return tolerate_unproven(guard, stop_now(guard, why, err), err);
}

/* Write the record when it says something new. */
static int keep_if_changed(struct guard *guard, struct error *err)
{
    enum run_state before = guard->run->state;
    enum run_state now = judge_run(guard->run, clock_real_ms());
    AUTO_FREE char *text = run_record_write(guard->run);
    if (guard->kept && text && before == now && strcmp(guard->kept, text) == 0) {
        return 0;
    }
    if (run_settle(guard->context, guard->run, err) != 0) {
        return -1;
    }
    free(guard->kept);
    guard->kept = run_record_write(guard->run);
    return 0;
}

/* A node of an earlier attempt is back: end what is left of it there. */
static int pay_debts(struct guard *guard, struct error *err)
{
    struct run_stop_result result = {0};
    int code = run_pay_debts_held(guard->context, guard->run, &result, err);
    run_stop_result_release(&result);
    debtors_go_on(guard->debtors);
    guard->due = true;
    return code;
}

static int follow_up(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    run_note_dead_start(guard->context, run);
    take_news(guard);
    if (run->restarting) {
        return guard_restart(guard, NULL, err);
    }
    if (run->stopping) {
        return carry_on_stop(guard, err);
    }
    check_alone(guard);
    check_stall(guard);
    struct policy_decision decision = decide(guard);
    if (decision.step != POLICY_STEP_NONE) {
        return act(guard, &decision, err);
    }
    if (!run_has_open_node(run)) {
        guard_explain(guard);
        bool failed = run_first_failure(run) >= 0 && run->policy.on_failure != POLICY_KEEP;
        run_tell_leftovers(&guard->crew, run, failed);
    }
    return keep_if_changed(guard, err);
}

/* Is there anything to be done that needs the lock? */
static bool is_due(struct guard *guard)
{
    int64_t mark = run_store_mark(guard->context->store, guard->run->name);
    if (guard->due || debtors_answer(guard->debtors) || mark != guard->record_mark ||
        watchers_have_news(guard->watchers)) {
        return true;
    }
    if (guard->run->restarting || guard->run->stopping) {
        int64_t when = guard->run->restarting ? guard->restart_ms : guard->retry_ms;
        return clock_mono_ms() >= when;
    }
    bool alone = policy_all_silent(guard->run, watchers_silent_since(guard->watchers));
    bool stalled =
        policy_is_stalled(guard->run, watchers_grown(guard->watchers), fleet_now_ms(guard->crew.fleet));
    return alone != guard->told_alone || stalled != guard->stalled || decide(guard).step != POLICY_STEP_NONE;
}

int guard_turn(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    const unsigned attempt = run->attempt;
    watchers_check(guard->watchers);
    if (!is_due(guard)) {
        return 0;
    }
    AUTO_CLOSE int lock = run_take_turn(guard->context, run->name, false, err);
    if (lock < 0) {
        return lock == -2 ? 0 : -1; /* another command is at it: the next second comes soon */
    }
    if (reload(guard, err) != 0) {
        return -1;
    }
    guard->due = false;
    int result = 0;
    if (run->attempt != attempt && guard->stays) {
        guard->superseded = true; /* by the start of that attempt, which may tell others */
        return 0;
    }
    if (run->attempt == attempt && run_state_is_live(run->state)) {
        result = debtors_answer(guard->debtors) ? pay_debts(guard, err) : follow_up(guard, err);
    }
    guard->record_mark = run_store_mark(guard->context->store, run->name);
    if (run->attempt != attempt && result == 0 && run_state_is_live(run->state)) {
        guard_close(guard); /* it was started again: other nodes, other logs */
        return guard_open(guard, err);
    }
    return result;
}
