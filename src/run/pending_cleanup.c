/*
 * Tries pending cleanups: nodes of earlier attempts that did not answer when the run continued without them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "save_run_internal.h"
#include "stop_internal.h"

/*
 * A record of an earlier version does not name the container that the work ran in, and looking on the node
 * itself would prove nothing.
 */
bool pending_cleanup_can_try(const struct run *run, const struct run_cleanup *cleanup)
{
    return cleanup->place_known || !run->place.container;
}

struct node_target pending_cleanup_target(const struct run *run, const struct run_cleanup *cleanup)
{
    return (struct node_target){
        .run = run->name,
        .run_id = run->id,
        .rank = cleanup->rank,
        .attempt = cleanup->attempt,
        .artifacts = cleanup->artifacts,
        .place = cleanup->place,
    };
}

/* Ask the node of one pending cleanup. 1: nothing is left there, 0: not proven, -1: interrupted. */
static int try_one(struct run_context *context, struct run *run, const struct run_cleanup *cleanup,
                   struct run_stop_result *result, struct error *err)
{
    struct node_set set;
    size_t unproven = 1;
    struct error unasked = ERROR_INIT;
    int code = 0;
    const struct host *host = &cleanup->host;
    const char *label = cleanup->label;
    const struct node_set_options options = {
        .hosts = &host,
        .labels = &label,
        .count = 1,
        .reach = cleanup->place_known ? &cleanup->reach : &run->reach,
    };
    if (node_set_open(&set, context, &options, &unasked) != 0) {
        report_warn(context, "%s: cannot look for what is left of attempt %u: %s", label, cleanup->attempt,
                    unasked.text);
    } else if (run_clean_up_node(&set, run, cleanup, result, &unproven) != 0) {
        code = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    return code != 0 ? -1 : unproven == 0;
}

void pending_cleanup_add(struct run *run, size_t index)
{
    const struct run_node *node = &run->nodes[index];
    struct run_cleanup *cleanup = run_add_cleanup(run);
    host_copy(&cleanup->host, &node->host);
    cleanup->label = xstrdup(node->label);
    cleanup->local = node->local;
    cleanup->artifacts = xstrdup(node->artifacts);
    const struct place place = run_node_place(run, index);
    place_copy(&cleanup->place, &place);
    reach_copy(&cleanup->reach, &run->reach);
    cleanup->place_known = true;
    cleanup->rank = node->rank;
    cleanup->attempt = run->attempt;
}

/* If the node was written off by a stop of the current attempt, it is now known to be stopped. */
static void note_stopped(struct run *run, const struct run_cleanup *cleanup)
{
    for (size_t i = 0; i < run->nodes_len && cleanup->attempt == run->attempt; i++) {
        struct run_node *node = &run->nodes[i];
        if (node->rank == cleanup->rank && node->written_off && node->state == NODE_LOST) {
            node->state = NODE_STOPPED;
            node->written_off = false;
            free(node->reason);
            node->reason = NULL;
        }
    }
}

int pending_cleanup_try_locked(struct run_context *context, struct run *run, struct run_stop_result *result,
                               struct error *err)
{
    const size_t before = run->cleanups_len;
    for (size_t i = run->cleanups_len; i-- > 0;) {
        if (!pending_cleanup_can_try(run, &run->cleanups[i])) {
            continue;
        }
        int done = try_one(context, run, &run->cleanups[i], result, err);
        if (done < 0) {
            return -1;
        }
        if (done > 0) {
            run_note_event(context, run, "cleaned", run->cleanups[i].label,
                           "it answers again: nothing of attempt %u is left there", run->cleanups[i].attempt);
            note_stopped(run, &run->cleanups[i]);
            run_drop_cleanup(run, i);
        }
    }
    return run->cleanups_len == before ? 0 : run_save_record(context, run, err);
}

int pending_cleanup_try(struct run_context *context, struct run *run, struct error *err)
{
    struct run fresh;
    struct run_stop_result result = {0};
    AUTO_CLOSE int lock = run_lock(context, run->name, false, err);
    if (lock < 0) {
        return lock == -2 ? 0 : -1;
    }
    if (run_store_load(context->store, run->name, &fresh, err) != 0) {
        return -1;
    }
    run_release(run);
    *run = fresh;
    int code = pending_cleanup_try_locked(context, run, &result, err);
    run_stop_result_release(&result);
    return code;
}

void pending_cleanup_warn(const struct run_context *context, const struct run *run)
{
    for (size_t i = 0; i < run->cleanups_len; i++) {
        const struct run_cleanup *cleanup = &run->cleanups[i];
        if (!pending_cleanup_can_try(run, cleanup)) {
            report_warn(
                context,
                "%s: cannot look for what is left of attempt %u: the record is from an earlier version "
                "and does not name its container; look there by hand, `mtlaunch remove %s` forgets it",
                cleanup->label, cleanup->attempt, run->name);
        }
    }
}

int pending_cleanup_finish(struct run_context *context, struct run *run, struct run_stop_result *result,
                           struct error *err)
{
    if (run->cleanups_len == 0) {
        return 0;
    }
    pending_cleanup_warn(context, run);
    if (pending_cleanup_try_locked(context, run, result, err) != 0) {
        return -1;
    }
    if (run->cleanups_len == 0) {
        return 0;
    }
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; i < run->cleanups_len; i++) {
        strlist_add(&names, run->cleanups[i].label);
    }
    AUTO_FREE char *joined = strlist_join(&names, ", ");
    error_set(err, &kind_not_proven,
              "could not verify that run '%s' has stopped on %s, which did not answer before", run->name,
              joined);
    return error_hint(err, "repeat `mtlaunch stop %s`, which is safe", run->name);
}
