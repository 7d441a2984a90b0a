/* Builds an inventory from what a node reports about its GPUs, its links and NCCL's choices. Pure. */
#ifndef MTLAUNCH_INSIGHT_INVENTORY_H
#define MTLAUNCH_INSIGHT_INVENTORY_H

#include "insight/evidence.h"
#include "model/facts.h"
#include "model/inventory.h"

/* Text in the lines of a log that show NCCL's choices: the first line with each is enough. */
void inventory_list_literals(struct strlist *literals);

/*
 * Add what a node answered: gpu=NAME, nccl=LINE of its log, nic.speed="NAME|MBIT/S" and ib.port as the checks
 * of these names have them. Values that cannot be are passed over.
 */
void inventory_take(struct inventory *inventory, struct scanner *scanner, const struct facts *facts);

#endif
