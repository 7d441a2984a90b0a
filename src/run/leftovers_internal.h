/* Processes that are still alive although their node's command, or the whole run, has ended. */
#ifndef MTLAUNCH_RUN_LEFTOVERS_INTERNAL_H
#define MTLAUNCH_RUN_LEFTOVERS_INTERNAL_H

#include <stdbool.h>

#include "base/strlist.h"
#include "model/run.h"
#include "node_set_internal.h"

/* What lives on nodes although it should not. Owned lines for people. */
struct leftovers {
    struct strlist lines;    /* "g0033: 2 leftover processes: 17 (sleep 9), 18 (…)" */
    struct strlist silent;   /* "g0034: why it did not answer" */
    struct strlist unproven; /* "g0035: why it could not list all its processes" */
};

/*
 * Ask the nodes that have ended (all: every node) what of the run still lives there; found is filled and
 * released by the caller with leftovers_release. 0, or -1 when interrupted.
 */
int run_find_leftovers(struct node_set *set, struct run *run, bool all, struct leftovers *found);
void leftovers_release(struct leftovers *found);

/*
 * The run has ended by itself: say what it left behind, with an event, and with end also end that. 0, or -1
 * when interrupted.
 */
int run_report_leftovers(struct node_set *set, struct run *run, bool end);

#endif
