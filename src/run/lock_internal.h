/* The lock of a run: commands that change it wait for one another. */
#ifndef MTLAUNCH_RUN_LOCK_INTERNAL_H
#define MTLAUNCH_RUN_LOCK_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "run/usecase.h"

/*
 * Take the run's lock; while another command holds it, report this once and wait. Returns the descriptor
 * (close releases the lock), or -1 with err. wait false: returns -2 at once when the lock is held.
 */
int run_lock(const struct run_context *context, const char *name, bool wait, struct error *err);

#endif
