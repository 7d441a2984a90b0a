/* Declarations shared by the parts of a start: its record, its probe, the start itself, its rollback. */
#ifndef MTLAUNCH_RUN_START_INTERNAL_H
#define MTLAUNCH_RUN_START_INTERNAL_H

#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "preflight_internal.h"
#include "reached_internal.h"
#include "round_internal.h"
#include "run/plan.h"

/* How a command or setup line ended with a status before the node counted as started. */
struct start_end {
    char *reason; /* NULL: it did not end */
    bool setup;   /* it was a setup line */
};

struct start {
    struct run_context *context;
    const struct run_start_request *request;
    struct run *run;
    const struct hostlist *hosts;       /* those of the request, or of replaced once a spare was taken */
    const struct plan_host *host_facts; /* one per host */
    struct reached_hosts replaced;
    struct node_set set;
    struct plan plan;              /* made with the facts known so far */
    struct preflight_node *checks; /* one per node, after the probe */
    bool *touched;   /* one per node: it was told to start something, so processes may be alive there */
    bool *unreached; /* one per node: the probe could not reach it */
    struct node_failures failures;
    struct start_end *ends; /* one per node */
    bool asked_to_start;    /* the probe is over, and nodes were told to start */
    bool named_others;      /* other runs on the nodes were reported */
    bool recorded;  /* the record contains this start's policy, from which spares may have been taken */
    bool port_lost; /* another run took the master port between probe and start */
};

/*
 * Start the next attempt of a run that is restarted (request.is_restart). The lock is held, run is loaded,
 * and its previous attempt is verified to be gone. Errors as for run_start; the run is then `stopping`, and
 * nothing of the attempt is left except on nodes that not_proven names.
 */
int run_restart(struct run_context *context, const struct run_start_request *request, struct run *run,
                struct error *err);

/*
 * Make the plan, or make it again, with the facts known so far. Its warnings are reported only after the
 * probe.
 */
int start_make_plan(struct start *start, bool probed, struct error *err);

/* Add a new attempt to the record, from plan, job and hosts: state starting, nodes pending. */
void start_fill_record(struct start *start);

/* Put the warnings and failures of the checks into the record. */
void start_record_findings(const struct start *start, const struct findings *findings);

/* Add to the record what is known only after the probe (port, paths, processes). */
void start_complete_record(struct start *start);

/*
 * Run the steps of `prepare` on their nodes, one step after the other. Failures are collected. 0, or -1 when
 * interrupted.
 */
int start_prepare(struct start *start);

/* The subject of this start's checks. Borrows from start. */
struct preflight start_preflight(const struct start *start);

/*
 * Report the warnings of the checks, equal ones of many hosts once. Other runs on the nodes are reported once
 * per start, and not at a restart.
 */
void start_report_warnings(struct start *start);

/* The start has failed with err: leave nothing running and record the failure. Returns -1. */
int start_fail(struct start *start, struct error *err);

/* Some nodes failed in a step: report them, and combine them into one error. Returns -1. */
int start_nodes_failed(struct start *start, const char *step, struct error *err);

/*
 * Push the files of the job's sync to the hosts, and record what was sent. 0; 1: spares have replaced hosts;
 * try again with them; -1 with err.
 */
int start_sync(struct start *start, struct error *err);
void start_note_sync(const struct start *start); /* adds an event; the record has been saved before */

/*
 * Whether the error means that the host cannot be reached. A wrong key, a refused login or a bad answer shows
 * that it can.
 */
bool start_is_out_of_reach(const struct error_kind *kind);

/* Probe every node and judge its answer; failures are collected. 0, or -1 when interrupted. */
int start_probe_nodes(struct start *start);

#endif
