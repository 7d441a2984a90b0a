/* The supervisor that `start` leaves on this machine. */
#ifndef MTLAUNCH_CMD_SUPERVISE_INTERNAL_H
#define MTLAUNCH_CMD_SUPERVISE_INTERNAL_H

#include "cmd/session_internal.h"

/*
 * Start `mtlaunch supervise NAME` in its own session, with its output in supervisor.log of the run's folder,
 * and wait until it has come up. A failure is only a warning: the run does not need it to live.
 */
void supervise_leave_behind(const struct session *session, const char *name);

/*
 * Start a supervisor that takes over if this process, which supervises or stops the run, ends before the run
 * does. Does not wait. For leave_stand_in of a run_context; ctx: the session.
 */
void supervise_leave_stand_in(void *ctx, const char *name);

#endif
