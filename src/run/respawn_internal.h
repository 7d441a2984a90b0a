/*
 * What a restart of a run needs, even after the head has crashed: the spec's text, the options of the start,
 * the variables that it used, the hosts. It is kept in the run's folder (0600, as values may be secret) while
 * the run is live and may be restarted. A restart uses this copy of the spec, not the current file.
 */
#ifndef MTLAUNCH_RUN_RESPAWN_INTERNAL_H
#define MTLAUNCH_RUN_RESPAWN_INTERNAL_H

#include <stdbool.h>

#include "base/json.h"
#include "model/job.h"
#include "reached_internal.h"
#include "run/usecase.h"

struct run_respawn {
    json_t *object; /* as saved */
    struct job job;
    bool has_job;
    struct reached_hosts reached;
    char **environ_; /* NAME=VALUE, NULL-terminated */
};

/* Save it for the run of this request. Errors: kind_local. */
int run_respawn_save(const struct run_context *context, const struct run_start_request *request,
                     struct error *err);

bool run_respawn_has(const struct run_store *store, const char *name);

/* Load it. respawn is zero before; release it in any case. Errors: kind_local, and those of reading a job. */
int run_respawn_load(const struct run_context *context, const char *name, struct run_respawn *respawn,
                     struct error *err);
void run_respawn_release(struct run_respawn *respawn);

/* Replace one of the hosts, and save the result. */
int run_respawn_replace_host(const struct run_context *context, const char *name, size_t index,
                             const struct host *host, struct error *err);

#endif
