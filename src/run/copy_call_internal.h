/*
 * One call of the node's copy program (node/copy.h) on one host: its beginning after a login's noise, its
 * answers, and its end. Used by push and pull.
 */
#ifndef MTLAUNCH_RUN_COPY_CALL_INTERNAL_H
#define MTLAUNCH_RUN_COPY_CALL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask_internal.h"
#include "base/error.h"
#include "node/copy.h"
#include "node/exec.h"
#include "transport/fleet.h"

struct copy_call;

/* Called from inside fleet_run. */
struct copy_call_handler {
    /* Something of the program's answer; -1 with err ends the call with that error. What it lets pass counts
     * as progress: nothing that a node can repeat for ever may pass. */
    int (*event)(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err);
    /* Bytes of standard output that are contents of files, once expect_contents was set. As event. */
    int (*contents)(void *ctx, const char *bytes, size_t len, struct error *err);
    /* All input given so far is on its way: more may be given. */
    void (*drained)(void *ctx, struct copy_call *call);
    /* The call is over. error->kind NULL: the program ended with 0. started: it began to run there. */
    void (*ended)(void *ctx, struct copy_call *call, const struct error *error, bool started);
};

/* Of every call. */
struct copy_call_place {
    const char *base;              /* as node_request_copy */
    const struct place *container; /* NULL: on the host itself */
    const char *mark;
    bool relay;
    unsigned connect_timeout_ms;
};

struct copy_call {
    struct fleet *fleet;
    size_t host;
    const struct copy_call_handler *handler;
    void *ctx;
    bool expect_contents; /* standard output is contents, answers come on standard error */
    bool closing;         /* its input has been ended */
    struct node_copy answer;
    struct error error; /* why it was ended; kind NULL */

    struct ask ask;
    const struct copy_call_place *place; /* while it begins */
    uint64_t timer;                      /* runs out when nothing moves */
    unsigned patience_s;                 /* … for so long */
    struct node_exec_stream out, err;
    struct str input;   /* what is on its way */
    struct str waiting; /* what goes behind it */
    bool started;
    bool is_ready; /* the program takes input */
};

/* Begin. call is zero, but for fleet, host, handler, ctx and expect_contents. drained comes when it may be
 * fed. */
void copy_call_begin(struct copy_call *call, const struct copy_call_place *place);

/* Give input (taken over, reset). It waits while other input is on its way; drained comes when all is. */
void copy_call_feed(struct copy_call *call, struct str *input);
void copy_call_end_input(struct copy_call *call);

/* Nothing is expected of it until it is fed again. */
void copy_call_rest(struct copy_call *call);

/* So long may nothing move from now on; 0: the default. */
void copy_call_be_patient(struct copy_call *call, unsigned seconds);

/*
 * End it gently: the program sees the end of its input, takes away what is unfinished and ends; after a few
 * seconds it is killed. A call that is over is left alone. ended comes with the error.
 */
void copy_call_stop(struct copy_call *call, const struct error *error);

/* The error for a frame that was not to come, or not again. Returns -1. */
int copy_call_unexpected(const struct copy_call *call, struct error *err);

/* End it at once: ended comes with the error. */
void copy_call_abort(struct copy_call *call, const struct error *error);

/* Free what it holds; it has ended, or its fleet has been freed. */
void copy_call_release(struct copy_call *call);

#endif
