/*
 * What a command needs before it acts on hosts, gathered from the job file, the options and the caller's
 * environment. Contacts no host.
 */
#ifndef MTLAUNCH_CMD_SETUP_INTERNAL_H
#define MTLAUNCH_CMD_SETUP_INTERNAL_H

#include "cmd/cmd.h"
#include "input/jobfile.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "reach/endpoint.h"
#include "run/plan.h"
#include "run/store.h"

struct setup {
    struct machine machine;
    struct job_request asked; /* the request from which job was made; borrows from the call */
    struct job job;
    bool has_job;
    struct run run; /* the run whose nodes are the hosts; see setup_load_run */
    bool has_run;
    struct hostlist hosts;
    bool alone; /* no host list was named: use this machine */
    struct ssh_config *config;
    struct endpoint *endpoints; /* one per host; NULL until setup_endpoints */
    struct plan_host *facts;    /* the same for the planner; borrows from endpoints */
};

#define AUTO_SETUP __attribute__((cleanup(setup_release)))
void setup_release(struct setup *setup);

/*
 * Load this machine, the job (NULL: the command has none) and the host list. Notes and warnings go to stderr.
 * setup is zero before the call. Release it in any case.
 */
int setup_load(struct setup *setup, const struct cmd_call *call, const char *job, struct error *err);

/*
 * Take the nodes of a recorded run as the host list, reached as its spec said; --exclude and --nodes narrow
 * it. Errors: kind_no_such_run, kind_usage (another host list is given too), kind_host_list.
 */
int setup_load_run(struct setup *setup, const struct cmd_call *call, const char *name, struct error *err);

/* Find out how each host is reached. */
int setup_endpoints(struct setup *setup, struct error *err);

/*
 * Load the hosts of --run, of --job or of the host options, and how each is reached. Warns about hosts whose
 * keys are not verified. Release setup in any case.
 */
int setup_load_hosts(struct setup *setup, const struct cmd_call *call, struct error *err);

#endif
