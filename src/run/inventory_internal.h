/* The inventory of a run, for comparisons of runs: the hardware and software of its nodes. */
#ifndef MTLAUNCH_RUN_INVENTORY_INTERNAL_H
#define MTLAUNCH_RUN_INVENTORY_INTERNAL_H

#include "model/run.h"
#include "node_set_internal.h"

/*
 * Ask the nodes of run, for which set was opened, for its inventory: once, as soon as the training has done a
 * step (NCCL has chosen its network by then), or when the run has ended without a failure: of a run that
 * failed before its first step there is nothing to compare, and its end is not to be delayed. Nodes that
 * cannot be asked are skipped.
 */
void run_take_inventory(struct node_set *set, struct run *run, bool ended);

#endif
