/* The push before a start. */
#ifndef MTLAUNCH_CMD_SYNC_INTERNAL_H
#define MTLAUNCH_CMD_SYNC_INTERNAL_H

#include "cmd/cmd.h"
#include "cmd/setup_internal.h"
#include "model/run.h"
#include "run/store.h"

/* Push the job's `sync`, show it, and fill synced (zero before; its commit is the caller's). As run_sync. */
int cmd_sync(struct cmd_call *call, const struct setup *setup, const struct run_store *store,
             struct run_synced *synced, struct error *err);

#endif
