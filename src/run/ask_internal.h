/*
 * Asks one node: makes a nonce, builds the request with it, passes on the answer's bytes as they arrive,
 * limits the time until the answer begins, and can try again later. Used by rounds, watches, tails and exec.
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

/*
 * All are called from fleet_run, except build, which is called from ask_send. build and done are required;
 * the others may be NULL.
 */
struct ask_handler {
    /* Build the call; nonce appears in the answer's frames. false: there is nothing to ask. */
    bool (*build)(void *ctx, const char *nonce, struct node_call *call);
    /* Bytes of stream 1 or 2. Call ask_begun once the answer has begun. */
    void (*data)(void *ctx, int stream, const char *bytes, size_t len);
    /*
     * The call is over; called once for each ask_send that returned true. An answer that began too late is an
     * error in result.
     */
    void (*done)(void *ctx, const struct exec_result *result);
    void (*started)(void *ctx); /* the host has accepted the request */
    void (*drained)(void *ctx); /* with hold_input: all input so far has been sent */
};

struct ask_options {
    /* from the start of the request on the host to the beginning of the answer; 0: no limit */
    unsigned begin_ms;
    unsigned timeout_ms; /* for the whole call; 0: no limit */
    bool follow;         /* as in struct exec_request */
    bool hold_input;
};

/* Embedded in a struct that outlives the fleet. Outside of ask.c, members are only read. */
struct ask {
    struct fleet *fleet;
    size_t host;
    const struct ask_handler *handler;
    void *ctx;
    struct ask_options options;
    enum { ASK_IDLE, ASK_OPEN, ASK_WAITING } state; /* ASK_WAITING: for the next try */
    char nonce[NODE_NONCE_LEN + 1];
    uint64_t exec;  /* the command in the fleet */
    uint64_t timer; /* until the answer begins, or until the next try; 0: none */
    bool begun;
    bool late;               /* the answer did not begin in time */
    struct str login_output; /* the last 2 KiB of what preceded the answer */
};

/* handler is a constant; options are copied. Nothing is sent yet. */
void ask_init(struct ask *ask, struct fleet *fleet, size_t host, const struct ask_handler *handler,
              const struct ask_options *options, void *ctx);
void ask_release(struct ask *ask); /* after the fleet was freed, or when it is idle */

/* Ask, with a new nonce. false: build had nothing to ask. */
bool ask_send(struct ask *ask);

/* Ask after ms milliseconds, as ask_send does. */
void ask_retry(struct ask *ask, unsigned ms);

/*
 * The pause in ms before the next try after this number of failures in a row: it grows, and is partly random.
 */
unsigned ask_retry_ms(unsigned failures);

void ask_begun(struct ask *ask);
/* done is called with kind_interrupted; while it waits, it becomes idle at once */
void ask_cancel(struct ask *ask);

/*
 * If the answer is missing (kind_node_answer), add to err what the login printed instead, and the remedy if
 * the text is known. Other errors are not changed.
 */
void ask_explain(const struct ask *ask, struct error *err);

/*
 * The time in ms that a login has to reach our command: start-up files, entering a container.
 * connect_timeout_ms: as the caller gave it; 0: it was not given.
 */
unsigned ask_begin_ms(unsigned connect_timeout_ms);

/* Fill nonce with letters and digits that nobody can guess. */
void ask_make_nonce(char nonce[NODE_NONCE_LEN + 1]);

/* Make a new run_id: "RUN-<8 hex>". */
void ask_make_run_id(const char *run, char *out, size_t size);

#endif
