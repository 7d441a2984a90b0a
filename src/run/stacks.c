/* Asks the nodes of a run what its workers are doing. Nothing is signalled, paused or recorded. */
#include "run/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "round_internal.h"
#include "select_internal.h"
#include "stacks_internal.h"

#define STACKS_TIMEOUT_MS 45000 /* for a scan of all processes, and py-spy with its limit of ten seconds */
#define QUIET_TIMEOUT_MS  20000 /* shorter, because the supervisor waits for it */

void run_stacks_result_release(struct run_stacks_result *result)
{
    stack_groups_release(&result->groups);
    stack_list_release(&result->stacks);
    for (size_t i = 0; i < result->problems_len; i++) {
        free(result->problems[i].host);
        free(result->problems[i].text);
    }
    free(result->problems);
    *result = (struct run_stacks_result){0};
}

struct stacks_round {
    const struct run *run;
    const struct run_stacks_request *request;
    const bool *selected;
    struct run_stacks_result *result;
    struct node_failures failures;
};

/* Problems are kept in the order of the nodes, whichever answers first. */
static void add_problem(struct stacks_round *round, size_t node, const char *text)
{
    struct run_stacks_result *result = round->result;
    result->problems =
        xgrow(result->problems, result->problems_len, &result->problems_cap, sizeof(*result->problems));
    size_t at = result->problems_len++;
    for (; at > 0 && result->problems[at - 1].node > node; at--) {
        result->problems[at] = result->problems[at - 1];
    }
    result->problems[at] = (struct run_stacks_problem){
        .node = node, .host = xstrdup(round->run->nodes[node].label), .text = xstrdup(text)};
}

static bool stacks_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct stacks_round *round = ctx;
    if (!round->selected[node]) {
        return false;
    }
    const struct node_target target = run_node_target(round->run, node);
    node_request_stacks(&target, round->request->py_spy, round->request->dumps, nonce, call);
    return true;
}

/* Whether the stack of this rank is wanted. */
static bool is_wanted(const struct strlist *ranks, unsigned rank)
{
    AUTO_FREE char *text = xasprintf("%u", rank);
    return !ranks || ranks->len == 0 || strlist_has(ranks, text);
}

/* Read "RANK JSON", the frames of the worker reported before. */
static void take_frames(struct stacks_round *round, size_t node, struct stack *stack, const char *value)
{
    const char *blank = strchr(value, ' ');
    AUTO_FREE char *rank = xasprintf("%u", stack->rank);
    if (!blank || (size_t)(blank - value) != strlen(rank) || strncmp(value, rank, strlen(rank)) != 0 ||
        !stack_read_frames(stack, blank + 1)) {
        AUTO_FREE char *text = xasprintf("the Python stack of rank %u cannot be read", stack->rank);
        add_problem(round, node, text);
    }
}

static int no_worker(bool lives, struct error *err)
{
    if (!lives) {
        return error_set(err, &kind_run_over, "no process of the run is alive there");
    }
    error_set(err, &kind_run_over, "no process of the run there has RANK in its environment");
    return error_hint(err, "'stacks' shows the workers that torchrun and other launchers give a rank");
}

static int stacks_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct stacks_round *round = ctx;
    const char *host = round->run->nodes[node].label;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    if (node_answer_facts(bytes, len, nonce, &facts, err) != 0) {
        return -1;
    }
    struct stack *stack = NULL;
    size_t workers = 0;
    for (size_t i = 0; i < facts.len; i++) {
        const struct fact *fact = &facts.items[i];
        if (strcmp(fact->key, "worker") == 0) {
            struct stack_list *list = &round->result->stacks;
            stack = stack_list_add(list, host, fact->value);
            if (!stack) {
                return error_set(err, &kind_node_answer, "the node's answer says '%s' for a worker",
                                 fact->value);
            }
            workers++;
        } else if (strcmp(fact->key, "stack") == 0 && stack) {
            take_frames(round, node, stack, fact->value);
        } else if (strcmp(fact->key, "problem") == 0) {
            add_problem(round, node, fact->value);
        }
    }
    return workers > 0 ? 0 : no_worker(facts_is_set(&facts, "lives"), err);
}

static void stacks_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct stacks_round *round = ctx;
    (void)started;
    add_problem(round, node, error->text);
    node_failures_set(&round->failures, node, error);
}

/* Drop the stacks of ranks that were not requested. */
static void drop_unwanted(struct stack_list *list, const struct strlist *ranks)
{
    struct stack_list kept = {0};
    struct stack_list rest = {0};
    for (size_t i = 0; i < list->len; i++) {
        struct stack_list *to = is_wanted(ranks, list->items[i].rank) ? &kept : &rest;
        to->items = xgrow(to->items, to->len, &to->cap, sizeof(*to->items));
        to->items[to->len++] = list->items[i];
    }
    stack_list_release(&rest);
    free(list->items);
    *list = kept;
}

int run_stacks_ask(struct node_set *set, const struct run *run, const struct run_stacks_request *request,
                   const bool *selected, struct run_stacks_result *result, struct error *worst)
{
    struct stacks_round round = {.run = run, .request = request, .selected = selected, .result = result};
    node_failures_init_run(&round.failures, run);
    const struct node_question question = {
        .what = request->quiet ? NULL : "reading stacks",
        .ctx = &round,
        .timeout_ms = request->quiet ? QUIET_TIMEOUT_MS : STACKS_TIMEOUT_MS,
        .build = stacks_build,
        .take = stacks_take,
        .failed = stacks_failed,
    };
    int code = node_set_ask(set, &question);
    drop_unwanted(&result->stacks, request->ranks);
    stack_groups_make(&result->groups, &result->stacks);
    if (code == 0 && !request->quiet) {
        node_failures_report(&round.failures, set->context, worst);
    }
    node_failures_release(&round.failures);
    return code;
}

static int check_ranks(const struct run *run, const struct strlist *ranks, struct error *err)
{
    uint64_t world = (uint64_t)run->nproc_per_node * run->nodes_len;
    uint64_t rank = 0;
    for (size_t i = 0; i < ranks->len; i++) {
        if (!text_to_uint(ranks->items[i], 0, world > 0 ? world - 1 : UINT32_MAX, &rank)) {
            if (world > 0) {
                error_set(err, &kind_usage, "'%s' for --rank is not in the range 0 to %llu", ranks->items[i],
                          (unsigned long long)world - 1);
            } else {
                error_set(err, &kind_usage, "'%s' for --rank is not a number", ranks->items[i]);
            }
            return error_hint(err, "give a rank as torch counts them, or a node's number with --node");
        }
        /* normalise "07" to "7" */
        free(ranks->items[i]);
        ranks->items[i] = xasprintf("%llu", (unsigned long long)rank);
    }
    return 0;
}

/* Decide the result from the answers. */
static int judge(const struct run *run, const struct run_stacks_request *request,
                 const struct run_stacks_result *result, const struct error *worst, struct error *err)
{
    if (result->stacks.len == 0 && worst->kind) {
        return error_set(err, worst->kind, "no stack of run '%s' could be read", run->name);
    }
    if (worst->kind && (worst->kind != &kind_run_over || request->nodes->len > 0)) {
        return error_set(err, worst->kind, "not every node of run '%s' could be asked", run->name);
    }
    for (size_t i = 0; i < request->ranks->len; i++) {
        bool found = false;
        for (size_t j = 0; j < result->stacks.len; j++) {
            AUTO_FREE char *rank = xasprintf("%u", result->stacks.items[j].rank);
            found = found || strcmp(rank, request->ranks->items[i]) == 0;
        }
        if (!found) {
            error_set(err, &kind_run_over, "no process with rank %s was found", request->ranks->items[i]);
            return error_hint(err, "`mtlaunch stacks %s` shows the live ranks", run->name);
        }
    }
    return 0;
}

int run_stacks(struct run_context *context, const char *name, const struct run_stacks_request *request,
               struct run *run, struct run_stacks_result *result, struct error *err)
{
    *result = (struct run_stacks_result){0};
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    AUTO_FREE bool *selected = xcalloc(run->nodes_len, sizeof(bool));
    size_t count = 0;
    if (run_select_nodes(run, request->nodes, selected, &count, err) != 0 ||
        check_ranks(run, request->ranks, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(run->state)) {
        error_set(err, &kind_run_over, "run '%s' is %s: it has no processes to look at", name,
                  run_state_name(run->state));
        return error_hint(err, "`mtlaunch list` shows the live runs");
    }
    struct node_set set;
    struct error worst = ERROR_INIT;
    int code = node_set_open_run(&set, context, run, err);
    if (code == 0 && run_stacks_ask(&set, run, request, selected, result, &worst) != 0) {
        code = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    return code == 0 ? judge(run, request, result, &worst, err) : code;
}
