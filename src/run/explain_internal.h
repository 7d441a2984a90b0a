/* Finds out why a run failed: the nodes search their logs, and the messages found are ranked here. */
#ifndef MTLAUNCH_RUN_EXPLAIN_INTERNAL_H
#define MTLAUNCH_RUN_EXPLAIN_INTERNAL_H

#include "model/run.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "run/diagnose.h"

/* Allocate entries for this number of nodes, all without evidence. */
void explanation_init(struct explanation *explanation, size_t nodes_len);

/*
 * Search the logs of an attempt (0: the current one) on the wanted nodes (flags; NULL: all) of run, for which
 * set was opened, and rank what was found. A node that cannot be asked leaves no evidence; the reason goes to
 * failures (may be NULL). 0, or -1 when interrupted; out then holds what had arrived.
 */
int run_explain(struct node_set *set, const struct run *run, unsigned attempt, const bool *wanted,
                struct node_failures *failures, struct explanation *out);

/*
 * Set the reason of a failed run in one line (host, node, global rank, cause and place), with the hosts of
 * the cause and the remedy. If no log shows the cause, the reason is how the node that failed first ended,
 * with the last lines of its log. Does nothing when no node failed. Secrets are masked.
 */
void run_set_explained_reason(struct node_set *set, struct run *run, const struct explanation *explanation);

/* The same, but the reason is always how the node ended, whatever its log shows. */
void run_set_end_reason(struct node_set *set, struct run *run, size_t node,
                        const struct explanation *explanation);

/* Set the hint of err from text, the end of a log, if its message is known. */
void run_hint_from_log(struct error *err, const char *text);

/* True when only consequences are known, so that the cause must come from nodes that have not ended. */
bool explanation_is_open(const struct explanation *explanation);

#endif
