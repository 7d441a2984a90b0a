/*
 * The all-reduce test over a job's nodes (`check --comm`): one program on each node, controlled by this
 * process round by round. comm.c runs the rounds, comm_node.c talks to one node.
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

/* Nodes that do an all-reduce together. */
struct comm_group {
    unsigned round;       /* number of the round, unique per group */
    const size_t *places; /* nodes; the first creates the store */
    size_t len;
};

enum comm_state {
    COMM_ABSENT,   /* never asked, or its program has ended */
    COMM_STARTING, /* running setup lines, or loading torch */
    COMM_READY,
    COMM_BUSY /* in a round */
};

struct comm;

/* The state of one node. */
struct comm_member {
    struct comm *comm;
    size_t node;
    enum comm_state state;
    const char *interpreter; /* borrowed */
    struct ask ask;
    struct node_comm stream;
    struct str input, waiting; /* input being sent, and input to send after it */
    bool takes_input;
    struct strlist logs; /* NCCL's lines about the transport */
    struct node_comm_event hello;
    const struct comm_group *group; /* the round it is in; NULL: none */
    size_t place;                   /* index in the group */
    bool told;                      /* the order for the round was sent */
    unsigned limit_s;               /* time limit of the round */
    struct node_comm_event result;  /* of the last round; round 0: none yet */
};

struct comm {
    struct node_set *set;
    const struct plan *plan; /* one node per host of the set */
    const struct job *job;
    const char *run_id;
    char mark[NODE_NONCE_LEN + 1];
    struct comm_member *members; /* one per node */
    size_t count;
    struct comm_result *result; /* its nodes correspond to those of the plan */
    bool ending;                /* the test is ending: the end of a program is no problem any more */
    unsigned processes, round;
};

/* Start the program on a node. */
void comm_member_begin(struct comm *comm, size_t node);

/*
 * Let a node take part in a round, at this index of the group. The first node of the group gets its order at
 * once.
 */
void comm_member_join(struct comm *comm, size_t node, const struct comm_group *group, size_t place,
                      unsigned limit_s);

/* Send the program the order to end. */
void comm_member_end(struct comm_member *member);

/* Exclude the node from further rounds. */
void comm_member_give_up(struct comm_member *member, const char *problem, const char *remedy);

void comm_member_release(struct comm_member *member);

/* The target of requests to the node. It borrows from comm. */
struct node_target comm_target(const struct comm *comm, size_t node);

/* What the test needs from the checks before it. All borrowed. */
struct comm_request {
    const struct job *job;
    const struct plan *plan; /* made for run_id, from what the checks found */
    const char *run_id;
    const bool *asked;      /* one per node: whether it can be reached */
    const bool *fast_ports; /* one per node: whether it has RDMA ports that are up */
};

/* Run the test. 0, or -1 with err when interrupted; result then holds what was done before. */
int comm_run(struct node_set *set, const struct comm_request *request, struct comm_result *result,
             struct error *err);

#endif
