/*
 * The use cases of the commands. Each takes a run_context, works through the fleet until it is done
 * or interrupted, and keeps the record on disk correct at every step, so that another command can continue if
 * this one is killed at any moment.
 *
 * Failures of single hosts go to the observer, folded by class; the returned error is the worst of them and
 * carries the exit code.
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
    bool warned_unverified;      /* the warning about hosts with unverified keys was given (out) */
    bool want_gpus;              /* observations of a run's nodes include their GPUs */
    unsigned long die_at; /* test hook MTLAUNCH_TEST_DIE_AT: kill -9 at step n; 0: only count; see steps */
    bool die_armed;       /* the hook is on */
    unsigned long steps;  /* steps passed so far (out) */
    /*
     * Start a process that continues the stop of this run, or its supervision, once this process has ended;
     * until then it only waits. NULL: not possible.
     */
    void (*leave_stand_in)(void *ctx, const char *run);
    void *stand_in_ctx;
    bool stand_in_left;    /* it was started (out) */
    struct node_set *sets; /* the open node sets, the latest first */
    bool interrupted;      /* run_context_interrupt was called */
    bool holds_signals;    /* SIGINT and SIGTERM are blocked until the next use case asks nodes */
    /* sessions of a start, for the next use case that asks the nodes of that attempt (owned) */
    struct fleet *kept;
    char kept_id[RUN_ID_SIZE];
    unsigned kept_attempt;
    /*
     * values of the secrets of all runs loaded so far (out, owned): they are masked in everything that is
     * recorded or printed
     */
    struct strlist secrets;
};

void run_context_release(struct run_context *context);

/*
 * For the observer's work: end the current operation with kind_interrupted, as SIGINT does, and also every
 * later operation with this context.
 */
void run_context_interrupt(struct run_context *context);

/* Pause; the observer's work continues. Errors: kind_interrupted, kind_terminated, kind_local. */
int run_pause(struct run_context *context, unsigned ms, struct error *err);

/* --- start -------------------------------------------------------------------------------------- */

/* How the push of a job's `sync` is shown. */
struct run_start_sync {
    void *ctx;
    /* The push begins. The returned observer stays valid until end. NULL: failures are warnings. */
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
    const struct run_start_sync *sync; /* first push the files of the job's sync; NULL: do not */
    bool watched;                      /* a supervisor, or the caller, will watch all nodes at once */
    bool goes_on; /* the caller continues with the same context: keep the sessions of a started run open */
    const struct job_request *asked; /* how the job was made, for restarts; NULL: no restarts */
    bool is_restart;                 /* for run_restart: the next attempt of a run that continues */
};

/*
 * All or nothing: 0 when every node is started. run holds the record on return, also on most errors
 * (run->name is NULL when none was made). After a success SIGINT and SIGTERM are blocked, unless goes_on kept
 * the sessions: one that came too late to interrupt the start stays pending, for the caller or the next use
 * case. Errors: 2 (plan), 3 (host), 4 (probe), 6 (run_live, run_exists, run_foreign), 1 (start_failed,
 * setup_failed), 7 (not_proven), 130/143 (interrupted; the run was stopped again).
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
    struct strlist unproven; /* "host: why its processes could not be listed completely" */
    struct strlist cleaned;  /* lines "host: killed N leftover processes", on a run that had already ended */
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

/* The result of the signal on one of the nodes asked. */
struct run_signal_node {
    size_t rank;
    char *host;
    int64_t pid; /* of the job's command; 0: unknown */
    bool sent;
    char *error; /* why it was not sent; NULL: it was */
};

struct run_signal_result {
    struct run_signal_node *nodes;
    size_t len;
};

void run_signal_result_release(struct run_signal_result *result);

/*
 * Send a signal to the job's process group on the selected nodes and nothing more: no state changes. 0: every
 * selected node got it; without --node, nodes that have ended are not an error if another one got it. Errors:
 * usage, no_such_run, run_over (6), the worst failure of a node (3). run and result are filled in as far as
 * known.
 */
int run_signal(struct run_context *context, const char *name, const struct run_signal_request *request,
               struct run *run, struct run_signal_result *result, struct error *err);

/* --- status, list, remove ----------------------------------------------------------------------- */

/* Load a run and, unless it has ended, ask its nodes. Unreachable nodes are `lost`, which is not an error. */
int run_status(struct run_context *context, const char *name, struct run *run, struct error *err);

struct run_remove_request {
    bool artifacts; /* first remove its logs and state files on the nodes, and nothing else there */
    bool force;     /* remove the record even if nodes cannot be reached, whatever its state */
};

/*
 * Remove the record of a run that has ended; kind_run_live for a live one. With artifacts, the record is kept
 * when a node cannot be reached (3, 4) or a process of the run is alive on it (7). With force, the record is
 * kept only when a node reports such a process; what may be left on unreachable nodes is reported.
 */
int run_remove(struct run_context *context, const char *name, const struct run_remove_request *request,
               struct error *err);

/* --- logs --------------------------------------------------------------------------------------- */

struct run_logs_request {
    const struct strlist *nodes; /* ranks (digits) or hosts; empty: all */
    bool follow;
    bool all;            /* -n all */
    unsigned long lines; /* -n, per node */
    unsigned attempt;    /* 0: the current one */
    bool raw;            /* exact bytes of one node */
    /* for grep on the nodes, as in node_tail_options: they may leave out other lines; NULL: none */
    const char *filter;
    bool filter_fixed;
};

/*
 * Pass logs to the observer's log and log_end. With follow: until the run has ended and everything is
 * printed.
 */
int run_logs(struct run_context *context, const char *name, const struct run_logs_request *request,
             struct error *err);

struct run_saved_log {
    char *host;
    unsigned rank; /* the node's */
    char *path;
    char *older;    /* the new name of an older file with other content; NULL: there was none */
    uint64_t bytes; /* the file's size now */
    uint64_t added; /* bytes added by this call */
    bool complete;  /* the file holds the whole log */
    struct error error;
};

struct run_saved {
    unsigned attempt;
    struct run_saved_log *items;
    size_t len;
};

/*
 * Write the whole log of each requested node to FOLDER/RUN_node<N>.log, continuing where an earlier call
 * stopped. Only nodes and attempt of the request are used. On error, saved holds what was written before it;
 * the caller releases it in any case. Errors: kind_local for a file that cannot be written, else the worst
 * error of a node.
 */
int run_logs_save(struct run_context *context, const char *name, const struct run_logs_request *request,
                  const char *folder, struct run_saved *saved, struct error *err);
void run_saved_release(struct run_saved *saved);

/* --- wait --------------------------------------------------------------------------------------- */

struct run_wait_request {
    bool timeout_given;
    unsigned long timeout_s;
    int64_t began_ms;     /* monotonic time from which timeout_s counts; 0: from the call */
    bool stop_at_timeout; /* `start --wait --timeout`; plain `wait` leaves the run alone */
    bool stop_on_signal;  /* `start --wait`: Ctrl-C and TERM stop the run */
    bool end_on_hangup;   /* SIGHUP, which the caller has blocked, ends the wait but not the run */
    bool hand_over;       /* SIGHUP also starts a supervisor for the run */
    bool with_logs;       /* `start --wait`: the merged log through the observer */
};

/*
 * Wait for the run's end: watch its nodes and do what the spec says about failures, silence and stalls, or
 * only watch its record while another process does that. 0: finished. Errors: run_failed or run_stopped (1),
 * run_lost (3: lost for lost_after, and nobody else waits for it), time_limit (5), not_proven (7), hung_up
 * (129).
 */
int run_wait(struct run_context *context, const char *name, const struct run_wait_request *request,
             struct run *run, struct error *err);

/*
 * Supervise a run until it has ended and nothing of it can be left on any node. take_over: if another process
 * supervises it, wait for that process to end; a run that has ended by then is not an error. Errors as for
 * run_wait; run_over, supervised (6).
 */
int run_supervise(struct run_context *context, const char *name, bool take_over, struct run *run,
                  struct error *err);

#endif
