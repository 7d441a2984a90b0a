/* Waits for a run's end by supervising it or, while another process does that, by watching its record. */
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "run/supervisor.h"
#include "stand_in_internal.h"
#include "supervise_internal.h"
#include "wait_internal.h"

#define TICK_MS      500 /* between two checks of the record */
#define TAKE_OVER_MS 100 /* between two checks whether the previous process has ended */

/* --- the end ------------------------------------------------------------------------------------ */

int wait_time_is_up(const struct run_wait_request *request, const struct run *run, struct error *err)
{
    return error_set(err, &kind_time_limit, "run '%s' %s %lu s", run->name,
                     request->stop_at_timeout ? "was stopped: its time limit passed after"
                                              : "continues after",
                     request->timeout_s);
}

bool wait_is_time_up(const struct run_wait_request *request, int64_t began_ms)
{
    return request->timeout_given && clock_mono_ms() - began_ms >= (int64_t)request->timeout_s * 1000;
}

int wait_outcome(const struct run *run, struct error *err)
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
    return judge_failure(run, err);
}

int wait_hung_up(struct run_context *context, const struct run_wait_request *request, const struct run *run,
                 struct error *err)
{
    if (request->hand_over) {
        run_leave_stand_in(context, run->name);
    }
    error_set(err, &kind_hung_up, "ended by SIGHUP");
    return error_hint(err, "the run continues%s: `mtlaunch status %s`",
                      request->hand_over ? " under a supervisor" : "", run->name);
}

/* --- watching the record ------------------------------------------------------------------------ */

/* Wait while another process supervises the run. Returns 1 when it no longer does. */
static int watch_record(struct run_context *context, const struct run_wait_request *request, struct run *run,
                        int64_t began_ms, struct error *err)
{
    struct node_set set;
    int result =
        node_set_open_run(&set, context, run, err); /* used only for signals and pauses: no node is asked */
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
        if (result == 0 && wait_is_time_up(request, began_ms)) {
            result = wait_time_is_up(request, run, err);
        }
        if (result == 0) {
            run_supervisor_find(context->store, run->name, &other);
            result = other.alive ? 0 : 1;
            run_supervisor_release(&other);
        }
        if (result == 0) {
            node_set_pause(&set, TICK_MS);
            if (node_set_is_interrupted(&set)) {
                node_set_interrupted_error(&set, err);
                result = error_hint(err, "the run was not touched");
            } else if (set.hung_up) {
                result = wait_hung_up(context, request, run, err);
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
            return wait_outcome(run, err);
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
            return result == 0 ? wait_outcome(run, err) : -1;
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
    return error_hint(err, "one supervisor is enough; `kill PID` there ends it, and the run continues");
}

static bool has_work(const struct run *run)
{
    return run_state_is_live(run->state) || run->cleanups_len > 0;
}

/*
 * Take the supervisor's lock, for a run that needs a supervisor and has none. Returns the descriptor, or -1
 * with err.
 */
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

/* The same, after waiting for the process that supervises the run to end. -2: the run has ended by then. */
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
