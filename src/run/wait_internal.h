/*
 * The ways in which waiting for a run ends, for the supervise loop and for callers that only watch the
 * record.
 */
#ifndef MTLAUNCH_RUN_WAIT_INTERNAL_H
#define MTLAUNCH_RUN_WAIT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/run.h"
#include "run/usecase.h"

/* Whether the time limit of the command has passed. began_ms: monotonic. */
bool wait_is_time_up(const struct run_wait_request *request, int64_t began_ms);

/* Set the error for a passed time limit. Returns -1. */
int wait_time_is_up(const struct run_wait_request *request, const struct run *run, struct error *err);

/* The run has ended: 0 when it has finished, else -1 with the error that says how it ended. */
int wait_outcome(const struct run *run, struct error *err);

/* Set the error after SIGHUP: the command ends, the run continues. Returns -1. */
int wait_hung_up(struct run_context *context, const struct run_wait_request *request, const struct run *run,
                 struct error *err);

#endif
