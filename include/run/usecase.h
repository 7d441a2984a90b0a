/*
 * The use cases of the commands. Each takes a run_context, works through the fleet until it is done
 * or interrupted, and keeps the record on disk true at every step, so that the next command can continue
 * after one that was killed at any moment.
 *
 * Failures of single hosts go to the observer, folded by class; the returned error is the worst of them
 * and carries the exit code.
 */
#ifndef MTLAUNCH_RUN_USECASE_H
#define MTLAUNCH_RUN_USECASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "input/jobfile.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "model/run.h"
#include "run/observer.h"
#include "run/plan.h"
#include "run/push.h"
#include "run/store.h"

struct fleet;
struct node_set;

/* What every use case needs. All borrowed. */
struct run_context {
    const struct run_store *store;
    const struct run_observer *observer;
    const char *const *environ_; /* the caller's environment, NULL-terminated */
    const char *home;
    unsigned fanout;
    unsigned connect_timeout_ms; /* 0: ssh_config's, else 10 s */
    bool warned_unverified;      /* hosts whose keys are not verified were named (out) */
    bool want_gpus;              /* a look at a run's nodes also asks for their GPUs */
    unsigned long die_at; /* test hook MTLAUNCH_TEST_DIE_AT: kill -9 at step n; 0: only count; see steps */
    bool die_armed;       /* the hook is on */
    unsigned long steps;  /* steps passed so far (out) */
    /*
     * Start a process that continues the stop of this run, or its supervision, once this process has
     * ended. It only waits until then. NULL: there is none to be had.
     */
    void (*leave_stand_in)(void *ctx, const char *run);
    void *stand_in_ctx;
    bool stand_in_left;    /* it was started (out) */
    struct node_set *sets; /* those that are open, the latest first */
    bool interrupted;      /* run_context_interrupt was called */
    struct fleet *kept;    /* sessions of a start, for whoever asks the nodes of that attempt next (owned) */
    char kept_id[RUN_ID_SIZE];
    unsigned kept_attempt;
    struct strlist secrets; /* values of the runs' secrets met so far (out, owned): masked in everything that
                               is recorded or printed */
};

void run_context_release(struct run_context *context);

/*
 * For work of the observer's: what is under way ends with kind_interrupted, as SIGINT ends it, and so does
 * whatever is begun with this context from now on.
 */
void run_context_interrupt(struct run_context *context);

/* Let time pass; the observer's work continues. Errors: kind_interrupted, kind_terminated, kind_local. */
int run_pause(struct run_context *context, unsigned ms, struct error *err);

/* --- start -------------------------------------------------------------------------------------- */

/* How the push of a job's `sync` is shown. */
struct run_start_sync {
    void *ctx;
    /* It begins; the observer stays until end. NULL: what fails is a warning. */
    const struct run_copy_observer *(*begin)(void *ctx, const struct hostlist *hosts);
    void (*end)(void *ctx, int result, const struct run_synced *synced);
};

struct run_start_request {
    const char *run;
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan_host *host_facts; /* per host, as for the plan */
    bool no_check;
    const struct endpoint *endpoints;  /* per host */
    const struct run_start_sync *sync; /* push the files of the job's sync first; NULL: do not */
    bool watched;                      /* a supervisor, or the caller, will watch all nodes at once */
    bool
        goes_on; /* so does the caller, with the same context: the sessions of a run that started stay open */
    const struct job_request *asked; /* how the job was made, for restarts; NULL: there can be none */
    bool is_restart;                 /* for run_restart: the next attempt of a run that continues */
};

/*
 * All or nothing: 0 when every node is started. run holds the record on return, also on most errors
 * (run->name is NULL when none was made). Errors: 2 (plan), 3 (host), 4 (probe), 6 (run_live, run_exists,
 * run_foreign), 1 (start_failed, setup_failed), 7 (not_proven), 130/143 (interrupted: stopped again).
 */
int run_start(struct run_context *context, const struct run_start_request *request, struct run *run,
              struct error *err);

/* --- stop --------------------------------------------------------------------------------------- */

struct run_stop_request {
    bool grace_given;
    unsigned long grace_s;
    const char *signal; /* canonical name; NULL: the record's */
    bool give_up;
};

struct run_survivor {
    size_t rank;
    char *host;
    int64_t pid;
    char *state; /* as in /proc/PID/stat: "D", "S" … */
    char *command;
};

struct run_stop_result {
    struct run_survivor *survivors;
    size_t survivors_len, survivors_cap;
    struct strlist unproven; /* "host: why its processes could not be looked through" */
    struct strlist cleaned;  /* on an ended run: "host: killed N leftover processes" lines */
};

void run_stop_result_release(struct run_stop_result *result);

/* 0: nothing of the run is left on any node. Errors: no_such_run, not_proven (7), interrupted. */
int run_stop(struct run_context *context, const char *name, const struct run_stop_request *request,
             struct run *run, struct run_stop_result *result, struct error *err);

/* --- signal ------------------------------------------------------------------------------------- */

struct run_signal_request {
    const char *signal;          /* canonical name */
    const struct strlist *nodes; /* ranks (digits) or hosts; empty: all */
};

/* What became of the signal on one node that was asked. */
struct run_signal_node {
    size_t rank;
    char *host;
    int64_t pid; /* of the job's command; 0: unknown */
    bool sent;
    char *error; /* why it was not sent; NULL */
};

struct run_signal_result {
    struct run_signal_node *nodes;
    size_t len;
};

void run_signal_result_release(struct run_signal_result *result);

/*
 * Send a signal to the job's process group on the selected nodes and nothing more: no state changes. 0: every
 * selected node got it; without --node, nodes that have ended are not an error if another one got it. Errors:
 * usage, no_such_run, run_over (6), the worst failure of a node (3). run and result are filled as far as
 * known.
 */
int run_signal(struct run_context *context, const char *name, const struct run_signal_request *request,
               struct run *run, struct run_signal_result *result, struct error *err);

/* --- status, list, remove ----------------------------------------------------------------------- */

/* Load a run and, unless it has ended, ask its nodes. Unreachable nodes are `lost`, no error. */
int run_status(struct run_context *context, const char *name, struct run *run, struct error *err);

struct run_remove_request {
    bool artifacts; /* before that, its logs and state files on the nodes, and nothing else there */
    bool force;     /* nodes that cannot be asked do not keep the record, whatever its state */
};

/*
 * Forget a run that has ended; kind_run_live for a live one. With artifacts the record stays when a node
 * cannot be asked (3, 4) or a process of the run lives there (7). With force only a process that a node
 * reports keeps the record; what may be left on nodes that could not be asked is reported.
 */
int run_remove(struct run_context *context, const char *name, const struct run_remove_request *request,
               struct error *err);

/* --- logs --------------------------------------------------------------------------------------- */

struct run_logs_request {
    const struct strlist *nodes; /* ranks (digits) or hosts; empty: all */
    bool follow;
    bool all;            /* -n all */
    unsigned long lines; /* -n, a node */
    unsigned attempt;    /* 0: the current one */
    bool raw;            /* exact bytes of one node */
    const char
        *filter; /* for grep on the nodes, as in node_tail_options: other lines need not come; NULL: none */
    bool filter_fixed;
};

/* Logs through the observer's log/log_end. With follow: until the run has ended and all is printed. */
int run_logs(struct run_context *context, const char *name, const struct run_logs_request *request,
             struct error *err);

struct run_saved_log {
    char *host;
    unsigned rank; /* the node's */
    char *path;
    char *older;    /* where a file that was there and holds something else is now; NULL: nowhere */
    uint64_t bytes; /* the file's length now */
    uint64_t added; /* by this call */
    bool complete;  /* the file holds all that the log held */
    struct error error;
};

struct run_saved {
    unsigned attempt;
    struct run_saved_log *items;
    size_t len;
};

/*
 * Write the whole log of each node the request names (nodes and attempt count) to FOLDER/RUN_node<N>.log,
 * going on where an earlier call stopped. saved is filled as far as it came, and released by the caller in
 * any case. Errors: kind_local for what cannot be written, else the worst of the nodes'.
 */
int run_logs_save(struct run_context *context, const char *name, const struct run_logs_request *request,
                  const char *folder, struct run_saved *saved, struct error *err);
void run_saved_release(struct run_saved *saved);

/* --- wait --------------------------------------------------------------------------------------- */

struct run_wait_request {
    bool timeout_given;
    unsigned long timeout_s;
    int64_t began_ms;     /* monotonic, from where timeout_s counts; 0: from the call */
    bool stop_at_timeout; /* `start --wait --timeout`; plain `wait` leaves the run alone */
    bool stop_on_signal;  /* `start --wait`: Ctrl-C and TERM stop the run */
    bool end_on_hangup;   /* SIGHUP, which the caller has blocked, ends the waiting and not the run */
    bool hand_over;       /* ... and leaves a supervisor */
    bool with_logs;       /* `start --wait`: the merged log through the observer */
};

/*
 * Wait for the run's end: watch its nodes and do what the spec says about failures, silence and stalls, or
 * watch its record alone while another process does that. 0: finished. Errors: run_failed or run_stopped (1),
 * run_lost (3: lost for lost_after, and nobody else waits for it), time_limit (5), not_proven (7), hung_up
 * (129).
 */
int run_wait(struct run_context *context, const char *name, const struct run_wait_request *request,
             struct run *run, struct error *err);

/*
 * Be the supervisor of a run until it has ended and nothing of it may be left anywhere. take_over: while
 * another process is, wait for its end; a run that has ended by then is not an error. Errors as for run_wait;
 * run_over, supervised (6).
 */
int run_supervise(struct run_context *context, const char *name, bool take_over, struct run *run,
                  struct error *err);

#endif
