/*
 * A round: asks each node of a set one question, as many at a time as the fan-out allows, and parses each
 * answer as it arrives.
 */
#ifndef MTLAUNCH_RUN_ROUND_INTERNAL_H
#define MTLAUNCH_RUN_ROUND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "node/request.h"
#include "node_set_internal.h"

/* One question. All callbacks are called from node_set_ask, with ctx and the node's index. */
struct node_question {
    const char *what; /* names the step for the progress ("checking"); NULL: silent */
    void *ctx;
    unsigned timeout_ms; /* for the command on the node */
    bool together;       /* all nodes answer at the same time: the fan-out only limits the logins */
    /* Whether this node is asked at all. NULL: all are. */
    bool (*wanted)(void *ctx, size_t node);
    /* Build node's call (released by the node set); false: this node is not asked. */
    bool (*build)(void *ctx, size_t node, const char *nonce, struct node_call *call);
    /* Parse an answer. -1 with err: it is a failure; failed is called with err. */
    int (*take)(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce, struct error *err);
    /* There is no valid answer. started: the question reached the node, or may have. */
    void (*failed)(void *ctx, size_t node, const struct error *error, bool started);
};

/*
 * A round: ask every wanted node and wait until each has answered or failed. Returns 0, or -1 when a signal
 * interrupted it: for wanted nodes that have not answered by then, failed is called with kind_interrupted.
 */
int node_set_ask(struct node_set *set, const struct node_question *question);

#endif
