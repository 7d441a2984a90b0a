/* Checks of a job's nodes, for their callers: a start, or the command `check`. */
#ifndef MTLAUNCH_RUN_PREFLIGHT_INTERNAL_H
#define MTLAUNCH_RUN_PREFLIGHT_INTERNAL_H

#include "check/check.h"
#include "node/request.h"
#include "run/plan.h"
#include "run/usecase.h"

/* What the questions are about. All borrowed. */
struct preflight {
    const struct run_context *context;
    const char *run;
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan *plan;
    bool starting;     /* the job starts when all is well */
    const char *token; /* see check_subject; NULL and 0: nodes are not compared */
    unsigned probe_port;
};

/* What one node was asked and has answered. Owned. */
struct preflight_node {
    struct check_choice choice;
    int64_t asked_ms; /* monotonic */
    char *inspect;    /* what the engine reports about the container, as JSON; NULL: it was not asked */
    struct facts facts;
    struct findings findings;
};

void preflight_node_release(struct preflight_node *node);

/* The job part of a question to a node. Borrows from plan. */
struct node_job preflight_node_job(const struct plan *plan, size_t node);

/* Build the call that asks a node for the checks of out->choice, which loses those that make no sense there.
 */
void preflight_build(const struct preflight *preflight, size_t node, const struct node_target *target,
                     struct preflight_node *out, const char *nonce, struct node_call *call);

/* Read and judge the answer of a node. Errors as for node_answer_facts and check_verify; failed checks are
 * none. */
int preflight_take(const struct preflight *preflight, size_t node, const char *bytes, size_t len,
                   const char *nonce, struct preflight_node *out, struct error *err);

/* What a node's answer tells the plan. Borrows from facts. */
struct plan_node_facts preflight_plan_facts(const struct facts *facts);

/*
 * Compare the nodes that answered (answered has one entry each) with each other.
 */
void preflight_compare(const struct preflight *preflight, const struct preflight_node *nodes,
                       const bool *answered, const struct check_choice *choice, struct findings *out);

/* A setup line (from 1) as a message quotes it: its first line, secrets masked. The caller frees it. */
char *preflight_setup_line(const struct preflight *preflight, unsigned number);

#endif
