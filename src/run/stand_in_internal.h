/* Leaves a process that continues a stop, or the supervision, if this command ends too early. */
#ifndef MTLAUNCH_RUN_STAND_IN_INTERNAL_H
#define MTLAUNCH_RUN_STAND_IN_INTERNAL_H

#include "run/usecase.h"

/*
 * Call this when a signal ends this process, or may end it, before the stop of a live run is verified. It
 * makes sure that a process remains to continue the stop: the supervisor, if it is alive; else the context
 * starts a process, once.
 */
void run_leave_stand_in(struct run_context *context, const char *name);

#endif
