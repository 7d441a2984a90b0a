/* `hosts --trust`: show the unknown host keys of a list, and add them after confirmation. */
#ifndef MTLAUNCH_CMD_TRUST_INTERNAL_H
#define MTLAUNCH_CMD_TRUST_INTERNAL_H

#include "cmd/cmd.h"
#include "cmd/setup_internal.h"

/* Failures of single hosts go to call->failures. Returns the exit code, or -1 with err. */
int trust_hosts(struct cmd_call *call, struct setup *setup, struct error *err);

#endif
