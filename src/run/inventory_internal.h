/* What the nodes of a run have and use, for comparisons of runs. */
#ifndef MTLAUNCH_RUN_INVENTORY_INTERNAL_H
#define MTLAUNCH_RUN_INVENTORY_INTERNAL_H

#include "model/run.h"
#include "node_set_internal.h"

/*
 * Ask the nodes of run, which set was opened for, for its inventory: once, as soon as the training takes
 * steps (NCCL has chosen its network by then), or when it has ended. Nodes that cannot be asked are passed
 * over.
 */
void run_take_inventory(struct node_set *set, struct run *run, bool ended);

#endif
