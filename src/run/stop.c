/* Stops a run: asks its nodes to end the run's processes, and verifies that nothing is left. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "judge_internal.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "pending_cleanup_internal.h"
#include "round_internal.h"
#include "save_run_internal.h"
#include "stand_in_internal.h"
#include "stop_internal.h"

#define STOP_MARGIN_MS 60000 /* beyond the grace time: for scans of a busy node, KILL and the proof */

void run_stop_result_release(struct run_stop_result *result)
{
    for (size_t i = 0; i < result->survivors_len; i++) {
        free(result->survivors[i].host);
        free(result->survivors[i].state);
        free(result->survivors[i].command);
    }
    free(result->survivors);
    strlist_release(&result->cleaned);
    strlist_release(&result->unproven);
    *result = (struct run_stop_result){0};
}

/* --- the round ---------------------------------------------------------------------------------- */

struct stop_round {
    struct run_context *context;
    struct run *run;
    const struct run_cleanup *cleanup; /* the only node is that of this cleanup; NULL: the nodes of the run */
    const struct stop_nodes_request *request;
    struct run_stop_result *result;
    struct node_failures failures;
    size_t *unproven;
    bool *silent;
};

static struct node_target target_of(const struct stop_round *round, size_t node)
{
    return round->cleanup ? pending_cleanup_target(round->run, round->cleanup)
                          : run_node_target(round->run, node);
}

static const char *label_of(const struct stop_round *round, size_t node)
{
    return round->cleanup ? round->cleanup->label : round->run->nodes[node].label;
}

static bool stop_wanted(void *ctx, size_t node)
{
    const struct stop_round *round = ctx;
    return !round->request->nodes || round->request->nodes[node];
}

static bool stop_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct stop_round *round = ctx;
    const struct node_target target = target_of(round, node);
    const struct node_stop_options options = {
        .signal = round->request->signal,
        .grace_s = round->request->grace_s,
        .only_attempt = round->request->only_attempt,
    };
    node_request_stop(&target, &options, nonce, call);
    return true;
}

static void add_survivors(const struct stop_round *round, size_t node, const struct node_processes *survivors)
{
    struct run_stop_result *result = round->result;
    for (size_t i = 0; i < survivors->len; i++) {
        result->survivors = xgrow(result->survivors, result->survivors_len, &result->survivors_cap,
                                  sizeof(*result->survivors));
        result->survivors[result->survivors_len++] = (struct run_survivor){
            .rank = target_of(round, node).rank,
            .host = xstrdup(label_of(round, node)),
            .pid = survivors->items[i].pid,
            .state = xasprintf("%c", survivors->items[i].state),
            .command = xstrdup(survivors->items[i].command),
        };
    }
}

static void add_cleaned(const struct stop_round *round, size_t node, const struct node_processes *leftovers)
{
    if (leftovers->total == 0) {
        return;
    }
    AUTO_STR struct str pids = STR_INIT;
    for (size_t i = 0; i < leftovers->len; i++) {
        const char *command = leftovers->items[i].command ? leftovers->items[i].command : "?";
        str_addf(&pids, "%s%lld (%s)", i == 0 ? "" : ", ", (long long)leftovers->items[i].pid, command);
    }
    strlist_addf(&round->result->cleaned, "%s: ended %llu leftover process%s: %s", label_of(round, node),
                 (unsigned long long)leftovers->total, leftovers->total == 1 ? "" : "es", str_text(&pids));
}

/*
 * Warn of runs that were started inside this one: they are not stopped with it. A run's id is its name
 * followed by 9 characters.
 */
static void report_inner(const struct stop_round *round, const char *label, const struct strlist *inner)
{
    AUTO_STRLIST struct strlist named = STRLIST_INIT;
    for (size_t i = 0; i < inner->len; i++) {
        size_t len = strlen(inner->items[i]);
        AUTO_FREE char *name = xstrndup(inner->items[i], len > 9 ? len - 9 : len);
        if (strlist_has(&named, name) || strcmp(name, round->run->name) == 0) {
            continue;
        }
        strlist_add(&named, name);
        report_warn(round->context,
                    "%s: run '%s' was started inside '%s' and continues; `mtlaunch stop %s` ends it", label,
                    name, round->run->name, name);
        run_note_event(round->context, round->run, "inner-run", label,
                       "run '%s' was started inside this one and continues", name);
    }
}

/*
 * The node could not verify that nothing is left: this is an error of the node. Survivors that it knows are
 * still reported.
 */
static int unproven_error(const struct stop_round *round, size_t node, const struct node_stop *stop,
                          struct error *err)
{
    strlist_addf(&round->result->unproven, "%s: %s", label_of(round, node), stop->unproven);
    return node_unproven_error(&kind_not_proven, stop->unproven, err);
}

/* Whether an earlier stop reached the node, or may have. */
static bool may_have_been_reached(const struct stop_round *round, size_t node)
{
    return round->request->repeated && !(round->request->missed && round->request->missed[node]);
}

static int stop_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                     struct error *err)
{
    struct stop_round *round = ctx;
    struct node_stop stop;
    int result = node_answer_stop(bytes, len, nonce, &stop, err);
    if (result == 0) {
        if (!round->request->sweep && !stop.unproven) {
            judge_stop(&round->run->nodes[node], &stop, may_have_been_reached(round, node));
            round->run->nodes[node].stop_missed = false;
        }
        report_inner(round, label_of(round, node), &stop.inner);
        add_survivors(round, node, &stop.survivors);
        add_cleaned(round, node, &stop.leftovers);
        if (stop.unproven) {
            result = unproven_error(round, node, &stop, err);
        } else {
            *round->unproven += stop.survivors.total > 0 ? 1 : 0;
        }
    }
    node_stop_release(&stop);
    return result;
}

static void stop_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct stop_round *round = ctx;
    ++*round->unproven;
    node_failures_set(&round->failures, node, error);
    if (round->silent) {
        round->silent[node] = true;
    }
    if (!round->request->sweep) {
        round->run->nodes[node].stop_missed = !started && !may_have_been_reached(round, node);
    }
    bool cut_off = error_is_interruption(error);
    if (!round->request->sweep && !cut_off) {
        judge_silence(&round->run->nodes[node], error);
    }
}

/* Ask the nodes of set. 0, or -1 when interrupted. */
static int ask_to_stop(struct node_set *set, struct stop_round *round)
{
    const struct node_question question = {
        .what = "stopping",
        .ctx = round,
        .timeout_ms = (unsigned)(round->request->grace_s * 1000) + STOP_MARGIN_MS,
        .wanted = stop_wanted,
        .build = stop_build,
        .take = stop_take,
        .failed = stop_failed,
    };
    *round->unproven = 0;
    round->context = set->context;
    node_failures_init(&round->failures, &set->labels);
    int interrupted = node_set_ask(set, &question);
    if (interrupted == 0 && !round->request->quiet) {
        node_failures_report(&round->failures, set->context, NULL);
    }
    node_failures_release(&round->failures);
    return interrupted;
}

int run_stop_nodes(struct node_set *set, struct run *run, const struct stop_nodes_request *request,
                   struct run_stop_result *result, size_t *unproven, bool *silent)
{
    struct stop_round round = {
        .run = run, .request = request, .result = result, .unproven = unproven, .silent = silent};
    return ask_to_stop(set, &round);
}

int run_clean_up_node(struct node_set *set, struct run *run, const struct run_cleanup *cleanup,
                      struct run_stop_result *result, size_t *unproven)
{
    const struct stop_nodes_request request = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .sweep = true,
        .quiet = true,
        .only_attempt = true, /* a later attempt may be running there */
    };
    struct stop_round round = {
        .run = run, .cleanup = cleanup, .request = &request, .result = result, .unproven = unproven};
    return ask_to_stop(set, &round);
}

int run_unproven_error(const struct run *run, const struct run_stop_result *result, size_t unproven,
                       struct error *err)
{
    AUTO_STR struct str names = STR_INIT;
    for (size_t i = 0; i < result->survivors_len && i < 8; i++) {
        const struct run_survivor *survivor = &result->survivors[i];
        str_addf(&names, "%s%s: pid %lld, state %s%s, %s", i == 0 ? "; " : ", ", survivor->host,
                 (long long)survivor->pid, survivor->state,
                 strcmp(survivor->state, "D") == 0 ? " (unkillable: it waits in the kernel)" : "",
                 survivor->command ? survivor->command : "?");
    }
    for (size_t i = 0; i < result->unproven.len && i < 8; i++) {
        str_addf(&names, "; %s", result->unproven.items[i]);
    }
    error_set(err, &kind_not_proven, "could not verify that run '%s' has stopped on %zu of %zu nodes%s",
              run->name, unproven, run->nodes_len, str_text(&names));
    return error_hint(
        err, "repeat `mtlaunch stop %s`, which is safe; --give-up writes off nodes that can't be reached",
        run->name);
}

void run_report_stopped(const struct run_context *context, const struct run *run, const bool *nodes)
{
    size_t count = 0;
    for (size_t i = 0; i < run->nodes_len; i++) {
        count += !nodes || nodes[i] ? 1 : 0;
    }
    report_info(context, "%s: stopped on %zu node%s", run->name, count, count == 1 ? "" : "s");
}

/* --- the command -------------------------------------------------------------------------------- */

static void write_off(struct run *run, const bool *silent)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (silent[i] && !run->nodes[i].written_off) {
            run->nodes[i].written_off = true;
            pending_cleanup_add(run, i);
        }
    }
}

/* All nodes were asked: set and save the state of the run. */
static int stop_conclude(struct run_context *context, struct run *run,
                         const struct stop_nodes_request *request, bool give_up,
                         const struct run_stop_result *result, size_t unproven, const bool *silent,
                         struct error *err)
{
    give_up = give_up && result->survivors_len == 0;
    if (request->conclude) {
        request->conclude(request->ctx);
    }
    int kept = 0;
    if (unproven == 0 && run->left_over_len > 0) {
        run_forget_left_over(run, NULL);
        kept = request->sweep ? run_save_record(context, run, err) : 0;
    }
    if (!request->sweep) {
        if (give_up) {
            write_off(run, silent);
        }
        run->stopping = unproven > 0 && !give_up;
        kept = run_save_state(context, run, err);
    }
    for (size_t i = 0; request->sweep && i < result->cleaned.len; i++) {
        run_note_event(context, run, "left-over", NULL, "%s", result->cleaned.items[i]);
    }
    if (unproven == 0) {
        return kept;
    }
    run_unproven_error(run, result, unproven, err);
    if (give_up) {
        error_hint(err,
                   "these nodes were written off; what is left there is ended when they are next reached");
    }
    return -1;
}

int run_stop_locked(struct node_set *set, struct run *run, struct stop_nodes_request request, bool give_up,
                    const char *why, struct run_stop_result *result, struct error *err)
{
    struct run_context *context = set->context;
    struct error unkept = ERROR_INIT;
    request.sweep = !run_state_is_live(run->state);
    request.repeated = run->stopping;
    AUTO_FREE bool *missed = xcalloc(run->nodes_len, sizeof(bool));
    request.missed = missed;
    if (!request.sweep) {
        for (size_t i = 0; i < run->nodes_len; i++) {
            missed[i] = run->nodes[i].stop_missed;
            run->nodes[i].stop_missed =
                false; /* cleared before the stop: if this process dies, the stop may have reached the node */
        }
        run->stopping = true;
        run->starting = false;
        run->restarting = false;
        run->state = RUN_STOPPING;
        if (run_save_record(context, run, &unkept) != 0) {
            /* A full disk on the head must not prevent the stop. */
            report_warn(context, "%s; stopping anyway", unkept.text);
        }
        run_note_event(context, run, "stopping", NULL, "%s: SIG%s, %lu s of grace", why, request.signal,
                       request.grace_s);
    }
    size_t unproven = 0;
    AUTO_FREE bool *silent = xcalloc(run->nodes_len, sizeof(bool));
    if (run_stop_nodes(set, run, &request, result, &unproven, silent) != 0) {
        if (!request.sweep) {
            /* save what is known so far; the error to report is still the interruption */
            run_save_record(context, run, NULL);
            run_leave_stand_in(context, run->name);
        }
        node_set_interrupted_error(set, err);
        return error_hint(err,
                          "%zu of %zu nodes had not answered; the stop continues without this command: "
                          "`mtlaunch status %s` shows it, `mtlaunch stop %s` waits until it is verified",
                          unproven, run->nodes_len, run->name, run->name);
    }
    return stop_conclude(context, run, &request, give_up, result, unproven, silent, err);
}

int run_stop(struct run_context *context, const char *name, const struct run_stop_request *request,
             struct run *run, struct run_stop_result *result, struct error *err)
{
    *result = (struct run_stop_result){0};
    run_init(run);
    /* Without a record there is nothing to lock, and no lock file must be left behind. */
    if (!run_store_has(context->store, name)) {
        return run_store_load(context->store, name, run, err);
    }
    AUTO_CLOSE int lock = run_lock(context, name, true, err);
    if (lock < 0 || run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    struct node_set set;
    int code = node_set_open_run(&set, context, run, err);
    if (code == 0) {
        const struct stop_nodes_request how = {
            .signal = request->signal ? request->signal : run->stop_signal,
            .grace_s = request->grace_given ? request->grace_s : run->stop_grace_s,
        };
        code = run_stop_locked(&set, run, how, request->give_up, "asked for", result, err);
    }
    if (code == 0) {
        code = pending_cleanup_finish(context, run, result, err);
    }
    node_set_close(&set);
    return code;
}
