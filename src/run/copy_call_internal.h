/*
 * One call of the node's copy program (node/copy.h) on one host: finds its beginning after the noise of the
 * login, and handles its answers and its end. Used by push and pull.
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
    /*
     * An event of the program's answer; -1 with err ends the call with that error. An accepted event counts
     * as progress, so events that a node could repeat forever must not be accepted.
     */
    int (*event)(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err);
    /*
     * Bytes of standard output that are contents of files, if expect_contents is set. Returns as event does.
     */
    int (*contents)(void *ctx, const char *bytes, size_t len, struct error *err);
    /* All input so far has been sent: more may be given. */
    void (*drained)(void *ctx, struct copy_call *call);
    /* The call is over. error->kind NULL: the program ended with 0. started: it began to run on the host. */
    void (*ended)(void *ctx, struct copy_call *call, const struct error *error, bool started);
};

/* The options of a call. */
struct copy_call_place {
    const char *base;              /* as for node_request_copy */
    const struct place *container; /* NULL: the host itself */
    const char *mark;
    bool relay;
    unsigned connect_timeout_ms;
};

struct copy_call {
    struct fleet *fleet;
    size_t host;
    const struct copy_call_handler *handler;
    void *ctx;
    bool expect_contents; /* standard output is file contents; answers come on standard error */
    bool closing;         /* its input has been ended */
    struct node_copy answer;
    struct error error; /* why it was ended; kind NULL: it was not */

    struct ask ask;
    const struct copy_call_place *place; /* only while the call begins */
    uint64_t timer;                      /* expires when there is no progress */
    unsigned patience_s;                 /* … for this many seconds; 0: the default */
    struct node_exec_stream out, err;
    struct str input;   /* input being sent */
    struct str waiting; /* input to send after it */
    bool started;
    bool is_ready; /* the program accepts input */
};

/*
 * Begin the call. call is zero except for fleet, host, handler, ctx and expect_contents. drained is called
 * when input may be given.
 */
void copy_call_begin(struct copy_call *call, const struct copy_call_place *place);

/*
 * Give input, which is taken over and reset. It waits while other input is being sent; drained is called when
 * all is sent.
 */
void copy_call_feed(struct copy_call *call, struct str *input);
void copy_call_end_input(struct copy_call *call);

/* Stop the timer: no progress is expected until input is given again. */
void copy_call_rest(struct copy_call *call);

/* From now on allow this many seconds without progress; 0: the default. */
void copy_call_be_patient(struct copy_call *call, unsigned seconds);

/*
 * End the call gently: the program sees the end of its input, removes unfinished files and ends; after a few
 * seconds the call is cancelled. Does nothing when the call is over. ended is called with the error.
 */
void copy_call_stop(struct copy_call *call, const struct error *error);

/* Set the error for a frame that was not expected, or came twice. Returns -1. */
int copy_call_unexpected(const struct copy_call *call, struct error *err);

/* End the call at once: ended is called with the error. */
void copy_call_abort(struct copy_call *call, const struct error *error);

/* Free its members, after it has ended or its fleet has been freed. */
void copy_call_release(struct copy_call *call);

#endif
