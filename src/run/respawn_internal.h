/*
 * What it takes to start a run again, also after the head has crashed: the spec's text, the options it was
 * called with, the variables it used, the hosts. Kept in the run's folder (0600: values may be secret) while
 * the run lives and may be restarted; the spec is read from it as it was.
 */
#ifndef MTLAUNCH_RUN_RESPAWN_INTERNAL_H
#define MTLAUNCH_RUN_RESPAWN_INTERNAL_H

#include <stdbool.h>

#include "base/json.h"
#include "model/job.h"
#include "reached_internal.h"
#include "run/usecase.h"

struct run_respawn {
    json_t *object; /* as kept */
    struct job job;
    bool has_job;
    struct reached_hosts reached;
    char **environ_; /* NAME=VALUE, NULL-terminated */
};

/* Keep it for the run of that request. Errors: kind_local. */
int run_respawn_save(const struct run_context *context, const struct run_start_request *request,
                     struct error *err);

bool run_respawn_has(const struct run_store *store, const char *name);

/* respawn is zero; release it in any case. Errors: kind_local, and those of reading a job. */
int run_respawn_load(const struct run_context *context, const char *name, struct run_respawn *respawn,
                     struct error *err);
void run_respawn_release(struct run_respawn *respawn);

/* Put another host in the place of one, and keep that. */
int run_respawn_replace_host(const struct run_context *context, const char *name, size_t index,
                             const struct host *host, struct error *err);

#endif
