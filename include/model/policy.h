/*
 * What to do when a node of a run fails, falls silent or stalls: the spec's settings, and pure decisions
 * based on what is known. No I/O, no clock.
 */
#ifndef MTLAUNCH_MODEL_POLICY_H
#define MTLAUNCH_MODEL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strlist.h"

struct run;
struct run_node;

enum policy_act { POLICY_STOP, POLICY_KEEP, POLICY_RESTART };

const char *policy_act_name(enum policy_act act);
bool policy_act_from_name(const char *name, enum policy_act *out);

/* When a run has finished: when every node has ended, or when node 0 has ended with 0. */
enum policy_finish { POLICY_FINISH_ALL, POLICY_FINISH_RANK0 };

/* The spec's finish_on, time_limit, on_failure, on_lost, lost_after, stall, on_stall and restart. */
struct policy {
    enum policy_act on_failure; /* STOP by default */
    enum policy_act on_lost;    /* KEEP by default */
    enum policy_act on_stall;   /* KEEP by default */
    unsigned long lost_after_s;
    unsigned long stall_s; /* 0: off */
    enum policy_finish finish_on;
    unsigned long time_limit_s; /* 0: off */
    bool on_failure_given;      /* on_failure is written in the spec; not kept in records */
    unsigned restart_max;
    unsigned long backoff_s;
    struct strlist no_restart_on; /* texts to look for at the end of the log */
    struct strlist spares;        /* entries of a host list, in the order they are taken */
    char *progress_pattern;       /* of the program's own progress lines (model/progress.h); NULL: none */
};

void policy_init(struct policy *policy); /* the defaults of the job file */
void policy_release(struct policy *policy);
void policy_copy(struct policy *to,
                 const struct policy *from); /* to is initialised; its old contents are released */

/* --- time --------------------------------------------------------------------------------------- */

/*
 * A node reported an uptime of uptime_ms, received at received_ms (epoch, the head's clock): it booted at
 * received_ms - uptime_ms at the latest. The earliest such time is kept in node->clock_ms, so that ends on
 * different nodes can be ordered without the clocks of the nodes. rebooted: earlier reports no longer count.
 */
void policy_note_clock(struct run_node *node, int64_t uptime_ms, int64_t received_ms, bool rebooted);

/*
 * When the node ended, by the head's clock (epoch ms); by its own clock if its boot time is not known; 0:
 * unknown.
 */
int64_t policy_end_ms(const struct run_node *node);

/* --- decisions ---------------------------------------------------------------------------------- */

/* What is known beyond the record. All times are of one monotonic clock. */
struct policy_view {
    int64_t now_ms;
    const int64_t *silent_since_ms; /* one per node; 0: it answers */
    bool stalled;
    bool no_restart; /* the end of the log of the node that failed first has a text of no_restart_on */
};

enum policy_step { POLICY_STEP_NONE, POLICY_STEP_STOP, POLICY_STEP_RESTART };
enum policy_cause {
    POLICY_CAUSE_NONE,
    POLICY_CAUSE_FAILED,
    POLICY_CAUSE_LOST,
    POLICY_CAUSE_STALLED,
    POLICY_CAUSE_FINISHED /* finish_on: rank0, and node 0 has ended with 0 */
};

struct policy_decision {
    enum policy_step step;
    enum policy_cause cause;
    long node;      /* the node that failed or is silent; -1: all nodes */
    bool used_up;   /* a restart was wanted, but restart.max restarts have been made: STEP_STOP or NONE
                       instead */
    bool forbidden; /* a restart was wanted, but no_restart_on forbids it */
};

/*
 * Decide what to do now with a run; nothing while it is starting or stopping. STEP_STOP only while a process
 * of it may be alive. A silent node counts as lost after lost_after, and only while another node answers: if
 * none does, the likely cause is the head's own network, and nothing could be done or verified.
 */
struct policy_decision policy_decide(const struct run *run, const struct policy_view *view);

/*
 * The first setting of the policy that needs a process on the head to act on it ("time_limit", "on_lost:
 * stop"); NULL: none. Static text.
 */
const char *policy_needs_supervisor(const struct policy *policy);

/* True if no node answers. */
bool policy_all_silent(const struct run *run, const int64_t *silent_since_ms);

/* The entry of no_restart_on that text contains, or NULL. Borrowed. */
const char *policy_forbids_restart(const struct policy *policy, const char *text);

/* --- stall -------------------------------------------------------------------------------------- */

/*
 * policy_is_stalled: a node is running, and no log of a running node has grown for stall_s. grown_ms has one
 * time per node (monotonic; 0: not known yet, counts as growing). policy_find_behind sets behind (one per
 * node) for running nodes whose log stopped growing more than margin_ms before the last one did, and returns
 * how many there are.
 */
bool policy_is_stalled(const struct run *run, const int64_t *grown_ms, int64_t now_ms);
size_t policy_find_behind(const struct run *run, const int64_t *grown_ms, int64_t margin_ms, bool *behind);

/* How often a node should send a heartbeat: every 10 s, more often if a short stall is to be detected. */
unsigned policy_beat_s(const struct policy *policy);

/* --- pauses ------------------------------------------------------------------------------------- */

/* Before restart n (from 1): backoff, doubled each time, at most ten minutes or backoff itself. */
int64_t policy_backoff_ms(const struct policy *policy, unsigned n);

/* Before the n-th try (from 1) to reach a node again: 1 s, doubled up to 30 s, plus or minus up to a quarter
 * depending on the random number chance (0..2^32-1). */
unsigned policy_retry_ms(unsigned n, uint32_t chance);

#endif
