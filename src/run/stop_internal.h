/* Ends the processes of a run on its nodes, for several use cases. */
#ifndef MTLAUNCH_RUN_STOP_INTERNAL_H
#define MTLAUNCH_RUN_STOP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/run.h"
#include "node_set_internal.h"
#include "run/usecase.h"

struct stop_nodes_request {
    const char *signal; /* without SIG */
    unsigned long grace_s;
    bool repeated;      /* an earlier stop may have been sent: see judge_stop */
    const bool *missed; /* one per node: the earlier stop has not reached it; NULL: not known */
    bool sweep;         /* the run has ended: states do not change */
    bool quiet;         /* do not report failures */
    bool only_attempt;  /* do not touch other attempts of the run on a node */
    const bool *nodes;  /* one per node: whether to ask it; NULL: all */
    /* called when all have answered, before the record is written; NULL: not called */
    void (*conclude)(void *ctx);
    void *ctx;
};

/*
 * Ask nodes to end the processes of the run. run's nodes are updated from the answers, survivors and ended
 * leftovers are added to result, and failures are reported. *unproven is set to the number of nodes that did
 * not answer or still have processes; silent (may be NULL, one per node) shows which did not answer. 0, or -1
 * when interrupted; nodes that have not answered then count as unproven.
 */
int run_stop_nodes(struct node_set *set, struct run *run, const struct stop_nodes_request *request,
                   struct run_stop_result *result, size_t *unproven, bool *silent);

/*
 * The same for the node of one pending cleanup, which is the only one of set: only what is left of that
 * attempt is ended, and run's nodes are not changed.
 */
int run_clean_up_node(struct node_set *set, struct run *run, const struct run_cleanup *cleanup,
                      struct run_stop_result *result, size_t *unproven);

/* Report "run1: stopped on 4 nodes". nodes: which ones count, one per node; NULL: all. */
void run_report_stopped(const struct run_context *context, const struct run *run, const bool *nodes);

/*
 * Stop a run whose lock is held: the record says `stopping` until it is verified that nothing is left. why:
 * text for the event. The function sets request.repeated, missed and sweep. Errors: not_proven (7), an
 * interruption, kind_local.
 */
int run_stop_locked(struct node_set *set, struct run *run, struct stop_nodes_request request, bool give_up,
                    const char *why, struct run_stop_result *result, struct error *err);

/* Set the error for nodes on which processes may still be alive (7). Returns -1. */
int run_unproven_error(const struct run *run, const struct run_stop_result *result, size_t unproven,
                       struct error *err);

#endif
