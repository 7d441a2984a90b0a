/*
 * Notifications of a command: the observer's events go to the targets of the spec's `notify`. A command that
 * may bring a run to its end calls one of the first two at its start. session_close ends the notifications,
 * after a short wait for those still being sent. Without targets, or after an error (a warning), the command
 * continues without notifications.
 */
#ifndef MTLAUNCH_CMD_NOTIFY_INTERNAL_H
#define MTLAUNCH_CMD_NOTIFY_INTERNAL_H

#include "cmd/session_internal.h"
#include "model/job.h"

void session_notify_job(struct session *session, const struct job *job); /* start: targets of the spec */
/* later commands: targets recorded at the start */
void session_notify_run(struct session *session, const char *name);
void session_notify_end(struct session *session);

#endif
