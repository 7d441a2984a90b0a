/*
 * `sync` of a job: pushes its files to the nodes before a start, unless a live run of this head uses the
 * target folder. The git state of the source is recorded with the run.
 */
#ifndef MTLAUNCH_RUN_SYNC_H
#define MTLAUNCH_RUN_SYNC_H

#include "base/error.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "model/run.h"
#include "run/push.h"
#include "run/store.h"

/* All borrowed. */
struct run_sync_request {
    const struct run_store *store;
    const struct job *job; /* with sync.from */
    const struct hostlist *hosts;
    const struct endpoint *endpoints;
    const struct run *run; /* the run being started, which may use the folder itself; NULL: none yet */
    unsigned fanout;
    unsigned connect_timeout_ms;
    const struct run_copy_observer *observer;
};

/*
 * Errors: kind_run_live (6), those of run_push, and the worst error of a host. out is filled on success; the
 * caller sets it to zero before and frees its commit. failures (one per host, kind NULL before; may be NULL)
 * receives the errors of the hosts.
 */
int run_sync(const struct run_sync_request *request, struct run_synced *out, struct error *failures,
             struct error *err);

#endif
