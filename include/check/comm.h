/*
 * The all-reduce test of `check --comm`: which nodes are paired with which, and what the results mean. Pure:
 * the layer above runs the rounds.
 */
#ifndef MTLAUNCH_CHECK_COMM_H
#define MTLAUNCH_CHECK_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "model/finding.h"

#define COMM_ID    "comm" /* of its findings */
#define COMM_TITLE "all-reduce between nodes"
#define COMM_WHY                                                                                             \
    "a slow or blocked link between two nodes shows only when data flows, and one slow node sets the pace"

/* Every node is tried with at most so many others; above that, with a sample. */
#define COMM_ROUNDS_MAX 16

/* Rounds after which each of nodes has met each other one; in a round each meets one at most. 0: there is no
 * pair. */
size_t comm_count_rounds(size_t nodes);

/* Fill partner (one per node; its own number: it rests) for round of a whole round robin. */
void comm_find_partners(size_t nodes, size_t round, size_t *partner);

/* The round robin's round that is made as the number-th of count: they are spread evenly. */
size_t comm_choose_round(size_t nodes, size_t count, size_t number);

struct comm_node {
    char *label;
    char *problem;   /* why it took no part, or no part any more; NULL: it did */
    char *remedy;    /* for that; may be NULL */
    char *transport; /* "IB", "RoCE", "Socket" or the name of a plugin; NULL: not known */
    char *interface; /* for sockets; NULL: not known */
    bool fast_ports; /* it has InfiniBand or RoCE ports that are up */
};

struct comm_pair {
    size_t first, second; /* nodes */
    double rate;          /* bus bandwidth, bytes a second; 0: no all-reduce succeeded */
    char *error;          /* then: why, with the node that said it; else NULL */
    unsigned repeats;     /* times it was tried again */
};

struct comm_result {
    const char *backend; /* "nccl" or "gloo"; NULL: the test did not get that far */
    unsigned processes;  /* on each node */
    struct comm_node *nodes;
    size_t count;
    struct comm_pair *pairs;
    size_t pairs_len, pairs_cap;
    size_t rounds, rounds_all; /* rounds made of a round robin, and those of a whole one */
    size_t whole_nodes;        /* of the last all-reduce, over all nodes that can; 0: it was not made */
    double whole_rate;         /* 0: it failed */
    char *whole_error;
    unsigned elapsed_ms;
    struct findings left; /* what could not be shown to have ended */
};

void comm_result_release(struct comm_result *result);

/* The pair of two nodes, in either order; made if there is none. Valid until the next is made. */
struct comm_pair *comm_get_pair(struct comm_result *result, size_t one, size_t other);

/* Has every pair of this node failed, of at least so many? */
bool comm_fails_always(const struct comm_result *result, size_t node, size_t pairs);

/* The middle of all rates of pairs that succeeded; 0: there is none. */
double comm_median(const struct comm_result *result);

/* The best rate a node has reached with another one; 0: none. */
double comm_best(const struct comm_result *result, size_t node);

/* Is a rate so far below the usual one that it is tried again, and reported? */
bool comm_is_slow(double rate, double usual);

/* Can something of the test still run on a node? */
bool comm_left_something(const struct comm_result *result);

/* Add what the result means. */
void comm_judge(const struct comm_result *result, struct findings *out);

#endif
