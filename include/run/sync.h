/*
 * `sync` of a job: its files are pushed to the nodes before a start. No live run of this head may be using
 * the target folder. The source's git state goes into the record of the run.
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
    const struct run *run; /* that is started: its own folder may be used; NULL: none yet */
    unsigned fanout;
    unsigned connect_timeout_ms;
    const struct run_copy_observer *observer;
};

/*
 * Errors: kind_run_live (6), those of run_push, and the worst of the hosts'. out (zero before, its commit
 * freed by the caller) is filled on success. failures (one per host, kind NULL before; may be NULL) gets what
 * went wrong on hosts.
 */
int run_sync(const struct run_sync_request *request, struct run_synced *out, struct error *failures,
             struct error *err);

#endif
