/* A host list, and how each of its hosts is reached according to a job. */
#ifndef MTLAUNCH_RUN_REACHED_INTERNAL_H
#define MTLAUNCH_RUN_REACHED_INTERNAL_H

#include "base/error.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "reach/endpoint.h"
#include "run/plan.h"

struct reached_hosts {
    struct hostlist list;
    struct ssh_config *config;
    struct endpoint *endpoints; /* one per host */
    struct plan_host *facts;    /* the same for the planner; borrows from endpoints */
};

/*
 * Determine how the hosts of the list are reached; earlier results are replaced. Errors: those of ssh_config
 * and of endpoints.
 */
int reached_hosts_resolve(struct reached_hosts *hosts, const struct job *job, const char *home,
                          struct error *err);
void reached_hosts_release(struct reached_hosts *hosts);

#endif
