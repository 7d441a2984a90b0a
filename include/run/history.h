/* Gathers all that is known about a run for a report: its record, its nodes, its logs, its samples. */
#ifndef MTLAUNCH_RUN_HISTORY_H
#define MTLAUNCH_RUN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/samples.h"
#include "run/diagnose.h"
#include "run/store.h"
#include "run/usecase.h"

#define HISTORY_LOGS_MAX 8 /* nodes whose last log lines are kept */

/* The end of a node's log, safe to display: secrets are masked. */
struct run_log_end {
    size_t node; /* its index in the run */
    char *text;  /* whole lines */
};

struct run_history {
    struct run run;
    struct run_events events;
    struct explanation explanation;
    struct samples training; /* from the supervisor's samples and the logs of the current attempt */
    struct samples gpus;
    /* of the nodes with the cause and its consequences, the first node and the last ones */
    struct run_log_end logs[HISTORY_LOGS_MAX];
    size_t logs_len;
    struct strlist notes; /* what is missing, and why */
};

/*
 * Gather everything. The nodes of a live run are asked for their state. What a node does not report is left
 * out and explained in notes. Errors: no_such_run, record_newer, record_damaged, interrupted. Release out in
 * any case.
 */
int run_history_gather(struct run_context *context, const char *name, struct run_history *out,
                       struct error *err);
void run_history_release(struct run_history *history);

#endif
