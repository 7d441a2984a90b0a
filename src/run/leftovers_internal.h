/*
 * Finds and reports processes that are still alive although their node's command, or the whole run, has
 * ended.
 */
#ifndef MTLAUNCH_RUN_LEFTOVERS_INTERNAL_H
#define MTLAUNCH_RUN_LEFTOVERS_INTERNAL_H

#include <stdbool.h>

#include "base/strlist.h"
#include "model/run.h"
#include "node_set_internal.h"

/* Leftover processes on nodes, as owned lines for display. */
struct leftovers {
    struct strlist lines;    /* "g0033: 2 leftover processes: 17 (sleep 9), 18 (…)" */
    struct strlist silent;   /* "g0034: why it did not answer" */
    struct strlist unproven; /* "g0035: why it could not list all its processes" */
};

/*
 * Ask the nodes that have ended (all: every node) which processes of the run are still alive there. Fills
 * found, which the caller releases with leftovers_release. 0, or -1 when interrupted.
 */
int run_find_leftovers(struct node_set *set, struct run *run, bool all, struct leftovers *found);
void leftovers_release(struct leftovers *found);

/*
 * The run has ended by itself: report the processes that it left behind, also as events, and with end, end
 * them too. 0, or -1 when interrupted.
 */
int run_report_leftovers(struct node_set *set, struct run *run, bool end);

#endif
