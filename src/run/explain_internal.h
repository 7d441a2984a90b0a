/* Why a run failed: the logs of all its nodes are searched there, and what they say is ranked. */
#ifndef MTLAUNCH_RUN_EXPLAIN_INTERNAL_H
#define MTLAUNCH_RUN_EXPLAIN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "insight/diagnosis.h"
#include "model/run.h"
#include "node_set_internal.h"

/* What was heard, and what it comes to. Owned but for the labels, which are the run's. */
struct explanation {
    struct evidence *evidence; /* one a node */
    struct node_end *ends;     /* one a node */
    char **files;              /* names of their logs; NULL: not read */
    size_t nodes_len;
    struct diagnosis diagnosis;
    const char
        *forbidden; /* what of restart.no_restart_on stands in a log; borrowed from the run; NULL: nothing */
};

/*
 * Search the logs of an attempt (0: the current one) on the wanted nodes (flags; NULL: all) of run, which set
 * was opened for, and rank what was found. A node that cannot be asked leaves no evidence. 0, or -1 when
 * interrupted: then it holds what had come.
 */
int run_explain(struct node_set *set, const struct run *run, unsigned attempt, const bool *wanted,
                struct explanation *out);
void explanation_release(struct explanation *explanation);

/*
 * The reason of a failed run: host, node, global rank, cause and place in one line, with a hint below where
 * there is one. Where no log tells the cause it is how the node that failed first ended, with the last lines
 * of its log. NULL when no node failed. Secrets are masked. The caller frees.
 */
char *run_explanation_text(struct node_set *set, const struct run *run,
                           const struct explanation *explanation);

/* True when only consequences are known, so that the cause must come from nodes that have not ended. */
bool explanation_is_open(const struct explanation *explanation);

#endif
