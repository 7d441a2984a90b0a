/*
 * The supervise loop: watches the nodes of a run until it has ended and does what the spec says about
 * failures, silence and stalls. `start --wait`, `wait` without a supervisor and the supervisor itself are
 * this.
 */
#ifndef MTLAUNCH_RUN_SUPERVISE_INTERNAL_H
#define MTLAUNCH_RUN_SUPERVISE_INTERNAL_H

#include "cleanup_pings_internal.h"
#include "node_set_internal.h"
#include "samples_internal.h"
#include "tails_internal.h"
#include "watchers_internal.h"

struct supervise_loop {
    struct run_context *context;
    const struct run_wait_request *request;
    bool stays; /* the supervisor: nodes that do not answer and local trouble do not end it */
    struct run *run;
    struct node_set set;
    bool set_open;
    struct watchers *watchers;
    struct cleanup_pings *pings;
    struct tails *tails; /* NULL: without logs */
    int64_t began_ms;
    int64_t beat_ms;       /* when the supervisor's file was written last */
    int64_t lost_since_ms; /* 0: no node is silent */
    int64_t retry_ms;      /* not before: the next stop that carries on, the next try at pending cleanups */
    unsigned tries;        /* of these, in a row */
    int64_t restart_ms;    /* the next attempt begins then; 0: none is waited for */
    bool hung_up;          /* SIGHUP came to the node set of an attempt before */
    bool reported_alone;   /* no node answers, and that was said */
    bool stalled;          /* and that was said */
    char *stall_cause;     /* what was known of it then, in one line; NULL: nothing */
    bool due;              /* something is to be looked at */
    bool superseded;       /* another command began a new attempt and leaves its own supervisor */
    bool explained;        /* the reason is the root cause */
    bool heard;            /* of the failure of a node: the others need not be waited for, or were */
    struct samples_writer samples;
    int64_t progress_ms;      /* not before: the next look at how far the training is */
    int64_t progress_read_ms; /* when it was looked at last, by the fleet's clock */
    int64_t hear_until_ms;    /* so long they are waited for; 0: nothing has failed */
    bool no_restart;          /* as in policy_view, for the failure that was explained */
    char *kept;               /* the record as it was written last */
    int64_t record_stamp;     /* of the record's file: has another command written it? */
};

/* Open the node set of the current attempt and watch it. */
int supervise_open(struct supervise_loop *loop, struct error *err);
void supervise_close(struct supervise_loop *loop);

/* Pass over the run until it has ended, and then clean up what is pending. 0: it has finished; else -1 with
 * err. */
int supervise_to_end(struct supervise_loop *loop, struct error *err);

/* One look under the run's lock, and what follows from it. 0, also when another command has the lock. */
int supervise_once(struct supervise_loop *loop, struct error *err);

/* Take the lock, read the record anew and stop the run unless it has ended meanwhile. limit_s: it is stopped
 * because that time limit of the command has passed; 0: it is not. */
int supervise_stop(struct supervise_loop *loop, const char *why, unsigned long limit_s, struct error *err);

/* The time limit of the spec has passed: likewise, and the run counts as timed out. */
int supervise_stop_at_limit(struct supervise_loop *loop, struct error *err);

/* The root cause, by the logs of all nodes, into the run's reason. */
void supervise_explain(struct supervise_loop *loop);

/* supervise_restart.c: begin to end the old attempt, or continue it; start the next when it is time. */
int supervise_restart(struct supervise_loop *loop, const char *why, struct error *err);

/* Can this run be started again: is what that needs still there? */
bool supervise_can_restart(const struct supervise_loop *loop);

#endif
