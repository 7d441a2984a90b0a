/* The status of a run: loads its record and updates it from the answers of its nodes. */
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "inventory_internal.h"
#include "judge_internal.h"
#include "leftovers_internal.h"
#include "lock_internal.h"
#include "node_set_internal.h"
#include "observe_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "read_progress_internal.h"
#include "run/supervisor.h"
#include "save_run_internal.h"
#include "status_internal.h"

#define FINISH_MS       4000
#define FINISH_PAUSE_MS 50

/* Whether the run's supervisor will begin another attempt. Then the run has not ended. */
static bool will_restart(const struct run_context *context, const struct run *run)
{
    AUTO_FREE int64_t *silent = xcalloc(run->nodes_len, sizeof(int64_t));
    const struct policy_view view = {.silent_since_ms = silent};
    return !run->stopping && policy_decide(run, &view).step == POLICY_STEP_RESTART &&
           run_store_has_respawn(context->store, run->name);
}

static bool is_supervised(const struct run_context *context, const struct run *run)
{
    struct run_supervisor supervisor;
    run_supervisor_find(context->store, run->name, &supervisor);
    bool alive = supervisor.alive;
    run_supervisor_release(&supervisor);
    return alive;
}

/*
 * The supervisor records the end of a run, with the last lines of its log: give it a moment. True when it has
 * done so; run is then the record that it wrote.
 */
static bool supervisor_finishes(const struct run_context *context, struct run *run)
{
    const struct timespec pause = {.tv_nsec = FINISH_PAUSE_MS * 1000000L};
    for (int i = 0; i < FINISH_MS / FINISH_PAUSE_MS; i++) {
        struct run fresh;
        if (run_store_load(context->store, run->name, &fresh, NULL) == 0) {
            if (!run_state_is_live(fresh.state) || fresh.attempt != run->attempt || fresh.restarting) {
                run_release(run);
                *run = fresh;
                return true;
            }
            run_release(&fresh);
        }
        if (!is_supervised(context, run)) {
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Save what was observed. Takes over the lock and releases it. */
static int keep_what_was_seen(struct run_context *context, struct run *run, int lock, struct error *err)
{
    if (will_restart(context, run)) {
        run->stopping = run->restarting = true; /* the supervisor continues from here */
    } else if (!run_state_is_live(judge_run(run, clock_real_ms()))) {
        close(lock);
        if (supervisor_finishes(context, run)) {
            return 0;
        }
        lock = run_lock(context, run->name, false, err);
        if (lock < 0) {
            return lock == -1 ? -1 : 0; /* another command holds it, and will write the record */
        }
        int changed = run_reload_if_changed(context, run, err);
        if (changed != 0) {
            close(lock);
            return changed < 0 ? -1 : 0; /* another command has written the record meanwhile */
        }
    }
    struct error unkept = ERROR_INIT;
    if (run_save_state(context, run, &unkept) != 0) {
        report_warn(context, "%s; what the nodes said is shown anyway", unkept.text);
    }
    close(lock);
    return 0;
}

/*
 * Check whether the processes that an ended run left behind are still alive. For nodes that do not answer,
 * the record is kept.
 */
static int observe_left_over(struct run_context *context, struct run *run, struct error *err)
{
    struct node_set set;
    struct leftovers found = {0};
    int result = node_set_open_run(&set, context, run, err);
    if (result == 0 && run_find_leftovers(&set, run, false, &found) != 0) {
        result = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    leftovers_release(&found);
    return result;
}

int run_look_at_ended(struct run_context *context, struct run *run, struct error *err)
{
    /* Nodes that were written off may answer by now: end what is left there. */
    pending_cleanup_warn(context, run);
    if (run->left_over_len > 0 && observe_left_over(context, run, err) != 0) {
        return -1;
    }
    return run->cleanups_len == 0 || is_supervised(context, run) ? 0 : pending_cleanup_try(context, run, err);
}

int run_look(struct node_set *set, struct run *run, struct error *err)
{
    struct run_context *context = set->context;
    int lock = -2;
    int result = run_observe_and_lock(set, run, &lock, err);
    if (result == 0 && lock >= 0 && !run_state_is_live(run_derive_state(run)) &&
        !is_supervised(context, run)) {
        run_report_leftovers(set, run, false);
    }
    if (result == 0) {
        run_read_progress(set, run);
        run_take_inventory(set, run, !run_has_open_node(run));
    }
    if (result == 0 && lock >= 0) {
        return keep_what_was_seen(context, run, lock, err);
    }
    if (lock >= 0) {
        close(lock);
    }
    return result;
}

int run_status(struct run_context *context, const char *name, struct run *run, struct error *err)
{
    struct node_set set;
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(run->state)) {
        return run_look_at_ended(context, run, err);
    }
    int result = node_set_open_run(&set, context, run, err);
    if (result == 0) {
        result = run_look(&set, run, err);
    }
    if (result == 0 && node_set_is_interrupted(&set)) {
        result = node_set_interrupted_error(&set, err); /* in a round whose answer is not needed */
    }
    node_set_close(&set);
    return result;
}
