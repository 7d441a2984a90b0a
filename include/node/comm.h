/*
 * The all-reduce test on a node (src/node/script/comm.py): the orders it reads, one JSON object per line, and
 * the events that it reports in frames. Pure; bytes are hostile until parsed.
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

/* One round, as one node takes part in it. All borrowed. */
struct node_comm_round {
    unsigned round;     /* its number */
    unsigned nodes;     /* how many take part */
    unsigned node;      /* this node's index among them; node 0 creates the store and reports its port */
    unsigned processes; /* on each node */
    const char *backend;
    const char *address; /* of node 0 */
    unsigned port;       /* of the store; 0: it is to be created */
    unsigned limit_s;
};

/* Append the order for a round, or for the end. */
void node_comm_add_round(struct str *out, const struct node_comm_round *round);
void node_comm_add_end(struct str *out);

enum node_comm_event_type {
    NODE_COMM_HELLO, /* the first event, sent once: torch was imported, or error says why not */
    NODE_COMM_PORT,  /* port of a round's store */
    NODE_COMM_DONE,  /* a round is over on this node: seconds and bytes, or error */
    NODE_COMM_ENDED  /* the program has ended with status */
};

/* An event that the program reports. Texts are unchanged from what the node sent. Owned. */
struct node_comm_event {
    enum node_comm_event_type type;
    char *error;         /* NULL: none */
    char *torch;         /* hello: its version; NULL: not known */
    char *interface;     /* hello: the interface that gloo is told to use; NULL: none */
    unsigned gpus;       /* hello */
    bool nccl;           /* hello: this torch supports NCCL */
    unsigned round;      /* port, done */
    unsigned port;       /* port */
    double seconds;      /* done: of one all-reduce */
    uint64_t bytes;      /* done: of the tensor */
    bool late;           /* done: it did not end in time */
    struct strlist logs; /* done: lines of NCCL's log that name the transport */
    int status;          /* ended; -1: unknown */
    unsigned setup_line; /* ended: the setup line (from 1) that failed; 0: none */
    bool no_folder;      /* ended: the working folder could not be entered */
    char *output;        /* ended: the last lines of what it printed */
};

void node_comm_event_release(struct node_comm_event *event);

/* The state of one call of node_request_comm. Set it to zero, then set nonce (borrowed). */
struct node_comm {
    const char *nonce;
    bool begun; /* a frame has arrived, so the login has succeeded */
    struct node_reader reader;
    struct facts facts; /* of the final answer */
};

void node_comm_release(struct node_comm *comm);

/*
 * Consume bytes as they arrive. 1: an event, which the caller releases; call again for the rest of the bytes.
 * 0: all bytes are consumed. -1 with err as for node_answer_facts. bytes and len are advanced to the rest.
 */
int node_comm_take(struct node_comm *comm, const char **bytes, size_t *len, struct node_comm_event *out,
                   struct error *err);

#endif
