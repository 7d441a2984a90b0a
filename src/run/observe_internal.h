/* Asks the nodes of a run how they are. */
#ifndef MTLAUNCH_RUN_OBSERVE_INTERNAL_H
#define MTLAUNCH_RUN_OBSERVE_INTERNAL_H

#include "base/error.h"
#include "model/run.h"
#include "node_set_internal.h"

#define OBSERVE_TIMEOUT_MS 30000

/*
 * Ask every node that has not ended how it is; run's nodes follow. Unreachable ones are `lost`. what: for the
 * progress, or NULL. 0, or -1 when interrupted.
 */
int run_observe(struct node_set *set, struct run *run, const char *what);

/*
 * Observe a live run without keeping other commands waiting, then take the lock and see that the record is
 * still the one that was read (else read it anew and ask again). run is loaded and the node set was opened
 * for it. *lock on return: held (>= 0; the caller saves and closes), or -2: another command holds it, the run
 * has ended meanwhile, or its attempt or nodes changed. Returns 0, -1 with err (also interrupted).
 */
int run_observe_and_lock(struct node_set *set, struct run *run, int *lock, struct error *err);

/* Under the lock: read the record again. 1: it has changed since, and run is the new one; 0; -1 with err. */
int run_reload_if_changed(const struct run_context *context, struct run *run, struct error *err);

/*
 * The caller holds the lock, so the command that was starting the run has ended: what it began is judged by
 * what the nodes say.
 */
void run_note_dead_start(struct run_context *context, struct run *run);

#endif
