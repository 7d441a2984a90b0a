/* Pings the nodes with pending cleanups (run.cleanups) until one answers, alongside all other work. */
#ifndef MTLAUNCH_RUN_CLEANUP_PINGS_INTERNAL_H
#define MTLAUNCH_RUN_CLEANUP_PINGS_INTERNAL_H

#include <stdbool.h>

#include "node_set_internal.h"

struct cleanup_pings;

/* run is borrowed; the set was opened for it. */
struct cleanup_pings *cleanup_pings_open(struct node_set *set, const struct run *run);
void cleanup_pings_free(struct cleanup_pings *pings); /* after node_set_close; NULL accepted */

/* Whether one of them has answered. The fleet's loop is stopped when one does. */
bool cleanup_pings_answered(const struct cleanup_pings *pings);

/* The cleanups were tried: go on pinging the nodes whose cleanup is still pending. */
void cleanup_pings_resume(struct cleanup_pings *pings);

#endif
