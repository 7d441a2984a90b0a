/*
 * Removes the record of a run. With artifacts, first removes its files on the nodes, by the exact names of
 * each rank.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "leftovers_internal.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "round_internal.h"

#define REMOVE_TIMEOUT_MS 30000

/* The ranks that a node has had in the attempts of the run: each has left files of its own. */
struct had_ranks {
    unsigned *items;
    size_t len, cap;
};

struct removal {
    struct run_context *context;
    const struct run *run;
    struct had_ranks *ranks; /* one per node */
    size_t pass;             /* index of the rank whose files are being removed */
    struct node_failures failures;
};

static void add_rank(struct had_ranks *ranks, unsigned rank)
{
    for (size_t i = 0; i < ranks->len; i++) {
        if (ranks->items[i] == rank) {
            return;
        }
    }
    ranks->items = xgrow(ranks->items, ranks->len, &ranks->cap, sizeof(ranks->items[0]));
    ranks->items[ranks->len++] = rank;
}

static long find_node(const struct run *run, const char *label)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (strcmp(run->nodes[i].label, label) == 0) {
            return (long)i;
        }
    }
    return -1;
}

/* Fill the ranks of every node. gone receives nodes of earlier attempts that the record no longer lists. */
static void gather_ranks(struct removal *removal, struct strlist *gone)
{
    const struct run *run = removal->run;
    for (size_t i = 0; i < run->nodes_len; i++) {
        add_rank(&removal->ranks[i], run->nodes[i].rank);
    }
    for (size_t i = 0; i < run->attempts_len; i++) {
        const struct strlist *labels = &run->attempts[i].nodes;
        for (size_t rank = 0; rank < labels->len; rank++) {
            long node = find_node(run, labels->items[rank]);
            if (node >= 0) {
                add_rank(&removal->ranks[node], (unsigned)rank);
            } else if (!strlist_has(gone, labels->items[rank])) {
                strlist_add(gone, labels->items[rank]);
            }
        }
    }
}

/* --- the round ---------------------------------------------------------------------------------- */

static bool remove_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct removal *removal = ctx;
    if (removal->pass >= removal->ranks[node].len || removal->failures.errors[node].kind) {
        return false;
    }
    struct node_target target = run_node_target(removal->run, node);
    target.rank = removal->ranks[node].items[removal->pass];
    node_request_remove(&target, true, nonce, call);
    return true;
}

static int judge_removal(const struct removal *removal, size_t node, const struct node_removal *answer,
                         struct error *err)
{
    const struct run *run = removal->run;
    if (answer->removed) {
        return 0;
    }
    if (answer->live.len > 0) {
        error_set(err, &kind_not_proven, "processes of run '%s' are still running there: nothing was removed",
                  run->name);
        return error_hint(err, "`mtlaunch stop %s` ends them", run->name);
    }
    /* The files belong to another run of this name: they stay, and this record can be removed. */
    report_warn(removal->context, "%s: the files of '%s' there belong to another run of this name; they stay",
                run->nodes[node].label, run->name);
    return 0;
}

static int remove_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct node_removal answer;
    int result = node_answer_remove(bytes, len, nonce, &answer, err);
    if (result == 0) {
        result = judge_removal(ctx, node, &answer, err);
    } else if (err->kind == &kind_scan_failed) {
        err->kind = &kind_not_proven;
    }
    node_removal_release(&answer);
    return result;
}

static void remove_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct removal *removal = ctx;
    (void)started;
    if (!error_is_interruption(error)) {
        node_failures_set(&removal->failures, node, error);
    }
}

static int ask_nodes(struct removal *removal, bool force, struct error *err)
{
    struct node_set set;
    size_t passes = 1;
    const struct node_question question = {
        .what = "removing",
        .ctx = removal,
        .timeout_ms = REMOVE_TIMEOUT_MS,
        .build = remove_build,
        .take = remove_take,
        .failed = remove_failed,
    };
    int result = node_set_open_run(&set, removal->context, removal->run, err);
    if (result != 0 && force) {
        node_set_close(&set);
        return 0; /* check_nothing_lives has reported what may be left there */
    }
    for (size_t i = 0; i < removal->run->nodes_len; i++) {
        passes = removal->ranks[i].len > passes ? removal->ranks[i].len : passes;
    }
    for (; result == 0 && removal->pass < passes; removal->pass++) {
        if (node_set_ask(&set, &question) != 0) {
            result = node_set_interrupted_error(&set, err);
        }
    }
    node_set_close(&set);
    return result;
}

/*
 * With force: report what stays on nodes that could not be asked. false: a process of the run is alive on a
 * node.
 */
static bool pass_over(const struct removal *removal)
{
    for (size_t i = 0; i < removal->failures.len; i++) {
        if (removal->failures.errors[i].kind == &kind_not_proven) {
            return false;
        }
    }
    for (size_t i = 0; i < removal->failures.len; i++) {
        if (removal->failures.errors[i].kind) {
            report_warn(removal->context, "%s: %s; its files and what else may be left there are forgotten",
                        removal->run->nodes[i].label, removal->failures.errors[i].text);
        }
    }
    return true;
}

static int conclude(const struct removal *removal, bool force, struct error *err)
{
    const struct run *run = removal->run;
    struct error worst = ERROR_INIT;
    if (removal->failures.count == 0 || (force && pass_over(removal))) {
        return 0;
    }
    node_failures_report(&removal->failures, removal->context, &worst);
    error_set(err, worst.kind,
              "the record of run '%s' was kept: its files were not removed from %zu of %zu nodes", run->name,
              removal->failures.count, run->nodes_len);
    return error_hint(err,
                      "repeat `mtlaunch remove %s --artifacts`, which is safe; --force forgets the run and "
                      "leaves them there",
                      run->name);
}

static int remove_artifacts(struct run_context *context, const struct run *run, bool force, struct error *err)
{
    AUTO_STRLIST struct strlist gone = STRLIST_INIT;
    struct removal removal = {
        .context = context,
        .run = run,
        .ranks = xcalloc(run->nodes_len + 1, sizeof(struct had_ranks)),
    };
    node_failures_init_run(&removal.failures, run);
    gather_ranks(&removal, &gone);
    int result = ask_nodes(&removal, force, err);
    if (result == 0) {
        result = conclude(&removal, force, err);
    }
    if (result == 0 && gone.len > 0) {
        AUTO_FREE char *names = strlist_join(&gone, ", ");
        report_warn(context,
                    "earlier attempts ran on hosts that are no longer recorded; their files stay on: %s",
                    names);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        free(removal.ranks[i].items);
    }
    free(removal.ranks);
    node_failures_release(&removal.failures);
    return result;
}

/* --- the command -------------------------------------------------------------------------------- */

static int check_ended(const struct run *run, struct error *err)
{
    if (!run_state_is_live(run->state)) {
        return 0;
    }
    error_set(err, &kind_run_live, "run '%s' is %s", run->name, run_state_name(run->state));
    if (run->state == RUN_LOST || run->state == RUN_STOPPING) {
        return error_hint(
            err, "`mtlaunch stop %s` ends it; `mtlaunch remove %s --force` forgets what can't be asked",
            run->name, run->name);
    }
    return error_hint(err, "`mtlaunch stop %s` ends it", run->name);
}

static void report_forgotten(struct run_context *context, const struct run *run,
                             const struct leftovers *found)
{
    for (size_t i = 0; i < run->cleanups_len; i++) {
        report_warn(
            context,
            "%s was written off and does not answer; what may be left there is forgotten with the run",
            run->cleanups[i].label);
    }
    for (size_t i = 0; i < found->silent.len; i++) {
        report_warn(context, "%s; what may be left there is forgotten with the run", found->silent.items[i]);
    }
}

/* The nodes cannot even be tried (a missing key, an error in an ssh_config). */
static int forget_unasked(struct run_context *context, const struct run *run, const struct error *why)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        strlist_add(&labels, run->nodes[i].label);
    }
    AUTO_FREE char *names = strlist_join(&labels, ", ");
    report_warn(context, "%s; what may be left on %s is forgotten with the run", why->text, names);
    return 0;
}

/*
 * Without the record nobody can find the run's processes any more, so check first that none is left. Nodes
 * that do not answer are reported, but do not keep the record: otherwise that of a run on a dead cluster
 * would stay forever.
 */
static int check_nothing_lives(struct run_context *context, struct run *run, bool force, struct error *err)
{
    struct node_set set;
    struct leftovers found = {0};
    int result = node_set_open_run(&set, context, run, err);
    if (result != 0 && force) {
        node_set_close(&set);
        return forget_unasked(context, run, err);
    }
    if (result == 0 && run_find_leftovers(&set, run, true, &found) != 0) {
        result = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    if (result == 0 && found.lines.len > 0) {
        AUTO_FREE char *lines = strlist_join(&found.lines, "; ");
        error_set(err, &kind_run_live, "run '%s' %s: %s", run->name,
                  run_state_is_live(run->state) ? "is still live" : "has ended, but not completely", lines);
        result = error_hint(err, "`mtlaunch stop %s` ends what is left", run->name);
    }
    if (result == 0 && found.unproven.len > 0) {
        AUTO_FREE char *lines = strlist_join(&found.unproven, "; ");
        error_set(err, &kind_not_proven, "could not verify that nothing of run '%s' is left: %s", run->name,
                  lines);
        result =
            error_hint(err, "free processes or memory there, then repeat `mtlaunch remove %s`", run->name);
    }
    if (result == 0) {
        report_forgotten(context, run, &found);
    }
    leftovers_release(&found);
    return result;
}

/* Clean up nodes that were written off first; if that is not possible, the run is kept. */
static int clean_before_forgetting(struct run_context *context, struct run *run, struct error *err)
{
    struct run_stop_result ended = {0};
    int result = pending_cleanup_finish(context, run, &ended, err);
    run_stop_result_release(&ended);
    if (result != 0 && error_is(err, &kind_not_proven)) {
        error_hint(
            err,
            "`mtlaunch stop %s` tries again; `mtlaunch remove %s --force` forgets what may be left there",
            run->name, run->name);
    }
    return result;
}

/*
 * The caller holds the lock, so that nobody starts the run meanwhile, and the record read here is the one
 * that is removed.
 */
static int remove_locked(struct run_context *context, const char *name,
                         const struct run_remove_request *request, struct error *err)
{
    struct run run;
    int result = run_store_load(context->store, name, &run, err);
    if (result == 0 && !request->force) {
        result = check_ended(&run, err);
    }
    if (result == 0 && !request->force) {
        result = clean_before_forgetting(context, &run, err);
    }
    if (result == 0 && (request->force || !request->artifacts)) {
        result = check_nothing_lives(context, &run, request->force, err);
    }
    if (result == 0 && request->artifacts) {
        result = remove_artifacts(context, &run, request->force, err);
    }
    if (result == 0) {
        result = run_store_raise_counter(context->store, run.job, name, err);
    }
    run_release(&run);
    return result == 0 ? run_store_remove(context->store, name, err) : -1;
}

int run_remove(struct run_context *context, const char *name, const struct run_remove_request *request,
               struct error *err)
{
    if (!run_store_has(context->store, name)) {
        struct run none;
        return run_store_load(context->store, name, &none, err);
    }
    if (!request->force) {
        struct run run;
        run_init(&run);
        int result = run_status(context, name, &run, err);
        if (result == 0) {
            result = check_ended(&run, err);
        }
        run_release(&run);
        if (result != 0) {
            return -1;
        }
    }
    AUTO_CLOSE int lock = run_lock(context, name, true, err);
    return lock < 0 ? -1 : remove_locked(context, name, request, err);
}
