/* Fetches and formats the last lines of nodes' logs, for reasons and events. */
#ifndef MTLAUNCH_RUN_LASTLINES_INTERNAL_H
#define MTLAUNCH_RUN_LASTLINES_INTERNAL_H

#include <stdbool.h>

#include "model/run.h"
#include "node_set_internal.h"

#define LAST_LINES_BYTES 8000 /* at most this many bytes of a node's lines are kept */

/*
 * Ask the wanted nodes of run (one flag per node), for which set was opened, for the last lines of their logs
 * of this attempt. texts gets one text per node, safe to display and without a newline at its end; NULL if
 * none arrived. The caller frees them. 0, or -1 when interrupted.
 */
int run_fetch_lines(struct node_set *set, const struct run *run, const bool *wanted, unsigned lines,
                    char **texts);

/*
 * The end of a log's text (NULL accepted), safe to display and without a newline at its end. The caller frees
 * it.
 */
char *run_safe_lines(const char *plain);

/* "HEAD:\n line\n line" with the last lines of text; HEAD alone when there are none. The caller frees it. */
char *run_quote_lines(const char *head, const char *text, unsigned lines);

/*
 * Why a run failed, from the node that failed first and text, the last lines of its log (safe to display, or
 * NULL): "g1 (node 0): exit status 3:\n line". The caller frees it.
 */
char *run_failure_text(const struct run_node *node, const char *text);

#endif
