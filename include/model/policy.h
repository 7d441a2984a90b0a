/*
 * What is done when a node of a run fails, falls silent or stalls: the spec's settings, and pure decisions
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
    struct strlist no_restart_on; /* texts looked for in the log's end */
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
 * received_ms - uptime_ms at the latest. The least of what is seen is kept in node->clock_ms, so that ends on
 * different nodes can be put in order whatever their clocks say. rebooted: earlier samples are void.
 */
void policy_note_clock(struct run_node *node, int64_t uptime_ms, int64_t received_ms, bool rebooted);

/* When the node ended by the head's clock (epoch ms); its own clock's word where no offset is known; 0. */
int64_t policy_end_ms(const struct run_node *node);

/* --- decisions ---------------------------------------------------------------------------------- */

/* What is known beyond the record. Times are one monotonic clock's. */
struct policy_view {
    int64_t now_ms;
    const int64_t *silent_since_ms; /* one per node; 0: it answers */
    bool stalled;
    bool no_restart; /* the log's end of the node that failed first holds a text of no_restart_on */
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
    long node;      /* whose failure or silence it is; -1: all of them */
    bool used_up;   /* a restart was asked for, and restart.max restarts have been made: STEP_STOP or NONE
                       instead */
    bool forbidden; /* a restart was asked for, and no_restart_on forbids it */
};

/*
 * What is to be done now with a run that is neither starting nor stopping. STEP_STOP only while a process of
 * it may be alive. A node that is silent counts after lost_after and only while another one answers: when
 * none does, the head's own network is the likely reason, and nothing could be done or proven.
 */
struct policy_decision policy_decide(const struct run *run, const struct policy_view *view);

/*
 * The first setting of the policy that needs a process on the head to act on it ("time_limit", "on_lost:
 * stop"); NULL: none. Static text.
 */
const char *policy_needs_supervisor(const struct policy *policy);

/* Does no node answer? */
bool policy_all_silent(const struct run *run, const int64_t *silent_since_ms);

/* Does text contain something that the policy forbids a restart on? Returns the entry, or NULL. Borrowed. */
const char *policy_forbids_restart(const struct policy *policy, const char *text);

/* --- stall -------------------------------------------------------------------------------------- */

/*
 * No log of a running node has grown for stall_s: grown_ms has one time per node (monotonic; 0: not known
 * yet, counts as growing). behind (one per node): running, and its log stopped growing more than margin_ms
 * before that of the last one.
 */
bool policy_is_stalled(const struct run *run, const int64_t *grown_ms, int64_t now_ms);
size_t policy_find_behind(const struct run *run, const int64_t *grown_ms, int64_t margin_ms, bool *behind);

/* How often a node should send a heartbeat: every 10 s, more often if a short stall is to be detected. */
unsigned policy_beat_s(const struct policy *policy);

/* --- pauses ------------------------------------------------------------------------------------- */

/* Before restart n (from 1): backoff, doubled each time, at most ten minutes or backoff itself. */
int64_t policy_backoff_ms(const struct policy *policy, unsigned n);

/* Before the n-th try (from 1) to reach a node again: 1 s doubled up to 30 s, a quarter up or down by
 * chance (0..2^32-1). */
unsigned policy_retry_ms(unsigned n, uint32_t chance);

#endif
