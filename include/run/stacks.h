/* What the workers of a run are doing, as their nodes report it. */
#ifndef MTLAUNCH_RUN_STACKS_H
#define MTLAUNCH_RUN_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "insight/stacks.h"
#include "run/usecase.h"

struct run_stacks_request {
    const struct strlist *nodes; /* ranks (digits) or hosts; empty: all */
    struct strlist *ranks;       /* global ranks of torch; empty: all. Leading zeros are dropped */
    const char *py_spy;          /* a file on the nodes; NULL: the py-spy that is found there */
    bool dumps;                  /* first make the flight recorders write their dumps */
    bool quiet;                  /* no progress, and failures of nodes are not reported */
};

/* Why a node, or a rank of it, has no stack. */
struct run_stacks_problem {
    size_t node; /* its index in the run; problems are sorted by it */
    char *host, *text;
};

struct run_stacks_result {
    struct stack_list stacks;
    struct stack_groups groups; /* of stacks */
    struct run_stacks_problem *problems;
    size_t problems_len, problems_cap;
};

void run_stacks_result_release(struct run_stacks_result *result);

/*
 * Ask the nodes of a live run. 0: every node that was asked has answered; without --node, nodes that have
 * ended are not an error. Errors: usage, no_such_run, run_over (6), the worst failure of a node (3). run and
 * result are filled as far as known.
 */
int run_stacks(struct run_context *context, const char *name, const struct run_stacks_request *request,
               struct run *run, struct run_stacks_result *result, struct error *err);

#endif
