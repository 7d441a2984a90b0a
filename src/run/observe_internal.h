/* Observes the nodes of a run. */
#ifndef MTLAUNCH_RUN_OBSERVE_INTERNAL_H
#define MTLAUNCH_RUN_OBSERVE_INTERNAL_H

#include "base/error.h"
#include "model/run.h"
#include "node_set_internal.h"

#define OBSERVE_TIMEOUT_MS 30000

/*
 * Observe every node that has not ended, and update run's nodes. Unreachable ones become `lost`. what: text
 * for the progress, or NULL. 0, or -1 when interrupted.
 */
int run_observe(struct node_set *set, struct run *run, const char *what);

/*
 * Observe a live run without blocking other commands, then take the lock and check that the record is still
 * the one that was read; if not, read it again and repeat. run is loaded, and set was opened for it. *lock on
 * return: held (>= 0; the caller saves and closes), or -2: another command holds it, the run has ended
 * meanwhile, or its attempt changed. Returns 0, -1 with err (also interrupted).
 */
int run_observe_and_lock(struct node_set *set, struct run *run, int *lock, struct error *err);

/*
 * Under the lock: read the record again. 1: it has changed, and run is the new one; 0: it has not; -1 with
 * err.
 */
int run_reload_if_changed(const struct run_context *context, struct run *run, struct error *err);

/*
 * Record that the command that was starting the run died. The caller holds the lock, so that command has
 * ended; the nodes' answers show how far it got.
 */
void run_note_dead_start(struct run_context *context, struct run *run);

#endif
