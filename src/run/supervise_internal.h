/*
 * The supervise loop: watches the nodes of a run until it has ended, and does what the spec says about
 * failures, silence and stalls. It is used by `start --wait`, by `wait` without a supervisor, and by the
 * supervisor itself.
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
    bool stays; /* it is the supervisor: nodes that do not answer and local problems do not end it */
    struct run *run;
    struct node_set set;
    bool set_open;
    struct watchers *watchers;
    struct cleanup_pings *pings;
    struct tails *tails; /* NULL: without logs */
    int64_t began_ms;
    int64_t beat_ms;       /* when the supervisor's file was last written */
    int64_t lost_since_ms; /* 0: no node is silent */
    int64_t retry_ms;      /* time of the next try to continue a stop or to try pending cleanups */
    unsigned tries;        /* number of these tries in a row */
    int64_t restart_ms;    /* time of the next attempt; 0: none is planned */
    bool hung_up;          /* SIGHUP arrived while the node set of an earlier attempt was open */
    bool reported_alone;   /* it was reported that no node answers */
    bool stalled;          /* the run has stalled, and this was reported */
    char *stall_cause;     /* what was known of it then, as one line; NULL: nothing */
    bool due;              /* a pass is due */
    bool superseded;       /* another command has begun a new attempt and leaves its own supervisor */
    bool explained;        /* the run's reason is the root cause */
    bool heard;            /* after the failure of a node: the others need not be waited for, or have been */
    struct samples_writer samples;
    int64_t progress_ms;      /* time of the next check of the training's progress */
    int64_t followed_ms;      /* when the news was last applied to the record, by the fleet's clock */
    int64_t progress_read_ms; /* time of the last one, by the fleet's clock */
    int64_t hear_until_ms;    /* until when the others are waited for; 0: nothing has failed */
    bool no_restart;          /* as in policy_view, for the explained failure */
    char *kept;               /* the record as last written */
    int64_t record_stamp;     /* of the record's file, to notice that another command has written it */
};

/* Open the node set of the current attempt and watch it. */
int supervise_open(struct supervise_loop *loop, struct error *err);
void supervise_close(struct supervise_loop *loop);

/*
 * Supervise the run until it has ended, then try its pending cleanups. 0: it has finished; else -1 with err.
 */
int supervise_to_end(struct supervise_loop *loop, struct error *err);

/* One pass: check the run under its lock and act. 0, also when another command holds the lock. */
int supervise_once(struct supervise_loop *loop, struct error *err);

/* supervise_stall.c: report a stall with an event, and that it is over. */
void supervise_check_stall(struct supervise_loop *loop);

/*
 * Take the lock, read the record again and stop the run, unless it has ended meanwhile. limit_s: the time
 * limit of the command that has passed; 0: this is not the reason.
 */
int supervise_stop(struct supervise_loop *loop, const char *why, unsigned long limit_s, struct error *err);

/* The same after the time limit of the spec has passed: the run counts as timed out. */
int supervise_stop_at_limit(struct supervise_loop *loop, struct error *err);

/* Set the run's reason to the root cause, from the logs of all nodes. */
void supervise_explain(struct supervise_loop *loop);

/* supervise_restart.c: begin or continue to end the old attempt; start the next one when it is time. */
int supervise_restart(struct supervise_loop *loop, const char *why, struct error *err);

/* Whether this run can be restarted: the data that this needs still exists. */
bool supervise_can_restart(const struct supervise_loop *loop);

#endif
