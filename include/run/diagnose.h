/* Why a run failed, from the logs of its nodes or from log files on this machine. */
#ifndef MTLAUNCH_RUN_DIAGNOSE_H
#define MTLAUNCH_RUN_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "insight/diagnosis.h"
#include "model/progress.h"
#include "run/usecase.h"

/* The evidence of the nodes, and the diagnosis made from it. Owned. */
struct explanation {
    struct evidence *evidence; /* one per node */
    struct node_end *ends;     /* one per node */
    char **files;              /* names of their logs; NULL: not read */
    char **hosts;              /* labels */
    size_t nodes_len;
    struct diagnosis diagnosis;
    struct training_progress progress; /* of the training, as the logs show it */
    /* the entry of restart.no_restart_on that was found in a log; borrowed from the run; NULL: none */
    const char *forbidden;
};

void explanation_release(struct explanation *explanation);

/*
 * Search the logs of an attempt (0: the current one) on the nodes of a run. Nodes that cannot be reached
 * cause a warning. Errors: no_such_run, usage (no such attempt), the worst failure when no node could be
 * reached, interrupted. Release out in any case.
 */
int run_diagnose(struct run_context *context, const char *name, unsigned attempt, struct explanation *out,
                 struct error *err);

/*
 * Read log files of one job on this machine, one per node. The node's number is that in "node<digits>" of the
 * path if every path contains one, else the position in the list. Errors: kind_usage (a file that cannot be
 * read, the same node twice). Release out in any case.
 */
int run_diagnose_logs(char *const *files, size_t count, struct explanation *out, struct error *err);

#endif
