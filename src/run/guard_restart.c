/* A restart: the old attempt is proven gone on every node, or a spare takes the place; then comes the next.
 */
#include <stdlib.h>

#include "again_internal.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "guard_internal.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "spares_internal.h"
#include "start_internal.h"

bool guard_can_restart(const struct guard *guard)
{
    return run_again_has(guard->context->store, guard->run->name);
}

/* No further attempt: what is known makes the outcome. */
static int settle_instead(struct guard *guard, const char *why, struct error *err)
{
    struct run *run = guard->run;
    run->restarting = false;
    run->stopping = false;
    run_note_event(guard->context, run, "not-restarted", NULL, "%s", why);
    tell_warn(guard->context, "run '%s' is not started again: %s", run->name, why);
    return run_settle(guard->context, run, err);
}

/* A spare takes the place of a node that does not answer. False: there is none, or it cannot be kept. */
static bool take_spare(struct guard *guard, size_t node)
{
    struct run *run = guard->run;
    struct error err = ERROR_INIT;
    struct host host = {0};
    int taken = run_take_spare(guard->context, run, node, "does not answer", true, &host, &err);
    if (taken < 0) {
        tell_warn(guard->context, "%s", err.text);
    }
    if (taken != 1) {
        return false;
    }
    host_release(&host);
    run_owe_node(run, node);
    run->nodes[node].written_off = true;
    return true;
}

/* What became of the attempt, for the list of them. */
static void finish_attempt(struct run *run)
{
    struct run_attempt *attempt = run_current_attempt(run);
    attempt->state = run_first_failure(run) >= 0 ? RUN_FAILED : RUN_STOPPED;
    attempt->ended_ms = clock_real_ms();
    free(attempt->reason);
    attempt->reason = xstrdup(run->reason);
}

static int wait_longer(struct guard *guard, const char *label, const char *why)
{
    guard->retry_ms = clock_mono_ms() + policy_retry_ms(++guard->tries, UINT32_MAX / 2);
    if (guard->tries == 1) {
        tell_warn(guard->context, "%s %s: no restart before that is over", label, why);
    }
    return run_keep(guard->context, guard->run, NULL);
}

/* Every node has been asked to end the old attempt: may the next one come? */
static int conclude_end(struct guard *guard, const struct run_stop_result *result, const bool *silent,
                        struct error *err)
{
    struct run *run = guard->run;
    if (result->survivors_len > 0) {
        return wait_longer(guard, result->survivors[0].host,
                           "has processes of the old attempt that can't be ended");
    }
    guard_explain(guard);
    if (guard->no_restart) {
        return settle_instead(guard, "its log holds what restart.no_restart_on names", err);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (silent[i] && !run->nodes[i].written_off && !take_spare(guard, i)) {
            return wait_longer(guard, run->nodes[i].label, "does not answer and no spare is left");
        }
    }
    finish_attempt(run);
    int64_t pause = policy_backoff_ms(&run->policy, run->restarts + 1);
    guard->tries = 0;
    guard->restart_ms = clock_mono_ms() + pause;
    run_note_event(guard->context, run, "backoff", NULL, "restart %u of %u in %lld s", run->restarts + 1,
                   run->policy.restart_max, (long long)pause / 1000);
    return run_keep(guard->context, run, err);
}

/* A node that did not answer and has no spare says itself when it is back. */
static bool waits_for_node(const struct guard *guard)
{
    const struct run *run = guard->run;
    const int64_t *silent = watchers_silent_since(guard->watchers);
    for (size_t i = 0; i < run->nodes_len && guard->tries > 0 && run->policy.spares.len == 0; i++) {
        if (silent[i] != 0 && run->nodes[i].state == NODE_LOST && !run->nodes[i].written_off) {
            return true;
        }
    }
    return clock_mono_ms() < guard->retry_ms;
}

static int end_attempt(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    struct run_stop_result result = {0};
    size_t unproven = 0;
    AUTO_FREE bool *silent = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE bool *nodes = xcalloc(run->nodes_len, sizeof(bool));
    for (size_t i = 0; i < run->nodes_len; i++) {
        nodes[i] = !run->nodes[i].written_off;
    }
    const struct stop_orders orders = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .again = true,
        .quiet = true,
        .nodes = nodes,
    };
    if (waits_for_node(guard)) {
        return 0;
    }
    int code = run_end_nodes(&guard->crew, run, &orders, &result, &unproven, silent);
    if (code != 0) {
        run_keep(guard->context, run, NULL); /* what is known so far; the interruption is the news */
        code = crew_interrupted_error(&guard->crew, err);
    } else {
        code = conclude_end(guard, &result, silent, err);
    }
    run_stop_result_release(&result);
    return code;
}

/* The crew is closed: the next attempt has other nodes. */
static int start_next(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    struct run_again again = {0};
    int result = run_again_load(guard->context, run->name, &again, err);
    if (result == 0) {
        struct run_context context = *guard->context;
        context.environ_ = (const char *const *)(const void *)again.environ_;
        const struct run_start_request request = {
            .run = run->name,
            .job = &again.job,
            .hosts = &again.reached.list,
            .host_facts = again.reached.facts,
            .no_check = json_is_true(json_object_get(again.object, "no_check")),
            .again = true,
        };
        result = run_start_again(&context, &request, run, err);
        guard->context->steps = context.steps;
    }
    run_again_release(&again);
    return result;
}

static int begin_next(struct guard *guard, struct error *err)
{
    struct run *run = guard->run;
    struct error why = ERROR_INIT;
    const unsigned restarts = run->restarts;
    guard->restart_ms = 0;
    AUTO_FREE char *name = xstrdup(run->name);
    guard_close(guard);
    if (start_next(guard, &why) == 0) {
        run_note_event(guard->context, run, "restarted", NULL, "attempt %u (restart %u of %u)", run->attempt,
                       run->restarts, run->policy.restart_max);
        tell_info(guard->context, "run '%s' was started again: attempt %u (restart %u of %u)", name,
                  run->attempt, run->restarts, run->policy.restart_max);
        return 0;
    }
    if (why.kind == &kind_interrupted || why.kind == &kind_terminated) {
        *err = why;
        return -1;
    }
    tell_warn(guard->context, "restart %u of %u failed: %s", run->restarts, run->policy.restart_max,
              why.text);
    if (run->restarts == restarts) {
        return settle_instead(guard, why.text, err); /* it can't even be planned: no try will be better */
    }
    if (why.kind == &kind_run_live && run->restarts > 0) {
        run->restarts--; /* a start that was cut off came to its end after all: end it, then this one counts
                          */
    } else if (run->restarts >= run->policy.restart_max) {
        return settle_instead(guard, "restart.max attempts were made", err);
    }
    run->stopping = run->restarting = true;
    return run_keep(guard->context, run, err);
}

int guard_restart(struct guard *guard, const char *why, struct error *err)
{
    struct run *run = guard->run;
    if (!run->restarting || !run->stopping) {
        run->stopping = true;
        run->restarting = true;
        run->state = RUN_STOPPING;
        guard->tries = 0;
        guard->retry_ms = guard->restart_ms = 0;
        if (run_keep(guard->context, run, err) != 0) {
            return -1;
        }
        run_note_event(guard->context, run, "restarting", NULL, "%s", why ? why : "carried on");
        tell_warn(guard->context, "%s; ending the attempt to start again", why ? why : "carried on");
    }
    if (guard->restart_ms == 0) {
        return end_attempt(guard, err);
    }
    return clock_mono_ms() < guard->restart_ms ? 0 : begin_next(guard, err);
}
