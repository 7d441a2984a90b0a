/*
 * Spares: hosts of `restart.spares` that take the rank of a host that cannot be reached, at a start or before
 * a restart. run->policy.spares contains those that are left, each as an entry of a host list.
 */
#ifndef MTLAUNCH_RUN_SPARES_INTERNAL_H
#define MTLAUNCH_RUN_SPARES_INTERNAL_H

#include "run/usecase.h"

struct start;

/* Drop the spares that are already nodes of the run. Returns how many are left. */
size_t run_count_spares(struct run *run);

/*
 * Take the next spare for this node's rank: it is removed from the list, recorded as an event and reported
 * with why ("does not answer"). keep: also replace the host in the data for a restart. 1: host is the spare,
 * released by the caller; 0: there is none; -1 with err: kind_local.
 */
int run_take_spare(struct run_context *context, struct run *run, size_t node, const char *why, bool keep,
                   struct host *host, struct error *err);

/*
 * Called after a failed probe: if the only failures are hosts that cannot be reached, and there are spares
 * for all of them, put the spares into the start's host list and plan again. 1: probe the nodes again; 0: the
 * failures stand; -1 with err.
 */
int start_take_spares(struct start *start, struct error *err);

#endif
