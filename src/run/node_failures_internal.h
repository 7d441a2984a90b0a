/* Collects the failures of single nodes during a round, and reports equal ones once for all their nodes. */
#ifndef MTLAUNCH_RUN_NODE_FAILURES_INTERNAL_H
#define MTLAUNCH_RUN_NODE_FAILURES_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/run.h"
#include "run/usecase.h"

struct node_failures {
    struct error *errors; /* one per node; kind NULL: none */
    size_t len;
    size_t count;          /* number of nodes that failed */
    struct strlist labels; /* one per node */
};

/* Labels are copied. Release in any case. */
void node_failures_init(struct node_failures *failures, const struct strlist *labels);
void node_failures_init_run(struct node_failures *failures, const struct run *run);
void node_failures_release(struct node_failures *failures);
void node_failures_set(struct node_failures *failures, size_t node, const struct error *error);

/*
 * Report the failures to the observer, equal ones of several nodes once. worst (may be NULL) gets a copy of
 * the worst one.
 */
void node_failures_report(const struct node_failures *failures, const struct run_context *context,
                          struct error *worst);

#endif
