/*
 * The guard of a run: watches its nodes until it has ended and does what the spec says about failures,
 * silence and stalls. `start --wait`, `wait` without a supervisor and the supervisor itself are this.
 */
#ifndef MTLAUNCH_RUN_GUARD_INTERNAL_H
#define MTLAUNCH_RUN_GUARD_INTERNAL_H

#include "common_internal.h"
#include "debtors_internal.h"
#include "tails_internal.h"
#include "watchers_internal.h"

struct guard {
    struct run_context *context;
    const struct run_wait_request *request;
    bool stays; /* the supervisor: nodes that do not answer and local trouble do not end it */
    struct run *run;
    struct crew crew;
    bool crew_open;
    struct watchers *watchers;
    struct debtors *debtors;
    struct tails *tails; /* NULL: without logs */
    int64_t began_ms;
    int64_t beat_ms;       /* when the supervisor's file was written last */
    int64_t lost_since_ms; /* 0: no node is silent */
    int64_t retry_ms;      /* not before: the next stop that carries on, the next try at debts */
    unsigned tries;        /* of these, in a row */
    int64_t restart_ms;    /* the next attempt begins then; 0: none is waited for */
    bool hung_up;          /* SIGHUP came to the crew of an attempt before */
    bool told_alone;       /* no node answers, and that was said */
    bool stalled;          /* and that was said */
    bool due;              /* something is to be looked at */
    bool superseded;       /* another command began a new attempt and leaves a supervisor of its own */
    bool explained;        /* the reason holds the log's last lines */
    bool no_restart;       /* as in policy_view, for the failure that was explained */
    char *kept;            /* the record as it was written last */
    int64_t record_mark;   /* of the record's file: has another command written it? */
};

/* Open the crew of the current attempt and watch it. */
int guard_open(struct guard *guard, struct error *err);
void guard_close(struct guard *guard);

/* One look under the run's lock, and what follows from it. 0, also when another command has the lock. */
int guard_turn(struct guard *guard, struct error *err);

/* Take the lock, read the record anew and stop the run unless it has ended meanwhile. */
int guard_stop(struct guard *guard, const char *why, struct error *err);

/* The time limit of the spec has passed: likewise, and the run counts as timed out. */
int guard_stop_at_limit(struct guard *guard, struct error *err);

/* What happened first and to whom, with the last lines of its log, into the run's reason. */
void guard_explain(struct guard *guard);

/* guard_restart.c: begin to end the old attempt, or go on with it; start the next when it is time. */
int guard_restart(struct guard *guard, const char *why, struct error *err);

/* Can this run be started again: is what that needs still there? */
bool guard_can_restart(const struct guard *guard);

#endif
