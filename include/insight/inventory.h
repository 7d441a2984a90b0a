/* Builds an inventory from what a node reports about its GPUs, its links and NCCL's choices. Pure. */
#ifndef MTLAUNCH_INSIGHT_INVENTORY_H
#define MTLAUNCH_INSIGHT_INVENTORY_H

#include "insight/evidence.h"
#include "model/facts.h"
#include "model/inventory.h"

/* Append the texts that mark the log lines with NCCL's choices. The first line with each text is enough. */
void inventory_list_literals(struct strlist *literals);

/*
 * Add what a node answered: gpu=NAME, nccl=LINE of its log, nic.speed="NAME|MBIT/S", and ib.port in the
 * format of the check of that name. Implausible values are skipped.
 */
void inventory_take(struct inventory *inventory, struct scanner *scanner, const struct facts *facts);

#endif
