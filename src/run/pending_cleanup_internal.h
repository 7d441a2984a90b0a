/*
 * Pending cleanups (run.cleanups): nodes of earlier attempts that did not answer when the run continued
 * without them. Processes left there are ended when the nodes can be reached again.
 */
#ifndef MTLAUNCH_RUN_PENDING_CLEANUP_INTERNAL_H
#define MTLAUNCH_RUN_PENDING_CLEANUP_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "model/run.h"
#include "node/request.h"
#include "run/usecase.h"

/* Add a pending cleanup for this node of the current attempt. */
void pending_cleanup_add(struct run *run, size_t index);

/* Identify its node to the node's script. The result borrows from both. */
struct node_target pending_cleanup_target(const struct run *run, const struct run_cleanup *cleanup);

/* Whether it can be tried at all: the record of an earlier version may not name the container to look in. */
bool pending_cleanup_can_try(const struct run *run, const struct run_cleanup *cleanup);

/*
 * End what is left on the nodes that answer now. 0, or -1 with err (also interrupted). Cleanups that could
 * not be verified stay pending. try_locked: the caller holds the run's lock; try: takes it, and does nothing
 * if another command holds it.
 */
int pending_cleanup_try_locked(struct run_context *context, struct run *run, struct run_stop_result *result,
                               struct error *err);
int pending_cleanup_try(struct run_context *context, struct run *run, struct error *err);

/* Warn about those that cannot be tried. */
void pending_cleanup_warn(const struct run_context *context, const struct run *run);

/* Try all as a part of a stop; the caller holds the lock. Errors: not_proven (7) when one remains. */
int pending_cleanup_finish(struct run_context *context, struct run *run, struct run_stop_result *result,
                           struct error *err);

#endif
