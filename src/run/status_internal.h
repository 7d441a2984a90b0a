/* The status of a run, for callers that have a node set open. */
#ifndef MTLAUNCH_RUN_STATUS_INTERNAL_H
#define MTLAUNCH_RUN_STATUS_INTERNAL_H

#include "base/error.h"
#include "node_set_internal.h"

/* Ask the nodes of a live run, which was just loaded and which set was opened for; keep what they say. */
int run_look(struct node_set *set, struct run *run, struct error *err);

/* What there is to be seen of a run that has ended; nodes are asked where something of it is left. */
int run_look_at_ended(struct run_context *context, struct run *run, struct error *err);

#endif
