/*
 * The all-reduce test over a job's nodes (`check --comm`): one program on each node, which this process
 * directs round by round. comm.c runs the rounds, comm_node.c talks to one node.
 */
#ifndef MTLAUNCH_RUN_COMM_INTERNAL_H
#define MTLAUNCH_RUN_COMM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask_internal.h"
#include "check/comm.h"
#include "node/comm.h"
#include "node_set_internal.h"
#include "run/plan.h"

/* Nodes that make an all-reduce together. */
struct comm_group {
    unsigned round;       /* its own number */
    const size_t *places; /* nodes; the first makes the store */
    size_t len;
};

enum comm_state {
    COMM_ABSENT,   /* never asked, or its program is over */
    COMM_STARTING, /* setup lines, and torch loads */
    COMM_READY,
    COMM_BUSY /* in a round */
};

struct comm;

/* One node's part. */
struct comm_member {
    struct comm *comm;
    size_t node;
    enum comm_state state;
    const char *interpreter; /* borrowed */
    struct ask ask;
    struct node_comm stream;
    struct str input, waiting; /* on its way, and behind it */
    bool takes_input;
    struct strlist logs; /* NCCL's lines about the transport */
    struct node_comm_event hello;
    const struct comm_group *group; /* the round it is in; NULL: none */
    size_t place;                   /* in the group */
    bool told;                      /* it has its order */
    unsigned limit_s;               /* for the round */
    struct node_comm_event result;  /* of the last round; round 0: none yet */
};

struct comm {
    struct node_set *set;
    const struct plan *plan; /* one node a host of the set */
    const struct job *job;
    const char *run_id;
    char mark[NODE_NONCE_LEN + 1];
    struct comm_member *members; /* one per node */
    size_t count;
    struct comm_result *result; /* its nodes are those of the plan */
    bool ending;                /* programs that end are no longer a problem */
    unsigned processes, round;
};

/* Start the program on a node. */
void comm_member_begin(struct comm *comm, size_t node);

/* Let a node take part in a round, at this place of the group; the first one begins. */
void comm_member_join(struct comm *comm, size_t node, const struct comm_group *group, size_t place,
                      unsigned limit_s);

/* Tell it to end. */
void comm_member_end(struct comm_member *member);

/* It takes no part any more. */
void comm_member_give_up(struct comm_member *member, const char *problem, const char *remedy);

void comm_member_release(struct comm_member *member);

/* The target of requests to the node. Borrows. */
struct node_target comm_target(const struct comm *comm, size_t node);

/* What `check --comm` needs of the checks before it. All borrowed. */
struct comm_request {
    const struct job *job;
    const struct plan *plan; /* made with what the checks found, for run_id */
    const char *run_id;
    const bool *asked;      /* one per node: it can be reached */
    const bool *fast_ports; /* one per node: it has ports for RDMA that are up */
};

/* 0, or -1 with err when interrupted. result is filled as far as it came. */
int comm_run(struct node_set *set, const struct comm_request *request, struct comm_result *result,
             struct error *err);

#endif
