/* Waiting for a run's end: as its guard, or, while another process guards it, by its record alone. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "guard_internal.h"
#include "model/kind.h"
#include "run/supervisor.h"

#define TICK_MS      1000
#define DRAIN_MS     10000 /* the run has ended: time for the last bytes of its logs */
#define BEAT_MS      60000 /* of the supervisor's file */
#define DEBT_MS      30000 /* between two tries to reach a node of an earlier attempt */
#define TAKE_OVER_MS 100   /* between two looks whether the process before has gone */
#define DEBT_MAX_MS  (24 * 3600 * INT64_C(1000))

static void tick(struct guard *guard, unsigned ms)
{
    const struct run_observer *observer = guard->context->observer;
    crew_pause(&guard->crew, ms);
    if (observer->tick) {
        observer->tick(observer->ctx);
    }
}

static void drain_logs(struct guard *guard)
{
    int64_t until = clock_mono_ms() + DRAIN_MS;
    while (guard->tails && tails_left(guard->tails) > 0 && clock_mono_ms() < until &&
           !crew_is_interrupted(&guard->crew)) {
        tick(guard, 100);
    }
}

/* --- limits ------------------------------------------------------------------------------------- */

static bool has_lost_node(const struct run *run)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (run->nodes[i].state == NODE_LOST) {
            return true;
        }
    }
    return false;
}

/* Nobody but the supervisor waits for nodes that do not come back. */
static int check_lost(struct guard *guard, struct error *err)
{
    const struct run *run = guard->run;
    int64_t now = clock_mono_ms();
    if (guard->stays || !has_lost_node(run)) {
        guard->lost_since_ms = 0;
        return 0;
    }
    if (guard->lost_since_ms == 0) {
        guard->lost_since_ms = now;
        tell_warn(guard->context, "run '%s' has nodes that do not answer", run->name);
    }
    if (now - guard->lost_since_ms < (int64_t)run->policy.lost_after_s * 1000) {
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

static int check_time(struct guard *guard, struct error *err)
{
    if (!is_time_up(guard->request, guard->began_ms)) {
        return 0;
    }
    if (guard->request->stop_at_timeout && guard_stop(guard, "the time limit passed", err) != 0) {
        return -1;
    }
    return time_is_up(guard->request, guard->run, err);
}

/* The spec's time_limit, over all attempts of this start. A stop that somebody else began is not disturbed.
 */
static int check_limit(struct guard *guard, struct error *err)
{
    const struct run *run = guard->run;
    if (run->limit_ms == 0 || run->timed_out || (run->stopping && !run->restarting) ||
        clock_real_ms() < run->limit_ms) {
        return 0;
    }
    return guard_stop_at_limit(guard, err);
}

/* --- the end ------------------------------------------------------------------------------------ */

static int outcome(const struct run *run, struct error *err)
{
    if (run->timed_out && run->state != RUN_FINISHED) {
        return error_set(err, &kind_time_limit, "run '%s' was stopped: its time limit of %lu s has passed",
                         run->name, run->policy.time_limit_s);
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
    return error_set(err, &kind_run_failed, "run '%s' failed: %s", run->name,
                     run->reason ? run->reason : "no reason is known");
}

/* Ctrl-C or TERM: with stop_on_signal the run ends too. err holds the interruption, or what outweighs it. */
static int interrupted(struct guard *guard, struct error *err)
{
    struct error worse = ERROR_INIT;
    if (!guard->request->stop_on_signal) {
        crew_interrupted_error(&guard->crew, err);
        return error_hint(err, "the run was not touched");
    }
    guard->crew.patience = guard->crew.signals;
    crew_interrupted_error(&guard->crew, err);
    run_leave_stand_in(guard->context, guard->run->name);
    if (guard_stop(guard, err->text, &worse) == 0) {
        if (guard->run->state == RUN_STOPPED) {
            run_tell_stopped(guard->context, guard->run, NULL);
        }
    } else {
        for (size_t i = 0; i < guard->run->nodes_len && crew_is_interrupted(&guard->crew); i++) {
            const struct run_node *node = &guard->run->nodes[i];
            if (node->state == NODE_RUNNING || node->state == NODE_LOST) {
                tell_warn(guard->context, "%s: may still run", node->label);
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

/* --- guarding ----------------------------------------------------------------------------------- */

static void beat(struct guard *guard)
{
    if (clock_mono_ms() - guard->beat_ms >= BEAT_MS) {
        guard->beat_ms = clock_mono_ms();
        run_supervisor_beat(guard->context->store, guard->run->name, NULL);
    }
}

/* Trouble of this machine's (a full disk) passes, or it does not: the supervisor stays at its post. */
static bool outlasts(struct guard *guard, struct error *err)
{
    if (!guard->stays || err->kind->exit_code != kind_local.exit_code) {
        return false;
    }
    tell_warn(guard->context, "%s", err->text);
    err->kind = NULL;
    guard->due = true;
    return true;
}

static int guard_on(struct guard *guard, struct error *err)
{
    while (run_state_is_live(guard->run->state) && !guard->superseded) {
        int result = guard_turn(guard, err);
        if (result != 0 && outlasts(guard, err)) {
            result = 0;
        }
        if (result == 0 && run_state_is_live(guard->run->state)) {
            result = check_lost(guard, err);
        }
        if (result == 0 && run_state_is_live(guard->run->state)) {
            result = check_time(guard, err);
        }
        if (result == 0 && run_state_is_live(guard->run->state)) {
            result = check_limit(guard, err);
        }
        if (result == 0 && run_state_is_live(guard->run->state)) {
            tick(guard, TICK_MS);
        }
        if (guard->crew_open && crew_is_interrupted(&guard->crew)) {
            return interrupted(guard, err);
        }
        if (result == 0 && run_state_is_live(guard->run->state) && (guard->hung_up || guard->crew.hung_up)) {
            return hung_up(guard->context, guard->request, guard->run, err);
        }
        if (result != 0) {
            return -1;
        }
        beat(guard);
    }
    return 0;
}

/* Nodes of earlier attempts that did not answer: their processes are ended when they do. */
static int collect_debts(struct guard *guard, struct error *err)
{
    int64_t until = clock_mono_ms() + DEBT_MAX_MS;
    while (guard->stays && guard->run->debts_len > 0 && clock_mono_ms() < until) {
        if (run_pay_debts(guard->context, guard->run, err) != 0) {
            return -1;
        }
        for (int i = 0; guard->run->debts_len > 0 && i < DEBT_MS / TICK_MS; i++) {
            tick(guard, TICK_MS);
            beat(guard);
            if (crew_is_interrupted(&guard->crew)) {
                return crew_interrupted_error(&guard->crew, err);
            }
            if (run_store_mark(guard->context->store, guard->run->name) != guard->record_mark) {
                return 0; /* somebody has started it again, stopped it or removed it */
            }
        }
    }
    return 0;
}

static int guard_run(struct guard *guard, struct error *err)
{
    /* With logs also an ended run is opened: a job may be over before its waiting begins. */
    int result = 0;
    if (run_state_is_live(guard->run->state) || guard->request->with_logs) {
        result = guard_open(guard, err);
    }
    if (result == 0) {
        result = guard_on(guard, err);
        if (result == 0 || !run_state_is_live(guard->run->state)) {
            drain_logs(guard);
        }
    }
    if (result == 0 && guard->crew_open) {
        guard->record_mark = run_store_mark(guard->context->store, guard->run->name);
        result = collect_debts(guard, err);
    }
    guard_close(guard);
    free(guard->kept);
    return result == 0 ? outcome(guard->run, err) : -1;
}

/* --- by the record ------------------------------------------------------------------------------ */

/* While another process guards the run. Returns 1 when it does no longer. */
static int watch_record(struct run_context *context, const struct run_wait_request *request, struct run *run,
                        int64_t began_ms, struct error *err)
{
    struct crew crew;
    int result = crew_open(&crew, context, run, err); /* for its signals and pauses: no node is asked */
    if (result == 0 && request->end_on_hangup) {
        crew_catch_hangup(&crew);
    }
    int64_t mark = 0;
    struct run_supervisor other;
    while (result == 0 && run_state_is_live(run->state)) {
        int64_t now = run_store_mark(context->store, run->name);
        if (now != mark) {
            struct run fresh;
            mark = now;
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
            crew_pause(&crew, TICK_MS / 2);
            if (crew_is_interrupted(&crew)) {
                crew_interrupted_error(&crew, err);
                result = error_hint(err, "the run was not touched");
            } else if (crew.hung_up) {
                result = hung_up(context, request, run, err);
            }
        }
    }
    crew_close(&crew);
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
            struct guard guard = {.context = context, .request = request, .run = run, .began_ms = began_ms};
            guard.beat_ms = began_ms;
            int result = guard_run(&guard, err);
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
    return run_state_is_live(run->state) || run->debts_len > 0;
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

/* The same once the process that supervises the run has gone. -2: the run has ended by then. */
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
    struct guard guard = {
        .context = context,
        .request = &request,
        .stays = true,
        .run = run,
        .began_ms = clock_mono_ms(),
        .beat_ms = clock_mono_ms(),
    };
    run_note_event(context, run, "supervised", NULL, "by pid %lld", (long long)getpid());
    int result = guard_run(&guard, err);
    run_supervisor_leave(context->store, name, lock);
    return result;
}
