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

/* Each node is tested with at most this many other nodes: if there are more, with a sample of them. */
#define COMM_ROUNDS_MAX 16

/* The number of rounds after which every node has met every other one. In a round, a node meets at most one
 * other node. 0: there is no pair. */
size_t comm_count_rounds(size_t nodes);

/* Fill partner (one per node; its own index: it rests) for a round of the full round robin. */
void comm_find_partners(size_t nodes, size_t round, size_t *partner);

/* The round of the full round robin that is run as round number (from 0) of count rounds, spread evenly. */
size_t comm_choose_round(size_t nodes, size_t count, size_t number);

struct comm_node {
    char *label;
    char *problem;   /* why it took no part, or dropped out; NULL: it took part */
    char *remedy;    /* for the problem; may be NULL */
    char *transport; /* "IB", "RoCE", "Socket" or the name of a plugin; NULL: not known */
    char *interface; /* for sockets; NULL: not known */
    bool fast_ports; /* it has InfiniBand or RoCE ports that are up */
};

struct comm_pair {
    size_t first, second; /* nodes */
    double rate;          /* bus bandwidth, bytes per second; 0: no all-reduce succeeded */
    char *error;          /* why rate is 0, with the node that reported it; else NULL */
    unsigned repeats;     /* times it was tried again */
};

struct comm_result {
    const char *backend; /* "nccl" or "gloo"; NULL: the test did not get that far */
    unsigned processes;  /* on each node */
    struct comm_node *nodes;
    size_t count;
    struct comm_pair *pairs;
    size_t pairs_len, pairs_cap;
    size_t rounds, rounds_all; /* rounds that were run, and those of the full round robin */
    size_t whole_nodes;        /* nodes of the last all-reduce, over all that can; 0: it was not run */
    double whole_rate;         /* 0: it failed */
    char *whole_error;
    unsigned elapsed_ms;
    struct findings left; /* what may still be running */
};

void comm_result_release(struct comm_result *result);

/* The pair of two nodes, in either order. It is added if there is none. Valid until the next one is added. */
struct comm_pair *comm_get_pair(struct comm_result *result, size_t one, size_t other);

/* Does this node have at least that many pairs, and have all of them failed? */
bool comm_fails_always(const struct comm_result *result, size_t node, size_t pairs);

/* The median rate of the pairs that succeeded; 0: there is none. */
double comm_median(const struct comm_result *result);

/* The best rate that a node has reached with another one; 0: none. */
double comm_best(const struct comm_result *result, size_t node);

/* Is a rate so far below the usual one that the pair is tested again and reported? */
bool comm_is_slow(double rate, double usual);

/* Can something of the test still be running on a node? */
bool comm_left_something(const struct comm_result *result);

/* Add the findings that follow from the result. */
void comm_judge(const struct comm_result *result, struct findings *out);

#endif
