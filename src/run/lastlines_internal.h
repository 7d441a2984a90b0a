/* The last lines of nodes' logs, for reasons and events. */
#ifndef MTLAUNCH_RUN_LASTLINES_INTERNAL_H
#define MTLAUNCH_RUN_LASTLINES_INTERNAL_H

#include <stdbool.h>

#include "model/run.h"
#include "node_set_internal.h"

#define LAST_LINES_BYTES 8000 /* kept of a node's lines */

/*
 * Ask the wanted nodes of run, which set was opened for (one flag per node), for the last lines of their logs
 * of this attempt. texts: one per node, made safe to show, without a line end after the last one; NULL where
 * none came. The caller frees them. 0, or -1 when interrupted.
 */
int run_fetch_lines(struct node_set *set, const struct run *run, const bool *wanted, unsigned lines,
                    char **texts);

/* The end of a log's text (NULL accepted), made safe to quote: no line end after it. Caller frees. */
char *run_safe_lines(const char *plain);

/* "HEAD:\n    line\n    line" with the last lines of text; HEAD alone when there are none. Caller frees. */
char *run_quote_lines(const char *head, const char *text, unsigned lines);

/*
 * Why a run failed, by the node that failed first and the last lines of its log (safe to show, or NULL): "g1
 * (node 0): exit status 3:\n    line". Caller frees.
 */
char *run_failure_text(const struct run_node *node, const char *text);

#endif
