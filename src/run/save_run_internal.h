/* Saves the record of a run, and does what follows from its state. The caller holds the run's lock. */
#ifndef MTLAUNCH_RUN_SAVE_RUN_INTERNAL_H
#define MTLAUNCH_RUN_SAVE_RUN_INTERNAL_H

#include "base/error.h"
#include "model/run.h"
#include "run/usecase.h"

/* Write the record as it is. Errors: kind_local. */
int run_save_record(struct run_context *context, struct run *run, struct error *err);

/*
 * Derive the run's state from its nodes and write the record. A run that has ended gets its outcome and an
 * event, and its secrets are dropped. Errors: kind_local.
 */
int run_save_state(struct run_context *context, struct run *run, struct error *err);

#endif
