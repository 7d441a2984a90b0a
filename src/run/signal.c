/* Sends a signal to the job on the nodes of a run. The state of the run does not change. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "round_internal.h"
#include "select_internal.h"

#define SIGNAL_TIMEOUT_MS 30000

void run_signal_result_release(struct run_signal_result *result)
{
    for (size_t i = 0; i < result->len; i++) {
        free(result->nodes[i].host);
        free(result->nodes[i].error);
    }
    free(result->nodes);
    *result = (struct run_signal_result){0};
}

struct signal_round {
    const struct run *run;
    const struct run_signal_request *request;
    const bool *selected;
    struct run_signal_node *nodes; /* one per node of the run */
    struct node_failures failures;
    size_t sent;
};

static bool signal_wanted(void *ctx, size_t node)
{
    const struct signal_round *round = ctx;
    return round->selected[node];
}

static bool signal_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct signal_round *round = ctx;
    const struct node_target target = run_node_target(round->run, node);
    node_request_signal(&target, round->request->signal, nonce, call);
    return true;
}

static int judge_signal(const struct node_signal *answer, struct error *err)
{
    if (answer->delivered) {
        return 0;
    }
    if (answer->problem) {
        return error_set(err, &kind_not_signalled, "the signal could not be sent: %s", answer->problem);
    }
    switch (answer->life) {
    case NODE_LIFE_STARTING:
        error_set(err, &kind_run_over, "the job's command has not started yet");
        return error_hint(err, "try again when its setup lines have ended");
    case NODE_LIFE_ELSEWHERE:
        return error_set(err, &kind_run_over,
                         "its files were written by another host on a shared folder: nothing was signalled");
    case NODE_LIFE_NONE:
    case NODE_LIFE_RUNNING:
    case NODE_LIFE_EXITED:
    case NODE_LIFE_GONE:
    case NODE_LIFE_UNRECORDED:
        break;
    }
    return error_set(err, &kind_run_over, "the job's command does not run there any more");
}

static int signal_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct signal_round *round = ctx;
    struct node_signal answer;
    int result = node_answer_signal(bytes, len, nonce, &answer, err);
    if (result == 0) {
        result = judge_signal(&answer, err);
        round->nodes[node].pid = answer.pid;
        round->nodes[node].sent = answer.delivered;
        round->sent += answer.delivered ? 1 : 0;
    }
    node_signal_release(&answer);
    return result;
}

static void signal_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct signal_round *round = ctx;
    (void)started;
    round->nodes[node].error = xstrdup(error->text);
    node_failures_set(&round->failures, node, error);
}

/* Ended nodes are not a failure if they were not named and another node got the signal. */
static void forgive_ended(struct signal_round *round)
{
    if (round->request->nodes->len > 0 || round->sent == 0) {
        return;
    }
    for (size_t i = 0; i < round->failures.len; i++) {
        struct error *error = &round->failures.errors[i];
        if (error->kind == &kind_run_over) {
            error->kind = NULL;
            round->failures.count--;
        }
    }
}

static void note_sent(struct run_context *context, const struct signal_round *round)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 0; i < round->run->nodes_len; i++) {
        if (round->nodes[i].sent) {
            strlist_add(&hosts, round->run->nodes[i].label);
        }
    }
    if (hosts.len > 0) {
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        run_note_event(context, round->run, "signal", NULL, "SIG%s sent on %s", round->request->signal,
                       str_text(&folded));
    }
}

/* Keep only the nodes that were asked. */
static void fill_result(const struct signal_round *round, struct run_signal_result *result)
{
    result->nodes = round->nodes;
    for (size_t i = 0; i < round->run->nodes_len; i++) {
        if (round->selected[i]) {
            struct run_signal_node *node = &result->nodes[result->len++];
            *node = round->nodes[i];
            node->rank = round->run->nodes[i].rank;
            node->host = xstrdup(round->run->nodes[i].label);
        }
    }
}

static int ask(struct run_context *context, struct signal_round *round, size_t count, struct error *err)
{
    struct node_set set;
    struct error worst = ERROR_INIT;
    const struct node_question question = {
        .what = "signalling",
        .ctx = round,
        .timeout_ms = SIGNAL_TIMEOUT_MS,
        .wanted = signal_wanted,
        .build = signal_build,
        .take = signal_take,
        .failed = signal_failed,
    };
    int result = node_set_open_run(&set, context, round->run, err);
    if (result == 0 && node_set_ask(&set, &question) != 0) {
        result = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    note_sent(context, round);
    if (result != 0) {
        return -1;
    }
    forgive_ended(round);
    if (round->failures.count == 0) {
        return 0;
    }
    node_failures_report(&round->failures, context, &worst);
    return error_set(err, worst.kind, "SIG%s was not sent to %zu of %zu nodes of run '%s'",
                     round->request->signal, round->failures.count, count, round->run->name);
}

int run_signal(struct run_context *context, const char *name, const struct run_signal_request *request,
               struct run *run, struct run_signal_result *result, struct error *err)
{
    *result = (struct run_signal_result){0};
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    AUTO_FREE bool *selected = xcalloc(run->nodes_len, sizeof(bool));
    size_t count = 0;
    if (run_select_nodes(run, request->nodes, selected, &count, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(run->state)) {
        error_set(err, &kind_run_over, "run '%s' is %s: there is nothing to signal", name,
                  run_state_name(run->state));
        return error_hint(err, "`mtlaunch list` shows the live runs");
    }
    struct signal_round round = {
        .run = run,
        .request = request,
        .selected = selected,
        .nodes = xcalloc(run->nodes_len, sizeof(*round.nodes)),
    };
    node_failures_init_run(&round.failures, run);
    int code = ask(context, &round, count, err);
    fill_result(&round, result);
    node_failures_release(&round.failures);
    return code;
}
