/* Waiting for a run's end: by supervising it, or, while another process does, by watching its record. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "run/supervisor.h"
#include "stand_in_internal.h"
#include "stop_internal.h"
#include "supervise_internal.h"

#define TICK_MS        1000
#define DRAIN_MS       10000 /* the run has ended: time for the last bytes of its logs */
#define BEAT_MS        60000 /* of the supervisor's file */
#define CLEANUP_MS     30000 /* between two tries to reach a node of an earlier attempt */
#define TAKE_OVER_MS   100   /* between two checks whether the previous process has ended */
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

static int time_is_up(const struct run_wait_request *request, const struct run *run, struct error *err)
{
    return error_set(err, &kind_time_limit, "run '%s' %s %lu s", run->name,
                     request->stop_at_timeout ? "was stopped: its time limit passed after" : "goes on after",
                     request->timeout_s);
}

static bool is_time_up(const struct run_wait_request *request, int64_t began_ms)
{
    return request->timeout_given && clock_mono_ms() - began_ms >= (int64_t)request->timeout_s * 1000;
}

static int check_time(struct supervise_loop *loop, struct error *err)
{
    if (!is_time_up(loop->request, loop->began_ms)) {
        return 0;
    }
    if (loop->request->stop_at_timeout) {
        AUTO_FREE char *why = xasprintf("its time limit of %lu s has passed", loop->request->timeout_s);
        if (supervise_stop(loop, why, loop->request->timeout_s, err) != 0) {
            return -1;
        }
    }
    return time_is_up(loop->request, loop->run, err);
}

/* The spec's time_limit, over all attempts of this start. A stop that somebody else began is not disturbed.
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

/* --- the end ------------------------------------------------------------------------------------ */

static int outcome(const struct run *run, struct error *err)
{
    if (run->timed_out && run->state != RUN_FINISHED) {
        return error_set(err, &kind_time_limit, "run '%s' was stopped: its time limit of %lu s has passed",
                         run->name, run->timed_out_after_s);
    }
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
    if (run->reason &&
        text_starts(run->reason, "run '")) { /* the reason of a failed start names the run already */
        return error_set(err, &kind_run_failed, "%s", run->reason);
    }
    return error_set(err, &kind_run_failed, "run '%s' failed: %s", run->name,
                     run->reason ? run->reason : "no reason is known");
}

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
                report_warn(loop->context, "%s: may still run", node->label);
            }
        }
        *err = worse;
    }
    return -1;
}

/* SIGHUP: the command ends, the run does not. */
static int hung_up(struct run_context *context, const struct run_wait_request *request, const struct run *run,
                   struct error *err)
{
    if (request->hand_over) {
        run_leave_stand_in(context, run->name);
    }
    error_set(err, &kind_hung_up, "ended by SIGHUP");
    return error_hint(err, "the run goes on%s: `mtlaunch status %s`",
                      request->hand_over ? " under a supervisor" : "", run->name);
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
            return hung_up(loop->context, loop->request, loop->run, err);
        }
        if (result != 0) {
            return -1;
        }
        beat(loop);
    }
    return 0;
}

/* Nodes of earlier attempts that did not answer: their processes are ended when they do. */
static int finish_cleanups(struct supervise_loop *loop, struct error *err)
{
    int64_t until = clock_mono_ms() + CLEANUP_MAX_MS;
    while (loop->stays && loop->run->cleanups_len > 0 && clock_mono_ms() < until) {
        if (pending_cleanup_try(loop->context, loop->run, err) != 0) {
            return -1;
        }
        for (int i = 0; loop->run->cleanups_len > 0 && i < CLEANUP_MS / TICK_MS; i++) {
            tick(loop, TICK_MS);
            beat(loop);
            if (node_set_is_interrupted(&loop->set)) {
                return node_set_interrupted_error(&loop->set, err);
            }
            if (run_store_stamp(loop->context->store, loop->run->name) != loop->record_stamp) {
                return 0; /* another command has started, stopped or removed it */
            }
        }
    }
    return 0;
}

static int supervise_to_end(struct supervise_loop *loop, struct error *err)
{
    /* With logs an ended run is opened too: a short job may end before the wait begins. */
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
    return result == 0 ? outcome(loop->run, err) : -1;
}

/* --- by the record ------------------------------------------------------------------------------ */

/* Wait while another process supervises the run. Returns 1 when it no longer does. */
static int watch_record(struct run_context *context, const struct run_wait_request *request, struct run *run,
                        int64_t began_ms, struct error *err)
{
    struct node_set set;
    int result =
        node_set_open_run(&set, context, run, err); /* for its signals and pauses: no node is asked */
    if (result == 0 && request->end_on_hangup) {
        node_set_catch_hangup(&set);
    }
    int64_t stamp = 0;
    struct run_supervisor other;
    while (result == 0 && run_state_is_live(run->state)) {
        int64_t now = run_store_stamp(context->store, run->name);
        if (now != stamp) {
            struct run fresh;
            stamp = now;
            result = run_store_load(context->store, run->name, &fresh, err);
            if (result == 0) {
                run_release(run);
                *run = fresh;
                continue;
            }
        }
        if (result == 0 && is_time_up(request, began_ms)) {
            result = time_is_up(request, run, err);
        }
        if (result == 0) {
            run_supervisor_find(context->store, run->name, &other);
            result = other.alive ? 0 : 1;
            run_supervisor_release(&other);
        }
        if (result == 0) {
            node_set_pause(&set, TICK_MS / 2);
            if (node_set_is_interrupted(&set)) {
                node_set_interrupted_error(&set, err);
                result = error_hint(err, "the run was not touched");
            } else if (set.hung_up) {
                result = hung_up(context, request, run, err);
            }
        }
    }
    node_set_close(&set);
    return result;
}

int run_wait(struct run_context *context, const char *name, const struct run_wait_request *request,
             struct run *run, struct error *err)
{
    int64_t began_ms = request->began_ms != 0 ? request->began_ms : clock_mono_ms();
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    for (;;) {
        struct run_supervisor other = {0};
        int lock = run_state_is_live(run->state) || request->with_logs
                       ? run_supervisor_enter(context->store, name, &other, err)
                       : -3;
        run_supervisor_release(&other);
        if (lock == -1) {
            return -1;
        }
        if (lock == -3) {
            return outcome(run, err);
        }
        if (lock >= 0) {
            struct supervise_loop loop = {
                .context = context, .request = request, .run = run, .began_ms = began_ms};
            loop.beat_ms = began_ms;
            int result = supervise_to_end(&loop, err);
            run_supervisor_leave(context->store, name, lock);
            return result;
        }
        int result = watch_record(context, request, run, began_ms, err);
        if (result <= 0) {
            return result == 0 ? outcome(run, err) : -1;
        }
    }
}

/* --- the supervisor ----------------------------------------------------------------------------- */

static int supervised_elsewhere(const char *name, struct run_supervisor *other, struct error *err)
{
    if (!other->host) {
        error_set(err, &kind_supervised, "run '%s' is supervised by another process", name);
    } else {
        error_set(err, &kind_supervised, "run '%s' is supervised on '%s' by pid %lld", name, other->host,
                  (long long)other->pid);
    }
    run_supervisor_release(other);
    return error_hint(err, "one is enough; `kill PID` there ends it, the run goes on");
}

static bool has_work(const struct run *run)
{
    return run_state_is_live(run->state) || run->cleanups_len > 0;
}

/* The supervisor's lock, for a run that needs a supervisor and has none. Returns the descriptor, or -1 with
 * err. */
static int take_post(struct run_context *context, const char *name, const struct run *run, struct error *err)
{
    struct run_supervisor other = {0};
    if (!has_work(run)) {
        error_set(err, &kind_run_over, "run '%s' is %s: there is nothing to supervise", name,
                  run_state_name(run->state));
        return error_hint(err, "`mtlaunch start` begins a new attempt");
    }
    int lock = run_supervisor_enter(context->store, name, &other, err);
    return lock == -2 ? supervised_elsewhere(name, &other, err) : lock;
}

/* The same, once the process that supervises the run has ended. -2: the run has ended by then. */
static int take_over_post(struct run_context *context, const char *name, struct run *run, struct error *err)
{
    const struct timespec pause = {.tv_nsec = TAKE_OVER_MS * INT64_C(1000000)};
    for (;;) {
        int lock = run_supervisor_enter(context->store, name, NULL, err);
        run_release(run);
        bool known = run_store_load(context->store, name, run, err) == 0;
        if (!known) {
            run_init(run);
        }
        if (known && has_work(run) && lock != -2) {
            return lock;
        }
        if (lock >= 0) {
            run_supervisor_leave(context->store, name, lock);
        }
        if (!known || lock == -1 || !has_work(run)) {
            return known && lock != -1 ? -2 : -1;
        }
        nanosleep(&pause, NULL);
    }
}

int run_supervise(struct run_context *context, const char *name, bool take_over, struct run *run,
                  struct error *err)
{
    static const struct run_wait_request request = {0};
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    int lock = take_over ? take_over_post(context, name, run, err) : take_post(context, name, run, err);
    if (lock < 0) {
        return lock == -2 ? 0 : -1;
    }
    struct supervise_loop loop = {
        .context = context,
        .request = &request,
        .stays = true,
        .run = run,
        .began_ms = clock_mono_ms(),
        .beat_ms = clock_mono_ms(),
    };
    run_note_event(context, run, "supervised", NULL, "by pid %lld", (long long)getpid());
    int result = supervise_to_end(&loop, err);
    run_supervisor_leave(context->store, name, lock);
    return result;
}
