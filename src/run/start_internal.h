/* The parts of a start: the record it begins with, the probe before it, the start itself. */
#ifndef MTLAUNCH_RUN_START_INTERNAL_H
#define MTLAUNCH_RUN_START_INTERNAL_H

#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "preflight_internal.h"
#include "reached_internal.h"
#include "round_internal.h"
#include "run/plan.h"

/* A node whose command or setup line ended with a status before it counted as started. */
struct start_end {
    char *reason; /* NULL: it did not */
    bool setup;   /* it was a setup line */
};

struct start {
    struct run_context *context;
    const struct run_start_request *request;
    struct run *run;
    const struct hostlist *hosts;       /* the request's, or replaced's once a spare was taken */
    const struct plan_host *host_facts; /* one per host */
    struct reached_hosts replaced;
    struct node_set set;
    struct plan plan;              /* made with what is known so far */
    struct preflight_node *checks; /* one per node, after the probe */
    bool *touched;                 /* one per node: told to start, so something may live there */
    bool *unreached; /* one per node: the probe found no way to it, and the key was not at fault */
    struct node_failures failures;
    struct start_end *ends; /* one per node */
    bool asked_to_start;    /* the probe is over, nodes were told to start */
    bool named_others;      /* other runs on the nodes were named */
    bool recorded;          /* the record holds this start's policy; spares may have left it */
    bool port_lost;         /* another run took the master port between probe and start */
};

/*
 * The next attempt of a run that was restarted (request.is_restart). The lock is held, run is loaded, its
 * attempt before is proven gone. Errors as for run_start; the run is `stopping` then, nothing of the attempt
 * is left but what not_proven names.
 */
int run_restart(struct run_context *context, const struct run_start_request *request, struct run *run,
                struct error *err);

/* Make (or make again) the plan with the facts known so far. Warnings are reported when it is made last. */
int start_make_plan(struct start *start, bool probed, struct error *err);

/* Fill a new attempt into the record from plan, job and hosts: state starting, nodes pending. */
void start_fill_record(struct start *start);

/* What the checks found that is not well, for the record. */
void start_record_findings(const struct start *start, const struct findings *findings);

/* After the probe: what only now is known (port, paths, processes). */
void start_complete_record(struct start *start);

/*
 * Run the steps of `prepare` on the nodes they concern, one step after the other. Failures are gathered. 0,
 * or -1 when interrupted.
 */
int start_prepare(struct start *start);

/* What the checks of this start are about. Borrows from start. */
struct preflight start_preflight(const struct start *start);

/*
 * Warn of what checks found that does not keep the run from starting, the same on many hosts once. Other runs
 * on the nodes are named once a start, and not when a run is restarted.
 */
void start_report_warnings(struct start *start);

/* The start has failed with err: leave nothing running and record the failure. Returns -1. */
int start_fail(struct start *start, struct error *err);

/* Some nodes failed in a step: report them, and make one error of all. Returns -1. */
int start_nodes_failed(struct start *start, const char *step, struct error *err);

/*
 * Push the files of the job's sync to the hosts, and put into the record what was sent. 0; 1: spares have
 * taken the place of hosts, which are to be asked instead; -1 with err.
 */
int start_sync(struct start *start, struct error *err);
void start_note_sync(const struct start *start); /* an event; the record has been saved */

/* Is the host away? A wrong key, a refused login or a bad answer says that it is there. */
bool start_is_out_of_reach(const struct error_kind *kind);

/* Ask every node for its probe and judge it; failures are gathered. 0, or -1 when interrupted. */
int start_probe_nodes(struct start *start);

#endif
