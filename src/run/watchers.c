/* Watches nodes: each reports changes, and a broken watch is reopened. */
#include <stdlib.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "samples_internal.h"
#include "test_crash_internal.h"
#include "watchers_internal.h"

#define MISSED_BEATS 3
#define OUTPUT_MS    60000
#define MISSED_MS    5000 /* beyond the heartbeats, for a busy node or a slow network */
#define GPUS_S       30   /* interval of the calls of nvidia-smi */
#define GPUS_OLD_MS  (3 * GPUS_S * 1000)

struct watcher {
    struct watchers *watchers;
    size_t node;
    struct ask ask;
    unsigned failures; /* in a row */
    int64_t heard_ms;  /* monotonic time of the last message; at first, of the request */
    bool mute;         /* cancelled because nothing arrived */
    bool over;         /* its last observation is final */
    bool has_news;
    bool has_seen;
    struct node_watch answer;
    struct node_observation seen; /* the last observation, if has_seen */
    int64_t seen_real_ms;         /* when it arrived, epoch */
    int64_t seen_ms;              /* likewise, monotonic */
    struct error why;             /* reason of the silence */
    struct gpu_sample gpus;       /* as last reported */
    int64_t gpus_ms;              /* when that arrived, monotonic; 0: never */
};

struct watchers {
    struct node_set *set;
    const struct run *run;
    unsigned beat_s;
    struct watcher *items; /* one per node */
    size_t len;
    int64_t *silent_since_ms, *grown_ms;
    uint64_t *log_size;
};

/* A clock that counts only the time in which this process listened, not when it was suspended or busy. */
static int64_t now_ms(const struct watchers *watchers)
{
    return fleet_now_ms(watchers->set->fleet);
}

static void note_news(struct watcher *watcher)
{
    watcher->has_news = true;
    fleet_stop(watcher->watchers->set->fleet);
}

/* --- messages ------------------------------------------------------------------------------------ */

static void note_log(struct watcher *watcher, uint64_t size)
{
    struct watchers *watchers = watcher->watchers;
    if (watchers->grown_ms[watcher->node] == 0 || size != watchers->log_size[watcher->node]) {
        watchers->grown_ms[watcher->node] = now_ms(watchers);
        watchers->log_size[watcher->node] = size;
    }
}

static void take_beat(struct watcher *watcher, struct node_observation *seen)
{
    note_log(watcher, seen->log_size);
    if (seen->gpus.known) {
        judge_own_gpus(&watcher->watchers->run->nodes[watcher->node], seen);
        watcher->gpus = run_sample_gpus(&seen->gpus);
        watcher->gpus_ms = now_ms(watcher->watchers);
    }
    node_observation_release(seen);
}

static void take_observation(struct watcher *watcher, struct node_observation *seen)
{
    if (watcher->has_seen) {
        node_observation_release(&watcher->seen);
    }
    watcher->seen = *seen;
    watcher->has_seen = true;
    watcher->seen_real_ms = clock_real_ms();
    watcher->over = seen->life != NODE_LIFE_RUNNING && seen->life != NODE_LIFE_STARTING &&
                    seen->life != NODE_LIFE_UNRECORDED;
    watcher->failures = 0;
    watcher->watchers->silent_since_ms[watcher->node] = 0;
    note_log(watcher, seen->log_size);
    watcher->seen_ms = now_ms(watcher->watchers);
    test_crash_point(watcher->watchers->set->context);
    note_news(watcher);
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct watcher *watcher = ctx;
    struct node_observation seen;
    bool is_beat = false;
    int result;
    if (stream != 1 || watcher->mute || watcher->why.kind) {
        return;
    }
    while ((result = node_watch_take(&watcher->answer, &bytes, &len, &seen, &is_beat, &watcher->why)) == 1) {
        watcher->heard_ms = now_ms(watcher->watchers);
        ask_begun(&watcher->ask);
        if (is_beat) {
            take_beat(watcher, &seen);
        } else {
            take_observation(watcher, &seen);
        }
    }
    if (result < 0) {
        ask_cancel(&watcher->ask);
    }
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct watcher *watcher = ctx;
    struct watchers *watchers = watcher->watchers;
    if ((watcher->over && !watcher->why.kind && !result->error.kind) ||
        node_set_is_interrupted(watchers->set)) {
        return;
    }
    if (!watcher->why.kind) {
        watcher->why = result->error;
    }
    if (!watcher->why.kind) {
        error_set(&watcher->why, &kind_connection_lost, "its watch ended");
    }
    int64_t *since = &watchers->silent_since_ms[watcher->node];
    /* A watch that was heard a moment ago is first restarted: only the connection may have broken. */
    watcher->failures++;
    if (*since == 0 && (watcher->failures > 1 || result->error.kind != &kind_connection_lost)) {
        *since = now_ms(watchers);
        note_news(watcher);
    }
    ask_retry(&watcher->ask, watcher->failures == 1 ? 200 : ask_retry_ms(watcher->failures - 1));
}

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    struct watcher *watcher = ctx;
    struct watchers *watchers = watcher->watchers;
    const struct node_target target = run_node_target(watchers->run, watcher->node);
    const struct node_watch_options options = {.beat_s = watchers->beat_s, .gpus_s = GPUS_S};
    node_watch_release(&watcher->answer);
    node_watch_init(&watcher->answer, nonce);
    node_request_watch(&target, &options, nonce, call);
    test_crash_point(watchers->set->context);
    watcher->why.kind = NULL;
    watcher->mute = false;
    watcher->over = false;
    watcher->heard_ms = now_ms(watchers);
    return true;
}

/* --- all of them -------------------------------------------------------------------------------- */

struct watchers *watchers_open(struct node_set *set, const struct run *run, unsigned beat_s)
{
    static const struct ask_handler handler = {.build = on_build, .data = on_data, .done = on_done};
    struct watchers *watchers = xcalloc(1, sizeof(*watchers));
    size_t count = run->nodes_len;
    *watchers = (struct watchers){
        .set = set,
        .run = run,
        .beat_s = beat_s,
        .len = count,
        .items = xcalloc(count, sizeof(struct watcher)),
        .silent_since_ms = xcalloc(count, sizeof(int64_t)),
        .grown_ms = xcalloc(count, sizeof(int64_t)),
        .log_size = xcalloc(count, sizeof(uint64_t)),
    };
    for (size_t i = 0; i < count; i++) {
        struct watcher *watcher = &watchers->items[i];
        const struct node_target target = run_node_target(run, i);
        const struct ask_options options = {
            .follow = true, .hold_input = target.place.container, /* closing it ends the watch inside */
        };
        watcher->watchers = watchers;
        watcher->node = i;
        ask_init(&watcher->ask, set->fleet, i, &handler, &options, watcher);
        if (!node_state_has_ended(run->nodes[i].state)) {
            ask_send(&watcher->ask);
        }
    }
    return watchers;
}

void watchers_free(struct watchers *watchers)
{
    if (!watchers) {
        return;
    }
    for (size_t i = 0; i < watchers->len; i++) {
        ask_release(&watchers->items[i].ask);
        node_watch_release(&watchers->items[i].answer);
        if (watchers->items[i].has_seen) {
            node_observation_release(&watchers->items[i].seen);
        }
    }
    free(watchers->items);
    free(watchers->silent_since_ms);
    free(watchers->grown_ms);
    free(watchers->log_size);
    free(watchers);
}

void watchers_check(struct watchers *watchers)
{
    int64_t now = now_ms(watchers);
    int64_t limit = (int64_t)watchers->beat_s * 1000 * MISSED_BEATS + MISSED_MS;
    for (size_t i = 0; i < watchers->len; i++) {
        struct watcher *watcher = &watchers->items[i];
        if (watcher->ask.state == ASK_OPEN && !watcher->mute && now - watcher->heard_ms > limit) {
            watcher->mute = true;
            error_set(&watcher->why, &kind_timed_out, "nothing was heard from it for %lld s",
                      (long long)(now - watcher->heard_ms) / 1000);
            ask_cancel(&watcher->ask);
        }
    }
}

void watchers_begin_anew(struct watchers *watchers)
{
    int64_t now = now_ms(watchers);
    for (size_t i = 0; i < watchers->len; i++) {
        struct watcher *watcher = &watchers->items[i];
        if (watchers->silent_since_ms[i] == 0) {
            continue;
        }
        watchers->silent_since_ms[i] = now;
        watcher->failures = 1;
        if (watcher->ask.state == ASK_WAITING) {
            ask_send(&watcher->ask);
        }
    }
}

bool watchers_have_news(const struct watchers *watchers)
{
    for (size_t i = 0; i < watchers->len; i++) {
        if (watchers->items[i].has_news) {
            return true;
        }
    }
    return false;
}

/*
 * Note when the log grew after the last observation, rounded to the minute, so that the record is not written
 * for every line.
 */
static void note_output(const struct watcher *watcher, struct run_node *node)
{
    int64_t grown = watcher->watchers->grown_ms[watcher->node];
    int64_t when = clock_real_ms() - (now_ms(watcher->watchers) - grown);
    when -= when % OUTPUT_MS;
    if (grown > watcher->seen_ms && when > node->last_output_ms) {
        node->last_output_ms = when;
    }
}

static void apply(struct watcher *watcher, struct run *run)
{
    struct run_node *node = &run->nodes[watcher->node];
    watcher->has_news = false;
    if (node_state_has_ended(node->state)) {
        return;
    }
    if (watcher->watchers->silent_since_ms[watcher->node] != 0) {
        judge_silence(node, &watcher->why);
    } else if (watcher->has_seen) {
        policy_note_clock(node, watcher->seen.uptime_ms, watcher->seen_real_ms, watcher->seen.rebooted);
        judge_note_stop(run, node);
        judge_observation(node, &watcher->seen, run->id, run->attempt);
        note_output(watcher, node);
    }
}

/* Apply all, not only news: run may have been reloaded from a record that another command wrote. */
void watchers_apply(struct watchers *watchers, struct run *run)
{
    for (size_t i = 0; i < watchers->len; i++) {
        apply(&watchers->items[i], run);
    }
}

size_t watchers_gpus(const struct watchers *watchers, struct gpu_sample *out)
{
    int64_t now = now_ms(watchers);
    size_t known = 0;
    for (size_t i = 0; i < watchers->len; i++) {
        const struct watcher *watcher = &watchers->items[i];
        bool fresh = watcher->gpus_ms != 0 && now - watcher->gpus_ms < GPUS_OLD_MS;
        if (out) {
            out[i] = fresh ? watcher->gpus : GPU_SAMPLE_NONE;
        }
        known += fresh;
    }
    return known;
}

const int64_t *watchers_silent_since(const struct watchers *watchers)
{
    return watchers->silent_since_ms;
}

const int64_t *watchers_grown(const struct watchers *watchers)
{
    return watchers->grown_ms;
}
