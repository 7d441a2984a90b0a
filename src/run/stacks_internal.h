/* Asks nodes for stacks, for callers that have a node set open. */
#ifndef MTLAUNCH_RUN_STACKS_INTERNAL_H
#define MTLAUNCH_RUN_STACKS_INTERNAL_H

#include <stdbool.h>

#include "node_set_internal.h"
#include "run/stacks.h"

/*
 * Ask the selected nodes (flags) of run, for which set was opened. Failures of nodes are in result->problems;
 * unless the request is quiet, they are also reported, and worst gets a copy of the worst one. 0, or -1 when
 * interrupted.
 */
int run_stacks_ask(struct node_set *set, const struct run *run, const struct run_stacks_request *request,
                   const bool *selected, struct run_stacks_result *result, struct error *worst);

#endif
