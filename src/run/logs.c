/* Prints the logs of a run's nodes. */
#include <string.h>

#include "base/alloc.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "select_internal.h"
#include "tails_internal.h"

#define TICK_MS 500

static int select_nodes(const struct run *run, const struct run_logs_request *request, bool *selected,
                        struct error *err)
{
    size_t count = 0;
    if (run_select_nodes(run, request->nodes, selected, &count, err) != 0) {
        return -1;
    }
    if (request->raw && count != 1) {
        error_set(err, &kind_usage, "'--raw' shows the bytes of one node, but %zu were asked for", count);
        return error_hint(err, "name it with --node");
    }
    return 0;
}

static int check_attempt(const struct run *run, unsigned attempt, struct error *err)
{
    if (attempt > run->attempt) {
        error_set(err, &kind_no_such_run, "run '%s' has no attempt %u", run->name, attempt);
        return error_hint(err, "its attempts are 1 to %u", run->attempt);
    }
    return 0;
}

int run_logs_select(const struct run *run, const struct run_logs_request *request, bool *selected,
                    struct error *err)
{
    int result = select_nodes(run, request, selected, err);
    return result == 0 ? check_attempt(run, request->attempt, err) : result;
}

static int logs_outcome(const struct tails *tails, const struct node_set *set, const struct run *run,
                        struct error *err)
{
    const struct node_failures *failures = tails_failures(tails);
    struct error worst = ERROR_INIT;
    if (node_set_is_interrupted(set)) {
        return node_set_interrupted_error(set, err);
    }
    node_failures_report(failures, set->context, &worst);
    if (failures->count > 0) {
        return error_set(err, worst.kind, "%zu of %zu logs of run '%s' could not be read to their end",
                         failures->count, run->nodes_len, run->name);
    }
    const struct strlist *missing = tails_missing(tails);
    if (missing->len > 0) {
        AUTO_STR struct str names = STR_INIT;
        hostlist_fold_names(missing->items, missing->len, &names);
        report_warn(set->context, "%s: no log of this attempt", str_text(&names));
    }
    return 0;
}

static int logs_with_set(struct node_set *set, const struct run *run, const struct run_logs_request *request,
                         const bool *selected, struct error *err)
{
    const struct run_observer *observer = set->context->observer;
    const struct node_tail_options options = {
        .attempt = request->attempt,
        .from = request->all ? NODE_TAIL_ALL : NODE_TAIL_LINES,
        .count = request->lines,
        .follow = request->follow,
        .filter = request->follow ? NULL : request->filter,
        .filter_fixed = request->filter_fixed,
    };
    struct tails *tails = tails_open(set, run, selected, &options, NULL);
    while (tails_left(tails) > 0 && !node_set_is_interrupted(set)) {
        node_set_pause(set, TICK_MS);
        if (observer->tick) {
            observer->tick(observer->ctx);
        }
    }
    int result = logs_outcome(tails, set, run, err);
    node_set_close(set);
    tails_free(tails);
    return result;
}

int run_logs(struct run_context *context, const char *name, const struct run_logs_request *request,
             struct error *err)
{
    struct run run;
    struct node_set set;
    if (run_store_load(context->store, name, &run, err) != 0) {
        return -1;
    }
    AUTO_FREE bool *selected = xcalloc(run.nodes_len, sizeof(bool));
    int result = run_logs_select(&run, request, selected, err);
    if (result == 0) {
        result = node_set_open_run(&set, context, &run, err);
        if (result == 0 && request->follow) {
            result = node_set_hold(&set, err);
        }
        if (result == 0) {
            result = logs_with_set(&set, &run, request, selected, err);
        } else {
            node_set_close(&set);
        }
    }
    run_release(&run);
    return result;
}
