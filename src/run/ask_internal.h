/*
 * One way to ask a node: a nonce, a request built with it, the answer's bytes as they come, a limit for the
 * answer's beginning, and another try later. Rounds, watches, tails and exec all ask this way.
 */
#ifndef MTLAUNCH_RUN_ASK_INTERNAL_H
#define MTLAUNCH_RUN_ASK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "node/request.h"
#include "transport/fleet.h"

/* All run inside fleet_run, but build, which runs inside ask_send. build and done are needed, the others may
 * be NULL. */
struct ask_handler {
    /* Build the call; the answer's frames carry nonce. false: there is nothing to ask. */
    bool (*build)(void *ctx, const char *nonce, struct node_call *call);
    /* Bytes of stream 1 or 2. Call ask_begun once the answer has begun. */
    void (*data)(void *ctx, int stream, const char *bytes, size_t len);
    /* It is over, once for each ask_send that returned true; an answer that came too late is an error of
     * result. */
    void (*done)(void *ctx, const struct exec_result *result);
    void (*started)(void *ctx); /* the host has taken the request */
    void (*drained)(void *ctx); /* with hold_input: all input given so far is on its way */
};

struct ask_options {
    unsigned begin_ms;   /* for the answer to begin once the host has taken the request; 0: no limit */
    unsigned timeout_ms; /* for all of it; 0: no limit */
    bool follow;         /* as in struct exec_request */
    bool hold_input;
};

/* Embedded in whatever asks, which outlives the fleet. Members are read, not written, outside of ask.c. */
struct ask {
    struct fleet *fleet;
    size_t host;
    const struct ask_handler *handler;
    void *ctx;
    struct ask_options options;
    enum { ASK_IDLE, ASK_OPEN, ASK_WAITING } state; /* waiting: for the next try */
    char nonce[NODE_NONCE_LEN + 1];
    uint64_t exec;  /* the command in the fleet */
    uint64_t timer; /* until the answer begins, or until the next try; 0: none */
    bool begun;
    bool late;               /* it did not begin in time */
    struct str login_output; /* what came before the answer began: its last 2 KiB */
};

/* handler is a constant; options are copied. Nothing is sent yet. */
void ask_init(struct ask *ask, struct fleet *fleet, size_t host, const struct ask_handler *handler,
              const struct ask_options *options, void *ctx);
void ask_release(struct ask *ask); /* after the fleet was freed, or when it is idle */

/* Ask, with a new nonce. false: build had nothing to ask. */
bool ask_send(struct ask *ask);

/* Ask in ms milliseconds, as ask_send does. */
void ask_retry(struct ask *ask, unsigned ms);

/* The pause before another try after so many failures in a row: growing, with chance in it. Milliseconds. */
unsigned ask_retry_ms(unsigned failures);

void ask_begun(struct ask *ask);
void ask_cancel(struct ask *ask); /* done comes with kind_interrupted; when it waits, it is idle at once */

/* When the answer is missing (kind_node_answer), add what the login said in its place, and the remedy where
 * the text is known. Other errors are left alone. */
void ask_explain(const struct ask *ask, struct error *err);

/* The time for a login to reach our command: start-up files, the way into a container. connect_timeout_ms:
 * as the caller gave it; 0: it was not given. */
unsigned ask_begin_ms(unsigned connect_timeout_ms);

/* Fill nonce with letters and digits nobody can guess. */
void ask_make_nonce(char nonce[NODE_NONCE_LEN + 1]);

/* A new run_id: "RUN-<8 hex>". */
void ask_make_run_id(const char *run, char *out, size_t size);

#endif
