/*
 * A run and its nodes, as the run store keeps them and as states are derived from what nodes answer.
 * Pure values and pure functions.
 */
#ifndef MTLAUNCH_MODEL_RUN_H
#define MTLAUNCH_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strlist.h"
#include "model/host.h"
#include "model/inventory.h"
#include "model/place.h"
#include "model/policy.h"
#include "model/progress.h"
#include "model/reach.h"

#define RUN_ID_SIZE 80 /* RUN-<8 hex> */

enum node_state { NODE_PENDING, NODE_RUNNING, NODE_EXITED, NODE_FAILED, NODE_STOPPED, NODE_LOST };
enum run_state {
    RUN_STOPPING,
    RUN_STARTING,
    RUN_DEGRADED,
    RUN_RUNNING,
    RUN_LOST,
    RUN_FAILED,
    RUN_STOPPED,
    RUN_FINISHED
};

const char *node_state_name(enum node_state state);
const char *run_state_name(enum run_state state);
bool node_state_from_name(const char *name, enum node_state *out);
bool run_state_from_name(const char *name, enum run_state *out);

/* exited, failed, stopped: nothing of the attempt runs there any more. The others are open. */
bool node_state_has_ended(enum node_state state);
/* running, lost: a process of the attempt runs there, or may. */
bool node_state_may_run(enum node_state state);

/* starting, running, degraded, stopping, lost: the run may still have processes. */
bool run_state_is_live(enum run_state state);

/* A GPU of a node. -1: unknown. */
struct run_gpu {
    unsigned index;
    int utilization;                   /* percent */
    int64_t memory_used, memory_total; /* bytes */
};

/* A node of a run: how to reach it, where its files are, and what is known of it. Owned strings. */
struct run_node {
    unsigned rank;
    struct host host;        /* as listed */
    char *label;             /* name, or name:port where names repeat */
    char *addr;              /* address other nodes use */
    bool local;              /* without ssh */
    char *artifacts;         /* absolute path on the node (inside the container); NULL while unknown */
    char *container_id;      /* of the container it was started in; NULL: none, or not started yet */
    char *container_started; /* when that container was started, as its engine reports it */
    char *log;               /* path of the log on the node */
    enum node_state state;
    char *reason;            /* NULL: nothing to say */
    int64_t pid;             /* 0: unknown */
    int exit_status;         /* as sh's wait gives it; -1: unknown */
    char *signal;            /* name without SIG; NULL */
    int64_t started_ms;      /* epoch; 0: unknown */
    int64_t ended_ms;        /* epoch; 0: unknown */
    int64_t last_output_ms;  /* epoch, by its own clock: when its log last grew; 0: unknown, or no output */
    int64_t ended_uptime_ms; /* of the node's /proc/uptime; 0: unknown */
    int64_t clock_ms;        /* when the node booted, by the head's clock (model/policy.h); 0: unknown */
    bool signalled;          /* mtlaunch signalled it in this attempt, so it counts as stopped */
    bool stop_missed;        /* no stop of this attempt has reached it; it may still end by itself */
    bool written_off;        /* by stop --give-up, while it did not answer */
    /* As seen just now, not kept in the record: */
    int64_t silent_s;     /* since its log last grew, by the node's own clock; -1: unknown, or no output */
    struct run_gpu *gpus; /* those of the job, then the other ones */
    size_t gpus_len;
    size_t gpus_others; /* how many follow the first gpus_len */
    bool gpus_known;
};

struct run_attempt {
    unsigned number; /* from 1 */
    enum run_state state;
    int64_t started_ms, ended_ms;
    char *reason;
    struct strlist nodes; /* labels in rank order */
};

/*
 * A node of an earlier attempt that did not answer when the run continued without it. Its processes are ended
 * when it is reached again, through the login and in the place of that attempt, whatever later attempts use.
 */
struct run_cleanup {
    struct host host;
    char *label;
    bool local;
    char *artifacts;
    struct place place;
    struct reach reach;
    bool place_known; /* false: from a record of an earlier version, which did not store it */
    unsigned rank;
    unsigned attempt;
};

/* A process left over from a run that has ended. Nothing waits for it; `stop` ends it. Owned strings. */
struct run_left_over {
    char *host; /* label of its node */
    int64_t pid;
    char *command;
};

/* The cause of a failed run, in addition to its one-line reason. Owned. */
struct run_cause {
    struct strlist hosts; /* labels of the nodes that caused it; empty: unknown */
    char *log_lines;      /* the last lines of the log, unless a known message explains more; NULL */
    char *hint;           /* what to do about it; NULL: unknown */
};

/* Files that were pushed to the nodes before the attempt was started. */
struct run_synced {
    bool done;      /* there was a sync */
    uint64_t files; /* sent, over all hosts */
    uint64_t bytes; /* of them */
    unsigned took_ms;
    char *commit; /* of the source; NULL: it is not in a git work tree */
    bool dirty;   /* with commit: the source has uncommitted changes */
};

struct run {
    char *name;
    char *job;
    char *job_file;
    char id[RUN_ID_SIZE];
    unsigned attempt;
    int64_t revision; /* number of writes of the record: tells whether it has changed since it was read */
    enum run_state state;
    bool starting;   /* a start has begun and has not ended yet */
    bool stopping;   /* a stop is running, or the last one could not verify that the run has stopped */
    bool unstarted;  /* nothing of the current attempt was started: the next start reuses its number */
    bool restarting; /* with stopping: another attempt follows when this one has stopped */
    char *reason;    /* one line; NULL */
    struct run_cause cause;
    int exit_status; /* of the node that failed first; -1: none */
    int64_t started_ms, ended_ms;
    unsigned master_port;
    char *master_addr;
    unsigned nproc_per_node; /* 0: unknown */
    unsigned global_batch;   /* samples of a step, from the arguments of the job; 0: unknown */
    unsigned sequence;       /* tokens of a sample, likewise */
    char *stop_signal;
    unsigned long stop_grace_s;
    struct policy policy;
    struct training_progress progress; /* of the current attempt, as last read */
    struct inventory inventory;        /* of the nodes of the current attempt */
    int64_t limit_ms;                  /* when the time limit ends (epoch); 0: there is none */
    bool timed_out;                    /* the run was stopped because a time limit passed */
    unsigned long timed_out_after_s;   /* that limit: the spec's, or that of `start --wait --timeout` */
    unsigned restarts;                 /* attempts that mtlaunch itself began since the last `start` */
    struct reach reach;                /* how nodes are reached, from the spec */
    struct place place; /* where the work happens on every node; each node has its own id and started */
    char *head_host, *head_boot_id;
    char *spec;     /* what was started on node 0, as JSON text: command, environment … */
    char *job_spec; /* the job file as resolved, as JSON text; NULL: of an earlier version */
    char *findings; /* problems that the checks of the last start found, as JSON; NULL: none */
    struct run_node *nodes;
    size_t nodes_len;
    struct run_cleanup *cleanups;
    size_t cleanups_len, cleanups_cap;
    struct run_left_over *left_over; /* as last seen */
    size_t left_over_len, left_over_cap;
    struct run_synced synced;
    struct run_attempt *attempts; /* earlier and current, in order */
    size_t attempts_len, attempts_cap;
};

void run_init(struct run *run);
void run_synced_copy(struct run_synced *to, const struct run_synced *from); /* to holds one, or is zero */
void run_release(struct run *run);
void run_nodes_alloc(struct run *run, size_t count); /* drops old ones; states pending, exit_status -1 */
void run_node_release(struct run_node *node);

/*
 * Set the reason and forget the cause of the previous one. text (taken; NULL: none) may quote lines of a log
 * below its first line: the reason then ends with the last of them, and cause.log_lines holds all of them if
 * there are several.
 */
void run_set_reason(struct run *run, char *text);
/* Append the reason for people, with the lines of the log below it. */
void run_add_reason(const struct run *run, struct str *out);

/* Append a zeroed pending cleanup and return it (valid until the next call); remove one. */
struct run_cleanup *run_add_cleanup(struct run *run);
void run_drop_cleanup(struct run *run, size_t index);

/* Append a zeroed attempt and return it (valid until the next call). */
struct run_attempt *run_add_attempt(struct run *run);

/* Remove the last attempt. */
void run_drop_attempt(struct run *run);

/* Texts are copied. run_forget_left_over: the processes of that host; host NULL: all. */
void run_add_left_over(struct run *run, const char *host, int64_t pid, const char *command);
void run_forget_left_over(struct run *run, const char *host);

/* The place of a node: that of the run, with the container the node was started in. Borrows from run. */
struct place run_node_place(const struct run *run, size_t node);

/* The current attempt's entry, NULL before the first. */
struct run_attempt *run_current_attempt(struct run *run);

/* Is there a node that runs, may run, or has not been started yet? */
bool run_has_open_node(const struct run *run);
bool run_has_lost_node(const struct run *run);

/*
 * The run's state from its flags and nodes, the first that fits: stopping, starting, degraded,
 * running, lost, failed, stopped, finished. Nodes written off count as stopped.
 */
enum run_state run_derive_state(const struct run *run);

/* finish_on is rank0, and node 0 has ended with 0: the run has finished when the others have ended, in
 * whatever way. */
bool run_is_finished_by_rank0(const struct run *run);

/*
 * Index of the node that failed first (by policy_end_ms; nodes stopped by mtlaunch never count), or -1.
 */
long run_first_failure(const struct run *run);

#endif
