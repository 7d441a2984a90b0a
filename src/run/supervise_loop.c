/*
 * The supervise loop: repeats passes until the run has ended, a time limit has passed, or a signal
 * interrupts.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "run/supervisor.h"
#include "stand_in_internal.h"
#include "stop_internal.h"
#include "supervise_internal.h"
#include "wait_internal.h"

#define TICK_MS        1000
#define DRAIN_MS       10000 /* time for the last bytes of the logs after the run has ended */
#define BEAT_MS        60000 /* between two writes of the supervisor's file */
#define CLEANUP_MS     30000 /* between two tries to reach a node of an earlier attempt */
#define CLEANUP_MAX_MS (24 * 3600 * INT64_C(1000))

static void tick(struct supervise_loop *loop, unsigned ms)
{
    const struct run_observer *observer = loop->context->observer;
    node_set_pause(&loop->set, ms);
    if (observer->tick) {
        observer->tick(observer->ctx);
    }
}

static void drain_logs(struct supervise_loop *loop)
{
    int64_t until = clock_mono_ms() + DRAIN_MS;
    while (loop->tails && tails_left(loop->tails) > 0 && clock_mono_ms() < until &&
           !node_set_is_interrupted(&loop->set)) {
        tick(loop, 100);
    }
}

/* --- limits ------------------------------------------------------------------------------------- */

/* Only the supervisor waits without limit for nodes that do not answer. */
static int check_lost(struct supervise_loop *loop, struct error *err)
{
    const struct run *run = loop->run;
    int64_t now = clock_mono_ms();
    if (loop->stays || !run_has_lost_node(run)) {
        loop->lost_since_ms = 0;
        return 0;
    }
    if (loop->lost_since_ms == 0) {
        loop->lost_since_ms = now;
        report_warn(loop->context, "run '%s' has nodes that do not answer", run->name);
    }
    if (now - loop->lost_since_ms < (int64_t)run->policy.lost_after_s * 1000) {
        return 0;
    }
    error_set(err, &kind_run_lost, "run '%s' is %s: nodes have not answered for %lu s", run->name,
              run_state_name(run->state), run->policy.lost_after_s);
    return error_hint(err, "`mtlaunch status %s` names them; the run itself was not touched", run->name);
}

static int check_time(struct supervise_loop *loop, struct error *err)
{
    if (!wait_is_time_up(loop->request, loop->began_ms)) {
        return 0;
    }
    if (loop->request->stop_at_timeout) {
        AUTO_FREE char *why = xasprintf("its time limit of %lu s has passed", loop->request->timeout_s);
        if (supervise_stop(loop, why, loop->request->timeout_s, err) != 0) {
            return -1;
        }
    }
    return wait_time_is_up(loop->request, loop->run, err);
}

/*
 * The spec's time_limit, over all attempts of this start. It does not disturb a stop that another command
 * began.
 */
static int check_limit(struct supervise_loop *loop, struct error *err)
{
    const struct run *run = loop->run;
    if (run->limit_ms == 0 || run->timed_out || (run->stopping && !run->restarting) ||
        clock_real_ms() < run->limit_ms) {
        return 0;
    }
    return supervise_stop_at_limit(loop, err);
}

/* --- interruption ------------------------------------------------------------------------------- */

/* Ctrl-C or TERM: with stop_on_signal the run is stopped too. err gets the interruption, or a worse error. */
static int interrupted(struct supervise_loop *loop, struct error *err)
{
    struct error worse = ERROR_INIT;
    if (!loop->request->stop_on_signal) {
        node_set_interrupted_error(&loop->set, err);
        return error_hint(err, "the run was not touched");
    }
    loop->set.patience = loop->set.signals;
    node_set_interrupted_error(&loop->set, err);
    run_leave_stand_in(loop->context, loop->run->name);
    if (supervise_stop(loop, err->text, 0, &worse) == 0) {
        if (loop->run->state == RUN_STOPPED) {
            run_report_stopped(loop->context, loop->run, NULL);
        }
    } else {
        for (size_t i = 0; i < loop->run->nodes_len && node_set_is_interrupted(&loop->set); i++) {
            const struct run_node *node = &loop->run->nodes[i];
            if (node_state_may_run(node->state)) {
                report_warn(loop->context, "%s: may still be running", node->label);
            }
        }
        *err = worse;
    }
    return -1;
}

/* --- supervising ----------------------------------------------------------------------------------- */

static void beat(struct supervise_loop *loop)
{
    if (clock_mono_ms() - loop->beat_ms >= BEAT_MS) {
        loop->beat_ms = clock_mono_ms();
        run_supervisor_beat(loop->context->store, loop->run->name, NULL);
    }
}

/* A local problem, such as a full disk, does not end the supervisor. */
static bool outlasts(struct supervise_loop *loop, struct error *err)
{
    if (!loop->stays || err->kind->exit_code != kind_local.exit_code) {
        return false;
    }
    report_warn(loop->context, "%s", err->text);
    err->kind = NULL;
    loop->due = true;
    return true;
}

static int supervise_while_live(struct supervise_loop *loop, struct error *err)
{
    while (run_state_is_live(loop->run->state) && !loop->superseded) {
        int result = supervise_once(loop, err);
        if (result != 0 && outlasts(loop, err)) {
            result = 0;
        }
        if (result == 0 && run_state_is_live(loop->run->state)) {
            result = check_lost(loop, err);
        }
        if (result == 0 && run_state_is_live(loop->run->state)) {
            result = check_time(loop, err);
        }
        if (result == 0 && run_state_is_live(loop->run->state)) {
            result = check_limit(loop, err);
        }
        if (result == 0 && run_state_is_live(loop->run->state)) {
            tick(loop, TICK_MS);
        }
        if (loop->set_open && node_set_is_interrupted(&loop->set)) {
            return interrupted(loop, err);
        }
        if (result == 0 && run_state_is_live(loop->run->state) && (loop->hung_up || loop->set.hung_up)) {
            return wait_hung_up(loop->context, loop->request, loop->run, err);
        }
        if (result != 0) {
            return -1;
        }
        beat(loop);
    }
    return 0;
}

/* Wait for nodes of earlier attempts that did not answer, and end their processes. */
static int finish_cleanups(struct supervise_loop *loop, struct error *err)
{
    int64_t until = clock_mono_ms() + CLEANUP_MAX_MS;
    while (loop->stays && loop->run->cleanups_len > 0 && clock_mono_ms() < until) {
        if (pending_cleanup_try(loop->context, loop->run, err) != 0) {
            return -1;
        }
        if (run_state_is_live(loop->run->state)) {
            return 0; /* another command has started it meanwhile, which the try has seen */
        }
        loop->record_stamp =
            run_store_stamp(loop->context->store, loop->run->name); /* the try may have saved it */
        for (int i = 0; loop->run->cleanups_len > 0 && i < CLEANUP_MS / TICK_MS; i++) {
            tick(loop, TICK_MS);
            beat(loop);
            if (node_set_is_interrupted(&loop->set)) {
                return node_set_interrupted_error(&loop->set, err);
            }
            if (run_store_stamp(loop->context->store, loop->run->name) != loop->record_stamp) {
                return 0; /* another command has started, stopped or removed the run */
            }
        }
    }
    return 0;
}

int supervise_to_end(struct supervise_loop *loop, struct error *err)
{
    /* With logs, an ended run is opened too: a short job may end before the wait begins. */
    int result = 0;
    if (run_state_is_live(loop->run->state) || loop->request->with_logs) {
        result = supervise_open(loop, err);
    }
    if (result == 0) {
        result = supervise_while_live(loop, err);
        if (result == 0 || !run_state_is_live(loop->run->state)) {
            drain_logs(loop);
        }
    }
    if (result == 0 && loop->set_open) {
        loop->record_stamp = run_store_stamp(loop->context->store, loop->run->name);
        result = finish_cleanups(loop, err);
    }
    supervise_close(loop);
    free(loop->kept);
    return result == 0 ? wait_outcome(loop->run, err) : -1;
}
