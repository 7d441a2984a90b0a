/* The working folder of a job on each host, for commands that take paths relative to it. */
#ifndef MTLAUNCH_RUN_WORKDIR_H
#define MTLAUNCH_RUN_WORKDIR_H

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "model/run.h"

/*
 * Find the folders as the plan does: the host's own, else the job's, else the container's. run: the run being
 * started; NULL: none. out receives one per host; "": the login folder, or the container's own. Errors:
 * kind_usage when a folder depends on a value that only a start knows.
 */
int workdir_of_job(const struct job *job, const struct hostlist *hosts, const struct run *run,
                   struct strlist *out, struct error *err);
/* The same from a run's record; hosts are some of its nodes. */
int workdir_of_run(const struct run *run, const struct hostlist *hosts, struct strlist *out,
                   struct error *err);

#endif
