/* The supervisor that `start` leaves on this machine. */
#ifndef MTLAUNCH_CMD_SUPERVISE_INTERNAL_H
#define MTLAUNCH_CMD_SUPERVISE_INTERNAL_H

#include "cmd/session_internal.h"

/*
 * Start `mtlaunch supervise NAME` in a session of its own, its output in supervisor.log of the run's folder,
 * and wait until it is there. That it cannot be is a warning: the run does not need it to live.
 */
void supervise_leave_behind(const struct session *session, const char *name);

#endif
