/* Leaves a process that continues a stop, or the supervision, if this command ends before it is done. */
#ifndef MTLAUNCH_RUN_STAND_IN_INTERNAL_H
#define MTLAUNCH_RUN_STAND_IN_INTERNAL_H

#include "run/usecase.h"

/*
 * A signal ends this process, or may end it, before the stop of a live run is verified: make sure that a
 * process remains that continues it. That is the supervisor, if it lives; else the context starts one,
 * once.
 */
void run_leave_stand_in(struct run_context *context, const char *name);

#endif
