/* All runs of this head, for `list` and for `status` without a name. */
#ifndef MTLAUNCH_CMD_RUNS_INTERNAL_H
#define MTLAUNCH_CMD_RUNS_INTERNAL_H

#include "cmd/session_internal.h"

/*
 * Append every run to text. ask: first ask the nodes of runs that have not ended. A record that cannot be
 * read is reported, and the others are shown. Returns the exit code, or -1.
 */
int runs_picture(struct session *session, bool ask, struct str *text, struct error *err);

/* The same, printed. */
int runs_print(struct session *session, bool ask, struct error *err);

#endif
