/*
 * Passes the logs of a run's nodes to the observer: one tail per node over the node set's sessions, either
 * all at once while they grow, or one node after the other in rank order, with a bounded read-ahead.
 */
#ifndef MTLAUNCH_RUN_TAILS_INTERNAL_H
#define MTLAUNCH_RUN_TAILS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "node/request.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"

struct tails;

/*
 * Receives the logs instead of the observer. If begin or body returns -1, this log ends with err; if it
 * returns 1, offset is called again and the log is read from there.
 */
struct tails_sink {
    void *ctx;
    uint64_t (*offset)(void *ctx, size_t node); /* the offset from which the node's log is needed */
    /* size: current size of the log */
    int (*begin)(void *ctx, size_t node, uint64_t size, struct error *err);
    int (*body)(void *ctx, size_t node, const char *bytes, size_t len, struct error *err);
    int (*end)(void *ctx, size_t node, struct error *err); /* called once per node, whatever the outcome */
};

/*
 * Begin to read. selected has one flag per node of run, for which set was opened; it is borrowed until the
 * call returns, run until tails_free. With options->follow, all nodes are read at once, and a broken
 * connection is resumed where it broke; without, nodes are read in rank order. sink (copied; may be NULL; not
 * with options->follow) receives the logs, of as many nodes at a time as the fleet allows.
 */
struct tails *tails_open(struct node_set *set, const struct run *run, const bool *selected,
                         const struct node_tail_options *options, const struct tails_sink *sink);

/* Select the nodes that the request names, and check that its attempt exists. selected: one flag per node. */
int run_logs_select(const struct run *run, const struct run_logs_request *request, bool *selected,
                    struct error *err);

/* Stop delivering the logs; only for logs that are followed. tails may be freed once none is left. */
void tails_dismiss(struct tails *tails);

/* Free all, when none is left or after node_set_close, so that there are no more callbacks. NULL accepted. */
void tails_free(struct tails *tails);

/* How many logs have not ended yet. When the last one ends, the fleet's loop is stopped. */
size_t tails_left(const struct tails *tails);

/* Labels of the nodes that had no such log, in the order in which they answered. Borrowed. */
const struct strlist *tails_missing(const struct tails *tails);

/* Failures of single nodes. Borrowed. */
const struct node_failures *tails_failures(const struct tails *tails);

#endif
