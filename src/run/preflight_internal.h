/* The checks of a job's nodes, as a start and the command `check` use them. */
#ifndef MTLAUNCH_RUN_PREFLIGHT_INTERNAL_H
#define MTLAUNCH_RUN_PREFLIGHT_INTERNAL_H

#include "check/check.h"
#include "node/request.h"
#include "run/plan.h"
#include "run/usecase.h"

/* The subject of the checks. All borrowed. */
struct preflight {
    const struct run_context *context;
    const char *run;
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan *plan;
    bool starting;     /* the job is started if the checks pass */
    const char *token; /* see check_subject; NULL and 0: nodes are not compared */
    unsigned probe_port;
};

/* The checks requested from one node, and its answer. Owned. */
struct preflight_node {
    struct check_choice choice;
    int64_t asked_ms; /* monotonic */
    char *inspect;    /* what the engine reports about the container, as JSON; NULL: not requested */
    struct facts facts;
    struct findings findings;
};

void preflight_node_release(struct preflight_node *node);

/* The job part of a request to a node. Borrows from plan. */
struct node_job preflight_node_job(const struct plan *plan, size_t node);

/*
 * Build the call that asks a node for the checks of out->choice; those that do not apply to the node are
 * removed from it.
 */
void preflight_build(const struct preflight *preflight, size_t node, const struct node_target *target,
                     struct preflight_node *out, const char *nonce, struct node_call *call);

/*
 * Read and judge the answer of a node. Errors as for node_answer_facts and check_verify; failed checks are
 * not errors.
 */
int preflight_take(const struct preflight *preflight, size_t node, const char *bytes, size_t len,
                   const char *nonce, struct preflight_node *out, struct error *err);

/* The facts of a node's answer that the plan uses. Borrows from facts. */
struct plan_node_facts preflight_plan_facts(const struct facts *facts);

/*
 * Compare the nodes that answered (answered has one entry each) with each other.
 */
void preflight_compare(const struct preflight *preflight, const struct preflight_node *nodes,
                       const bool *answered, const struct check_choice *choice, struct findings *out);

/* A setup line (from 1) as quoted in messages: its first line, with secrets masked. The caller frees it. */
char *preflight_setup_line(const struct preflight *preflight, unsigned number);

#endif
