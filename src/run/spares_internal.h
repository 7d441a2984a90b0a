/*
 * Spares: hosts of `restart.spares` that take the rank of a host that cannot be reached, at a start or before
 * a restart. run->policy.spares holds those that are left, one entry of a host list each.
 */
#ifndef MTLAUNCH_RUN_SPARES_INTERNAL_H
#define MTLAUNCH_RUN_SPARES_INTERNAL_H

#include "run/usecase.h"

struct start;

/* Drop the spares that are nodes of the run already; how many are left. */
size_t run_count_spares(struct run *run);

/*
 * Take the next spare for that node's rank: it leaves the list, is noted as an event and reported with why
 * ("does not answer"). keep: replace the host in what a restart needs, too. 1: host (released by the caller)
 * is the spare; 0: there is none; -1 with err: kind_local.
 */
int run_take_spare(struct run_context *context, struct run *run, size_t node, const char *why, bool keep,
                   struct host *host, struct error *err);

/*
 * After a probe that failed: when nothing failed but the way to some hosts, and there are spares for all of
 * them, put these into the start's host list and plan again. 1: ask the nodes again; 0: the failures stand;
 * -1 with err.
 */
int start_take_spares(struct start *start, struct error *err);

#endif
