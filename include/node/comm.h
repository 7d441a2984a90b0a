/*
 * The all-reduce test on a node (src/node/script/comm.py): the orders it takes, one JSON object per line, and
 * what it reports, in frames. Pure; bytes are hostile until parsed.
 */
#ifndef MTLAUNCH_NODE_COMM_H
#define MTLAUNCH_NODE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/facts.h"
#include "node/reader.h"

/* One round as a node takes part in it. Borrowed. */
struct node_comm_round {
    unsigned round;     /* its number */
    unsigned nodes;     /* that take part */
    unsigned node;      /* this one's place among them; 0 creates the store and reports its port */
    unsigned processes; /* on each node */
    const char *backend;
    const char *address; /* of the node with place 0 */
    unsigned port;       /* of its store; 0: still to be made */
    unsigned limit_s;
};

/* Append the order for a round, or for the end. */
void node_comm_add_round(struct str *out, const struct node_comm_round *round);
void node_comm_add_end(struct str *out);

enum node_comm_event_type {
    NODE_COMM_HELLO, /* once, first: torch is loaded, or error says why not */
    NODE_COMM_PORT,  /* of a round's store */
    NODE_COMM_DONE,  /* a round is over on this node: seconds and bytes, or error */
    NODE_COMM_ENDED  /* the program has ended with status */
};

/* What it reports. Texts are as the node sent them. Owned. */
struct node_comm_event {
    enum node_comm_event_type type;
    char *error;         /* NULL: none */
    char *torch;         /* hello: its version; NULL: not known */
    char *interface;     /* hello: the interface that gloo is told to use; NULL: none */
    unsigned gpus;       /* hello */
    bool nccl;           /* hello: this torch has it */
    unsigned round;      /* port, done */
    unsigned port;       /* port */
    double seconds;      /* done: of one all-reduce */
    uint64_t bytes;      /* done: of the tensor */
    bool late;           /* done: it did not end in time */
    struct strlist logs; /* done: lines of NCCL's log that name the transport */
    int status;          /* ended: -1: not said */
    unsigned setup_line; /* ended: the setup line (from 1) that failed; 0: none */
    bool no_folder;      /* ended: the working folder could not be entered */
    char *output;        /* ended: the last lines of what it printed */
};

void node_comm_event_release(struct node_comm_event *event);

/* The state of one call of node_request_comm. Zero it, set nonce (borrowed). */
struct node_comm {
    const char *nonce;
    bool begun; /* it has reported something: the login is over */
    struct node_reader reader;
    struct facts facts; /* of the end */
};

void node_comm_release(struct node_comm *comm);

/*
 * Take bytes as they come. 1: an event (release it), and there may be more of them; 0: all bytes are taken;
 * -1 with err as for node_answer_facts. bytes and len move on to what is left.
 */
int node_comm_take(struct node_comm *comm, const char **bytes, size_t *len, struct node_comm_event *out,
                   struct error *err);

#endif
