/*
 * Notifications of a command: the observer's events go to the targets of the spec's `notify`. A command that
 * may bring a run to its end begins with one of the first two; session_close ends it, after a short wait for
 * notifications that are still being sent. Without targets, or after an error (a warning), the command
 * continues without notifications.
 */
#ifndef MTLAUNCH_CMD_NOTIFY_INTERNAL_H
#define MTLAUNCH_CMD_NOTIFY_INTERNAL_H

#include "cmd/session_internal.h"
#include "model/job.h"

void session_notify_job(struct session *session, const struct job *job); /* start: as the spec says */
void session_notify_run(struct session *session, const char *name); /* later commands: as it was said then */
void session_notify_end(struct session *session);

#endif
