/* Identifies a node of a run to the node's script. */
#ifndef MTLAUNCH_RUN_NODE_TARGET_INTERNAL_H
#define MTLAUNCH_RUN_NODE_TARGET_INTERNAL_H

#include <stddef.h>

#include "model/run.h"
#include "node/request.h"

/* The target of a request to that node. Borrows from run. */
struct node_target run_node_target(const struct run *run, size_t node);

#endif
