/* Decides what to do when a node fails, falls silent or stalls. */
#include "model/policy.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/run.h"

#define BEAT_S         10
#define BACKOFF_MAX_MS (600 * INT64_C(1000))
#define RETRY_MAX_MS   30000u

static const char *const act_names[] = {
    [POLICY_STOP] = "stop", [POLICY_KEEP] = "keep", [POLICY_RESTART] = "restart"};

const char *policy_act_name(enum policy_act act)
{
    return act_names[act];
}

bool policy_act_from_name(const char *name, enum policy_act *out)
{
    for (size_t i = 0; i < ARRAY_LEN(act_names); i++) {
        if (strcmp(name, act_names[i]) == 0) {
            *out = (enum policy_act)i;
            return true;
        }
    }
    return false;
}

void policy_init(struct policy *policy)
{
    *policy = (struct policy){
        .on_failure = POLICY_STOP,
        .on_lost = POLICY_KEEP,
        .on_stall = POLICY_KEEP,
        .lost_after_s = 300,
        .backoff_s = 10,
    };
}

void policy_release(struct policy *policy)
{
    strlist_release(&policy->no_restart_on);
    strlist_release(&policy->spares);
    free(policy->progress_pattern);
    policy_init(policy);
}

void policy_copy(struct policy *to, const struct policy *from)
{
    struct policy copy = *from;
    copy.no_restart_on = (struct strlist)STRLIST_INIT;
    copy.spares = (struct strlist)STRLIST_INIT;
    strlist_copy(&copy.no_restart_on, &from->no_restart_on);
    strlist_copy(&copy.spares, &from->spares);
    copy.progress_pattern = xstrdup(from->progress_pattern);
    policy_release(to);
    *to = copy;
}

/* --- time --------------------------------------------------------------------------------------- */

void policy_note_clock(struct run_node *node, int64_t uptime_ms, int64_t received_ms, bool rebooted)
{
    if (uptime_ms <= 0) {
        return;
    }
    int64_t boot_ms = received_ms - uptime_ms;
    if (node->clock_ms == 0 || rebooted || boot_ms < node->clock_ms) {
        node->clock_ms = boot_ms;
    }
}

int64_t policy_end_ms(const struct run_node *node)
{
    return node->clock_ms != 0 && node->ended_uptime_ms != 0 ? node->clock_ms + node->ended_uptime_ms
                                                             : node->ended_ms;
}

/* --- decisions ---------------------------------------------------------------------------------- */

static bool is_open(const struct run_node *node)
{
    return node->state == NODE_RUNNING || (node->state == NODE_LOST && !node->written_off);
}

static bool anything_open(const struct run *run)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (is_open(&run->nodes[i])) {
            return true;
        }
    }
    return false;
}

bool policy_all_silent(const struct run *run, const int64_t *silent_since_ms)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (silent_since_ms[i] == 0) {
            return false;
        }
    }
    return run->nodes_len > 0;
}

/* The open node that has been silent longest, at least lost_after; -1: none. */
static long find_lost(const struct run *run, const struct policy_view *view)
{
    long found = -1;
    for (size_t i = 0; i < run->nodes_len; i++) {
        int64_t since = view->silent_since_ms[i];
        if (since == 0 || !is_open(&run->nodes[i]) ||
            view->now_ms - since < (int64_t)run->policy.lost_after_s * 1000) {
            continue;
        }
        if (found < 0 || since < view->silent_since_ms[found]) {
            found = (long)i;
        }
    }
    return found;
}

/* Apply one setting of the spec to the decision. */
static void decide_by(const struct run *run, const struct policy_view *view, enum policy_act act,
                      struct policy_decision *out)
{
    if (act == POLICY_KEEP) {
        return;
    }
    out->used_up = act == POLICY_RESTART && run->restarts >= run->policy.restart_max;
    out->forbidden = act == POLICY_RESTART && view->no_restart;
    if (act == POLICY_RESTART && !out->used_up && !out->forbidden) {
        out->step = POLICY_STEP_RESTART;
    } else if (anything_open(run)) {
        out->step = POLICY_STEP_STOP;
    }
}

struct policy_decision policy_decide(const struct run *run, const struct policy_view *view)
{
    struct policy_decision out = {.step = POLICY_STEP_NONE, .node = -1};
    if (run->starting || run->stopping) {
        return out;
    }
    if (run_is_finished_by_rank0(run)) {
        out.cause = POLICY_CAUSE_FINISHED;
        out.node = 0;
        out.step = anything_open(run) ? POLICY_STEP_STOP : POLICY_STEP_NONE;
        return out;
    }
    long failed = run_first_failure(run);
    if (failed >= 0) {
        out.cause = POLICY_CAUSE_FAILED;
        out.node = failed;
        decide_by(run, view, run->policy.on_failure, &out);
        if (out.step != POLICY_STEP_NONE) {
            return out;
        }
    }
    long lost = policy_all_silent(run, view->silent_since_ms) ? -1 : find_lost(run, view);
    if (lost >= 0) {
        out = (struct policy_decision){.cause = POLICY_CAUSE_LOST, .node = lost};
        decide_by(run, view, run->policy.on_lost, &out);
        if (out.step != POLICY_STEP_NONE) {
            return out;
        }
    }
    if (view->stalled) {
        out = (struct policy_decision){.cause = POLICY_CAUSE_STALLED, .node = -1};
        decide_by(run, view, run->policy.on_stall, &out);
    }
    return out;
}

const char *policy_needs_supervisor(const struct policy *policy)
{
    const struct {
        bool asked;
        const char *words;
    } rows[] = {
        {policy->time_limit_s > 0, "time_limit"},
        {policy->finish_on == POLICY_FINISH_RANK0, "finish_on: rank0"},
        {policy->on_failure == POLICY_RESTART, "on_failure: restart"},
        {policy->on_failure == POLICY_STOP && policy->on_failure_given, "on_failure: stop"},
        {policy->on_lost == POLICY_RESTART, "on_lost: restart"},
        {policy->on_lost == POLICY_STOP, "on_lost: stop"},
        {policy->on_stall == POLICY_STOP, "on_stall: stop"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].asked) {
            return rows[i].words;
        }
    }
    return NULL;
}

const char *policy_forbids_restart(const struct policy *policy, const char *text)
{
    for (size_t i = 0; i < policy->no_restart_on.len; i++) {
        if (strstr(text, policy->no_restart_on.items[i])) {
            return policy->no_restart_on.items[i];
        }
    }
    return NULL;
}

/* --- stall -------------------------------------------------------------------------------------- */

bool policy_is_stalled(const struct run *run, const int64_t *grown_ms, int64_t now_ms)
{
    bool running = false;
    if (run->policy.stall_s == 0) {
        return false;
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (run->nodes[i].state != NODE_RUNNING) {
            continue;
        }
        running = true;
        if (grown_ms[i] == 0 || now_ms - grown_ms[i] < (int64_t)run->policy.stall_s * 1000) {
            return false;
        }
    }
    return running;
}

size_t policy_find_behind(const struct run *run, const int64_t *grown_ms, int64_t margin_ms, bool *behind)
{
    int64_t last = 0;
    size_t count = 0;
    for (size_t i = 0; i < run->nodes_len; i++) {
        behind[i] = false;
        if (run->nodes[i].state == NODE_RUNNING && grown_ms[i] > last) {
            last = grown_ms[i];
        }
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (run->nodes[i].state == NODE_RUNNING && last - grown_ms[i] > margin_ms) {
            behind[i] = true;
            count++;
        }
    }
    return count;
}

unsigned policy_beat_s(const struct policy *policy)
{
    if (policy->stall_s == 0 || policy->stall_s >= 4UL * BEAT_S) {
        return BEAT_S;
    }
    return policy->stall_s < 4 ? 1 : (unsigned)(policy->stall_s / 4);
}

/* --- pauses ------------------------------------------------------------------------------------- */

int64_t policy_backoff_ms(const struct policy *policy, unsigned n)
{
    int64_t first = (int64_t)policy->backoff_s * 1000;
    int64_t most = first > BACKOFF_MAX_MS ? first : BACKOFF_MAX_MS;
    int64_t pause = first;
    for (unsigned i = 1; i < n && pause < most; i++) {
        pause *= 2;
    }
    return pause < most ? pause : most;
}

unsigned policy_retry_ms(unsigned n, uint32_t chance)
{
    unsigned pause = 1000;
    for (unsigned i = 1; i < n && pause < RETRY_MAX_MS; i++) {
        pause *= 2;
    }
    pause = pause < RETRY_MAX_MS ? pause : RETRY_MAX_MS;
    return pause - pause / 4 + (unsigned)((uint64_t)(pause / 2) * chance / UINT32_MAX);
}
