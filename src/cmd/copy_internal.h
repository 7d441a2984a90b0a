/* What push and pull share. */
#ifndef MTLAUNCH_CMD_COPY_INTERNAL_H
#define MTLAUNCH_CMD_COPY_INTERNAL_H

#include "cmd/cmd.h"
#include "run/push.h"

/*
 * Find the hosts, and copy with work (run_push, run_pull): the last operand is the target, those before it
 * are the sources. verb: "sent", "received". Returns the exit code, or -1.
 */
int cmd_copy(struct cmd_call *call, int (*work)(const struct run_copy_request *, struct error *),
             const char *verb, struct error *err);

#endif
