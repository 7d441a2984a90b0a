/*
 * The logs of a run's nodes on their way to the observer: one tail per node over the node set's sessions,
 * either all at once as they grow, or one node after the other in rank order with bounded reading ahead.
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
 * Takes the logs instead of the observer. begin, body: -1 ends this log with err; 1: ask for the offset again
 * and begin there.
 */
struct tails_sink {
    void *ctx;
    uint64_t (*offset)(void *ctx, size_t node); /* from which the node's log is needed */
    int (*begin)(void *ctx, size_t node, uint64_t size, struct error *err); /* size: of the log now */
    int (*body)(void *ctx, size_t node, const char *bytes, size_t len, struct error *err);
    int (*end)(void *ctx, size_t node, struct error *err); /* whatever the outcome; once per node */
};

/*
 * Begin. selected: one flag per node of run, which set was opened for
 * (borrowed until the call returns; run until tails_free). With
 * options->follow all nodes at once, a dropped connection is taken up again where it broke; without, in rank
 * order. sink (may be NULL, copied; not with options->follow): the logs go there, as many nodes at once as
 * the fleet allows.
 */
struct tails *tails_open(struct node_set *set, const struct run *run, const bool *selected,
                         const struct node_tail_options *options, const struct tails_sink *sink);

/* Which nodes does the request name, and is there such an attempt? selected: one flag per node. */
int run_logs_select(const struct run *run, const struct run_logs_request *request, bool *selected,
                    struct error *err);

/* Nothing of them is wanted any more; only for logs that are followed. They may be freed once none is left.
 */
void tails_dismiss(struct tails *tails);

/* Release all, when none is left or after node_set_close: nothing may call back any more. NULL accepted. */
void tails_free(struct tails *tails);

/* How many nodes' logs have not come to their end yet. When the last one does, the fleet's loop is stopped.
 */
size_t tails_left(const struct tails *tails);

/* Labels of the nodes that had no such log, in rank order of their ends. Borrowed. */
const struct strlist *tails_missing(const struct tails *tails);

/* What went wrong on single nodes. Borrowed. */
const struct node_failures *tails_failures(const struct tails *tails);

#endif
