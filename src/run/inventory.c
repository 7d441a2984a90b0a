/* Asks the nodes of a run for their hardware and software. */
#include "insight/inventory.h"

#include "inventory_internal.h"
#include "node/answer.h"
#include "node_target_internal.h"
#include "round_internal.h"

#define INVENTORY_TIMEOUT_MS 10000 /* five seconds of it are for nvidia-smi */

struct inventory_round {
    struct run *run;
    struct scanner *scanner;
    struct strlist literals;
};

static bool inventory_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct inventory_round *round = ctx;
    const struct run_node *asked = &round->run->nodes[node];
    if (asked->state == NODE_LOST || asked->started_ms == 0) {
        return false;
    }
    const struct node_target target = run_node_target(round->run, node);
    node_request_inventory(&target, &round->literals, nonce, call);
    return true;
}

static int inventory_answered(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                              struct error *err)
{
    struct inventory_round *round = ctx;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    (void)node;
    if (node_answer_facts(bytes, len, nonce, &facts, err) != 0) {
        return -1;
    }
    inventory_take(&round->run->inventory, round->scanner, &facts);
    return 0;
}

static void inventory_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    (void)ctx; /* the answers of the other nodes are enough */
    (void)node;
    (void)error;
    (void)started;
}

void run_take_inventory(struct node_set *set, struct run *run, bool ended)
{
    bool in_time = run->progress.iteration >= 1 || (ended && run_first_failure(run) < 0);
    if (run->inventory.known || !in_time) {
        return;
    }
    struct inventory_round round = {.run = run, .scanner = scanner_new()};
    inventory_list_literals(&round.literals);
    const struct node_question question = {
        .ctx = &round,
        .timeout_ms = INVENTORY_TIMEOUT_MS,
        .build = inventory_build,
        .take = inventory_answered,
        .failed = inventory_failed,
    };
    node_set_ask(set, &question);
    strlist_release(&round.literals);
    scanner_free(round.scanner);
}
