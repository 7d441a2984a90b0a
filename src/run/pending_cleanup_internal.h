/*
 * Pending cleanups (run.cleanups): nodes of earlier attempts that did not answer when the run went on. What
 * is left there is ended when they are next reached.
 */
#ifndef MTLAUNCH_RUN_PENDING_CLEANUP_INTERNAL_H
#define MTLAUNCH_RUN_PENDING_CLEANUP_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "model/run.h"
#include "node/request.h"
#include "run/usecase.h"

/* Add one for that node of the current attempt. */
void pending_cleanup_add(struct run *run, size_t index);

/* The node of one, as its script knows it. Borrows from both. */
struct node_target pending_cleanup_target(const struct run *run, const struct run_cleanup *cleanup);

/* Can it be tried at all? The record of an earlier version may not say in which container to look. */
bool pending_cleanup_can_try(const struct run *run, const struct run_cleanup *cleanup);

/*
 * End what is left on the nodes that answer now. 0, or -1 with err (also interrupted); what is pending still
 * was not proven. try_locked: the run's lock is held; try: it is taken, and nothing is done while another
 * command has it.
 */
int pending_cleanup_try_locked(struct run_context *context, struct run *run, struct run_stop_result *result,
                               struct error *err);
int pending_cleanup_try(struct run_context *context, struct run *run, struct error *err);

/* Warn of those that cannot be tried. */
void pending_cleanup_warn(const struct run_context *context, const struct run *run);

/* Try all as a part of a stop (the lock is held). Errors: not_proven (7) when one stays. */
int pending_cleanup_finish(struct run_context *context, struct run *run, struct run_stop_result *result,
                           struct error *err);

#endif
