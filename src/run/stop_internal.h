/* Ends the processes of a run on its nodes; part of several use cases. */
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
    bool repeated;               /* an earlier stop may have been sent: see judge_stop */
    const bool *missed;          /* one per node: that earlier stop has not reached it; NULL: none is known */
    bool sweep;                  /* the run has ended: states stay */
    bool quiet;                  /* do not tell failures */
    bool only_attempt;           /* leave alone what another attempt of the run has on a node */
    const bool *nodes;           /* one per node: ask it; NULL: all */
    void (*conclude)(void *ctx); /* all have answered; before the record is written. NULL: nothing */
    void *ctx;
};

/*
 * Ask nodes to end what is the run's; run's nodes follow the answers, survivors and ended leftovers go to
 * result, failures are reported. *unproven: how many nodes did not answer or still hold something; silent
 * (may be NULL, one per node): which did not answer. 0, or -1 when interrupted (what did not answer is
 * unproven).
 */
int run_stop_nodes(struct node_set *set, struct run *run, const struct stop_nodes_request *request,
                   struct run_stop_result *result, size_t *unproven, bool *silent);

/*
 * The same for the node of one pending cleanup, which is the only one of set: only what is left of that
 * attempt is ended, and run's nodes are not judged by it.
 */
int run_clean_up_node(struct node_set *set, struct run *run, const struct run_cleanup *cleanup,
                      struct run_stop_result *result, size_t *unproven);

/* "run1: stopped on 4 nodes". nodes: which, one per node; NULL: all. */
void run_report_stopped(const struct run_context *context, const struct run *run, const bool *nodes);

/*
 * Stop a run whose lock is held: the record says `stopping` until it is verified that nothing is left. why:
 * for the event. request.repeated, missed and sweep are set here. Errors: not_proven (7), what interrupted
 * it, kind_local.
 */
int run_stop_locked(struct node_set *set, struct run *run, struct stop_nodes_request request, bool give_up,
                    const char *why, struct run_stop_result *result, struct error *err);

/* The error for nodes on which something may still live (7). Returns -1. */
int run_unproven_error(const struct run *run, const struct run_stop_result *result, size_t unproven,
                       struct error *err);

#endif
