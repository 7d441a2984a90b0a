/* Waiting for a run's end: a look at the nodes once a second, and what the spec says about failures. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "common_internal.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "record_internal.h"
#include "tails_internal.h"

#define LOOK_MS  1000
#define DRAIN_MS 10000 /* the run has ended: time for the last bytes of its logs */

struct wait {
    struct run_context *context;
    const struct run_wait_request *request;
    struct run *run;
    struct crew crew;
    bool crew_open;
    struct tails *tails; /* NULL: without logs */
    int64_t began_ms;
    int64_t lost_since_ms; /* 0: not lost */
    char *kept;            /* the record as it was written last */
};

/* --- the crew of the current attempt ------------------------------------------------------------ */

static int wait_open(struct wait *wait, struct error *err)
{
    if (crew_open(&wait->crew, wait->context, wait->run, err) != 0) {
        crew_close(&wait->crew);
        return -1;
    }
    wait->crew_open = true;
    if (wait->request->with_logs) {
        const struct node_tail_wish wish = {.from = NODE_TAIL_ALL, .follow = true};
        AUTO_FREE bool *all = xcalloc(wait->run->nodes_len, sizeof(bool));
        for (size_t i = 0; i < wait->run->nodes_len; i++) {
            all[i] = true;
        }
        wait->tails = tails_open(&wait->crew, all, &wish);
    }
    return 0;
}

static void wait_close(struct wait *wait)
{
    if (wait->crew_open) {
        crew_close(&wait->crew);
    }
    wait->crew_open = false;
    tails_free(wait->tails);
    wait->tails = NULL;
}

static void wait_tick(struct wait *wait, unsigned ms)
{
    const struct run_observer *observer = wait->context->observer;
    crew_pause(&wait->crew, ms);
    if (observer->tick != NULL) {
        observer->tick(observer->ctx);
    }
}

static void drain_logs(struct wait *wait)
{
    int64_t until = clock_mono_ms() + DRAIN_MS;
    while (wait->tails != NULL && tails_left(wait->tails) > 0 && clock_mono_ms() < until &&
           !crew_is_interrupted(&wait->crew)) {
        wait_tick(wait, 100);
    }
}

/* --- acting ------------------------------------------------------------------------------------- */

/* Stop the run while its lock is held. */
static int stop_now(struct wait *wait, const char *why, struct error *err)
{
    struct run *run = wait->run;
    struct run_stop_result result;
    const struct stop_orders orders = {.signal = run->stop_signal, .grace_s = run->stop_grace_s};
    result = (struct run_stop_result){0};
    int code = run_stop_held(&wait->crew, run, orders, false, why, &result, err);
    run_stop_result_release(&result);
    return code;
}

/* Take the lock, read the record anew and stop the run unless it has ended meanwhile. */
static int stop_for(struct wait *wait, const char *why, struct error *err)
{
    struct run *run = wait->run;
    struct run fresh;
    AUTO_CLOSE int lock = run_take_turn(wait->context, run->name, true, err);
    if (lock < 0 || run_store_load(wait->context->store, run->name, &fresh, err) != 0) {
        return -1;
    }
    bool same = fresh.attempt == run->attempt;
    if (same) {
        run_release(run);
        *run = fresh;
    } else {
        run_release(&fresh);
    }
    return same && run_state_is_live(run->state) ? stop_now(wait, why, err) : 0;
}

static bool has_node(const struct run *run, enum node_state state)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (run->nodes[i].state == state) {
            return true;
        }
    }
    return false;
}

/* A node has failed and others go on: the spec may want them stopped. The lock is held. */
static int act_on_failure(struct wait *wait, struct error *err)
{
    struct run *run = wait->run;
    long first = run_first_failure(run);
    bool others = has_node(run, NODE_RUNNING) || has_node(run, NODE_LOST);
    if (first < 0 || !others || run->stopping || run->policy.on_failure != POLICY_STOP) {
        return 0;
    }
    const struct run_node *node = &run->nodes[first];
    free(run->reason);
    run->reason = xasprintf("%s (rank %u): %s", node->label, node->rank,
                            node->reason == NULL ? "failed" : node->reason);
    tell_warn(wait->context, "%s; stopping the other nodes", run->reason);
    return stop_now(wait, run->reason, err);
}

/* Write the record when it says something new. */
static int keep_if_changed(struct wait *wait, struct error *err)
{
    enum run_state before = wait->run->state;
    enum run_state now = judge_run(wait->run, clock_real_ms());
    AUTO_FREE char *text = run_record_write(wait->run);
    if (wait->kept != NULL && text != NULL && before == now && strcmp(wait->kept, text) == 0) {
        return 0;
    }
    if (run_settle(wait->context, wait->run, err) != 0) {
        return -1;
    }
    free(wait->kept);
    wait->kept = run_record_write(wait->run);
    return 0;
}

/* One look and what follows from it. */
static int look(struct wait *wait, struct error *err)
{
    AUTO_CLOSE int lock = -2;
    const unsigned attempt = wait->run->attempt;
    if (run_look(&wait->crew, wait->run, &lock, err) != 0) {
        return -1;
    }
    if (wait->run->attempt != attempt) {
        wait_close(wait); /* it was started again: other nodes, other logs */
        return wait_open(wait, err);
    }
    if (lock < 0) {
        return 0;
    }
    if (wait->run->stopping) {
        error_set(err, &kind_not_proven, "the last stop of run '%s' did not prove that everything is gone",
                  wait->run->name);
        return error_hint(err, "`mtlaunch stop %s` again is safe", wait->run->name);
    }
    if (act_on_failure(wait, err) != 0) {
        return -1;
    }
    return keep_if_changed(wait, err);
}

static int check_lost(struct wait *wait, struct error *err)
{
    const struct run *run = wait->run;
    int64_t now = clock_mono_ms();
    if (!has_node(run, NODE_LOST)) {
        wait->lost_since_ms = 0;
        return 0;
    }
    if (wait->lost_since_ms == 0) {
        wait->lost_since_ms = now;
        tell_warn(wait->context, "run '%s' has nodes that do not answer", run->name);
    }
    if (now - wait->lost_since_ms < (int64_t)run->policy.lost_after_s * 1000) {
        return 0;
    }
    error_set(err, &kind_run_lost, "run '%s' is %s: nodes have not answered for %lu s", run->name,
              run_state_name(run->state), run->policy.lost_after_s);
    return error_hint(err, "`mtlaunch status %s` names them; the run itself was not touched", run->name);
}

static int check_time(struct wait *wait, struct error *err)
{
    const struct run_wait_request *request = wait->request;
    struct run *run = wait->run;
    if (!request->timeout_given || clock_mono_ms() - wait->began_ms < (int64_t)request->timeout_s * 1000) {
        return 0;
    }
    if (request->stop_at_timeout && stop_for(wait, "the time limit passed", err) != 0) {
        return -1;
    }
    return error_set(err, &kind_time_limit, "run '%s' %s %lu s", run->name,
                     request->stop_at_timeout ? "was stopped: its time limit passed after" : "goes on after",
                     request->timeout_s);
}

/* --- the end ------------------------------------------------------------------------------------ */

static int outcome(const struct run *run, struct error *err)
{
    switch (run->state) {
    case RUN_FINISHED:
        return 0;
    case RUN_STOPPED:
        return error_set(err, &kind_run_stopped, "run '%s' was stopped", run->name);
    case RUN_FAILED:
    case RUN_STOPPING:
    case RUN_STARTING:
    case RUN_DEGRADED:
    case RUN_RUNNING:
    case RUN_LOST:
        break;
    }
    return error_set(err, &kind_run_failed, "run '%s' failed: %s", run->name,
                     run->reason == NULL ? "no reason is known" : run->reason);
}

/* Ctrl-C or TERM: with stop_on_signal the run ends too. err holds the interruption, or what outweighs it. */
static int interrupted(struct wait *wait, struct error *err)
{
    struct error worse = ERROR_INIT;
    if (!wait->request->stop_on_signal) {
        crew_interrupted_error(&wait->crew, err);
        return error_hint(err, "the run was not touched");
    }
    wait->crew.patience = wait->crew.signals;
    crew_interrupted_error(&wait->crew, err);
    if (stop_for(wait, err->text, &worse) != 0) {
        for (size_t i = 0; i < wait->run->nodes_len && crew_is_interrupted(&wait->crew); i++) {
            if (wait->run->nodes[i].state == NODE_RUNNING || wait->run->nodes[i].state == NODE_LOST) {
                tell_warn(wait->context, "%s: may still run", wait->run->nodes[i].label);
            }
        }
        *err = worse;
    }
    return -1;
}

static int watch(struct wait *wait, struct error *err)
{
    while (run_state_is_live(wait->run->state)) {
        int result = look(wait, err);
        if (result == 0 && run_state_is_live(wait->run->state)) {
            result = check_lost(wait, err);
        }
        if (result == 0 && run_state_is_live(wait->run->state)) {
            result = check_time(wait, err);
        }
        if (result == 0 && run_state_is_live(wait->run->state)) {
            wait_tick(wait, LOOK_MS);
        }
        if (wait->crew_open && crew_is_interrupted(&wait->crew)) {
            return interrupted(wait, err);
        }
        if (result != 0) {
            return -1;
        }
    }
    return 0;
}

int run_wait(struct run_context *context, const char *name, const struct run_wait_request *request,
             struct run *run, struct error *err)
{
    struct wait wait = {
        .context = context,
        .request = request,
        .run = run,
        .began_ms = clock_mono_ms(),
    };
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    /* With logs also an ended run is opened: a job may be over before its waiting begins. */
    int result = 0;
    if (run_state_is_live(run->state) || request->with_logs) {
        result = wait_open(&wait, err);
    }
    if (result == 0) {
        result = watch(&wait, err);
        drain_logs(&wait);
    }
    wait_close(&wait);
    free(wait.kept);
    return result == 0 ? outcome(run, err) : -1;
}
