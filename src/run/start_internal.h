/* The parts of a start: the record it begins with, the probe before it, the start itself. */
#ifndef MTLAUNCH_RUN_START_INTERNAL_H
#define MTLAUNCH_RUN_START_INTERNAL_H

#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "reached_internal.h"
#include "run/plan.h"

/* A node whose command or setup line ended with a status before it counted as started. */
struct start_end {
    char *reason; /* NULL: it did not */
    char *output; /* the end of its log, safe to show */
};

struct start {
    struct run_context *context;
    const struct run_start_request *request;
    struct run *run;
    const struct hostlist *hosts;       /* the request's, or replaced's once a spare was taken */
    const struct plan_host *host_facts; /* one a host */
    struct reached_hosts replaced;
    struct node_set set;
    struct plan plan;          /* made with what is known so far */
    struct node_probe *probes; /* one a node, after the probe */
    bool *touched;             /* one a node: told to start, so something may live there */
    bool *unreached;           /* one a node: the probe found no way to it, and the key was not at fault */
    struct node_failures failures;
    struct start_end *ends; /* one a node */
    bool asked_to_start;    /* the probe is over, nodes were told to start */
    bool told_others;       /* other runs on the nodes were named */
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

/* Make (or make again) the plan with the facts known so far. Warnings are told at the last making. */
int start_make_plan(struct start *start, bool probed, struct error *err);

/* Fill a new attempt into the record from plan, job and hosts: state starting, nodes pending. */
void start_fill_record(struct start *start);

/* After the probe: what only now is known (port, paths, processes). */
void start_complete_record(struct start *start);

/* The job part of a question to a node. Borrows from start->plan. */
struct node_job start_node_job(const struct start *start, size_t node);

/* Files of a node's command that the probe looks at (node/request.h). Owned; NULL: none. */
struct start_look {
    char *exec, *shell, *read;
};

/* out is zeroed before. A shell line is looked at when it is one plain command. */
void start_look_find(const struct plan_node *node, struct start_look *out);
void start_look_release(struct start_look *look);

/* What the probe found at fault with them: 0, or -1 with kind_program_missing. */
int start_look_judge(const struct node_probe *probe, struct error *err);

/* A setup line (from 1) as a message quotes it: its first line, secrets masked. The caller frees it. */
char *start_setup_line(const struct start *start, unsigned number);

/* Tell where the artifacts folder is lost with the container. */
void start_warn_unmounted(const struct start *start);

/* Warn about nodes whose systemd-logind would end the job when the login that started it ends. */
void start_warn_logout(const struct start *start);

/*
 * Warn, once a start, of other runs that live on the nodes; not of the one whose job called this command.
 */
void start_warn_others(struct start *start);

/* Ask every node for its probe and judge it; failures are gathered. 0, or -1 when interrupted. */
int start_probe_nodes(struct start *start);

#endif
