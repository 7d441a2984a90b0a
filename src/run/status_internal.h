/* Updates the status of a run, for callers that have a node set open. */
#ifndef MTLAUNCH_RUN_STATUS_INTERNAL_H
#define MTLAUNCH_RUN_STATUS_INTERNAL_H

#include "base/error.h"
#include "node_set_internal.h"

/* Observe the nodes of a live run and save the result. run was just loaded, and set was opened for it. */
int run_look(struct node_set *set, struct run *run, struct error *err);

/* Update the status of a run that has ended; nodes are asked only if something of it may be left on them. */
int run_look_at_ended(struct run_context *context, struct run *run, struct error *err);

#endif
