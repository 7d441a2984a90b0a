/* Reads the logs of nodes: all at once while they grow, or one after the other in rank order. */
#include <stdlib.h>
#include <string.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "tails_internal.h"

#define AHEAD_NODES 16                  /* number of logs that are read ahead of the one being printed */
#define AHEAD_BYTES ((size_t)256 << 10) /* of each of these logs; a longer one is requested again */
#define REST_MS     30000               /* a log that is not followed must deliver within this time … */
#define REST_BYTES  1024                /* … at least this much, or all of the rest */
/* least number of bytes that a node searches per millisecond; it sends nothing before it finds something */
#define SEARCH_BYTES_MS 16000
#define EXIT_SHRANK     75 /* exit status of the node's script: the followed log became shorter */
#define RETRIES_MAX     5  /* tries in a row without a byte, for an ended run or a log that never began */

struct tail {
    struct tails *tails;
    size_t node;
    enum { TAIL_WAITING, TAIL_OPEN, TAIL_PAUSED, TAIL_ENDED } state;
    bool pausing;    /* cancelled here because its buffer is full */
    bool reposition; /* cancelled here because the sink needs other bytes */
    bool placed;     /* next is known */
    uint64_t next;   /* offset in the log of the next byte to receive */
    struct ask ask;
    uint64_t timer;     /* while open: limit for the next part of the answer; 0: none */
    uint64_t looked_at; /* length of the body when the timer was set */
    bool late;          /* cancelled here because this time has passed */
    bool unfiltered;    /* grep has failed on the node: all lines are requested */
    unsigned retries;
    struct str ahead; /* bytes read ahead */
    struct node_tail answer;
    struct error error; /* a fault in the answer */
};

struct tails {
    struct node_set *set;
    const struct run *run;
    struct node_tail_options options;
    struct tails_sink sink; /* begin NULL: the logs go to the observer */
    struct tail *items;
    size_t len;
    size_t left;
    bool dismissed;         /* the logs are no longer wanted */
    struct strlist missing; /* labels */
    size_t current;         /* in rank order: the item that is being printed */
    struct node_failures failures;
};

static void tails_advance(struct tails *tails);

static bool has_sink(const struct tails *tails)
{
    return tails->sink.begin;
}

/* Whether all logs are read at once, and none waits for another. */
static bool is_parallel(const struct tails *tails)
{
    return tails->options.follow || has_sink(tails);
}

static bool is_current(const struct tail *tail)
{
    return is_parallel(tail->tails) || tail == &tail->tails->items[tail->tails->current];
}

static void emit(const struct tail *tail, const char *bytes, size_t len)
{
    const struct run_observer *observer = tail->tails->set->context->observer;
    const struct run_node *node = &tail->tails->run->nodes[tail->node];
    if (observer->log && len > 0 && !tail->tails->dismissed) {
        observer->log(observer->ctx, node->rank, node->label, bytes, len);
    }
}

static void flush(struct tail *tail)
{
    if (tail->pausing && tail->answer.filtered) {
        return; /* its turn came before the cancelled command ended: the whole log will be requested again */
    }
    if (tail->ahead.len > 0) {
        emit(tail, tail->ahead.data, tail->ahead.len);
    }
    str_release(&tail->ahead);
}

/* --- one tail ----------------------------------------------------------------------------------- */

/* The log became shorter: what was read is no longer in it, so read it from its start. */
static void start_over(struct tail *tail)
{
    const struct run_context *context = tail->tails->set->context;
    const struct run_observer *observer = context->observer;
    const struct run_node *node = &tail->tails->run->nodes[tail->node];
    if (observer->log_end) {
        /* for an incomplete line whose end will not arrive */
        observer->log_end(observer->ctx, node->rank, node->label);
    }
    report_warn(context, "%s: its log became shorter; it is read from its start", node->label);
    tail->next = tail->answer.offset;
}

static void give_sink(struct tail *tail, const char *body, size_t len)
{
    const struct tails_sink *sink = &tail->tails->sink;
    int result = 0;
    if (!tail->answer.header || tail->answer.missing) {
        return;
    }
    if (!tail->placed) {
        tail->placed = true;
        result = sink->begin(sink->ctx, tail->node, tail->answer.size, &tail->error);
    }
    if (result == 0 && len > 0) {
        result = sink->body(sink->ctx, tail->node, body, len, &tail->error);
    }
    if (result != 0) {
        tail->reposition = result > 0;
        ask_cancel(&tail->ask);
    }
}

static void take_body(struct tail *tail, const char *body, size_t len)
{
    if (has_sink(tail->tails)) {
        give_sink(tail, body, len);
        return;
    }
    if (tail->answer.header && tail->retries > 0) {
        if (tail->placed) {
            report_info(tail->tails->set->context, "%s: its log continues",
                        tail->tails->run->nodes[tail->node].label);
        }
        tail->retries = 0;
    }
    if (tail->answer.header && !tail->answer.missing && tail->placed && tail->answer.body_len == len &&
        tail->answer.offset < tail->next) {
        start_over(tail);
    }
    if (tail->answer.header && !tail->answer.missing && !tail->placed) {
        tail->placed = true;
        tail->next = tail->answer.offset;
    }
    if (len == 0) {
        return;
    }
    tail->next += len;
    if (is_current(tail)) {
        emit(tail, body, len);
        return;
    }
    str_add_mem(&tail->ahead, body, len);
    if (tail->ahead.len > AHEAD_BYTES) {
        tail->pausing = true;
        ask_cancel(&tail->ask);
    }
}

/* --- its time limit ------------------------------------------------------------------------------ */

static void stop_timer(struct tail *tail)
{
    fleet_timer_cancel(tail->tails->set->fleet, tail->timer);
    tail->timer = 0;
}

static void on_late(void *ctx);

static void start_timer(struct tail *tail)
{
    stop_timer(tail);
    tail->looked_at = tail->answer.body_len;
    uint64_t search_ms =
        tail->answer.filtered ? (tail->answer.size - tail->answer.offset) / SEARCH_BYTES_MS : 0;
    tail->timer = fleet_timer(tail->tails->set->fleet, REST_MS + search_ms, on_late, tail);
}

/* A connection that delivers a byte now and then must not hold back the other nodes' logs. */
static void on_late(void *ctx)
{
    struct tail *tail = ctx;
    tail->timer = 0;
    if (tail->answer.body_len - tail->looked_at >= REST_BYTES) {
        start_timer(tail);
        return;
    }
    tail->late = true;
    ask_cancel(&tail->ask);
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct tail *tail = ctx;
    bool begun = tail->answer.header;
    const char *body = NULL;
    size_t body_len = 0;
    if (stream != 1 || tail->pausing || tail->reposition || tail->late || tail->error.kind) {
        return;
    }
    if (node_tail_feed(&tail->answer, bytes, len, &body, &body_len, &tail->error) != 0) {
        ask_cancel(&tail->ask);
        return;
    }
    if (!begun && tail->answer.header) {
        ask_begun(&tail->ask);
        if (!tail->tails->options.follow) { /* a followed log may be silent for long */
            start_timer(tail);
        }
    }
    take_body(tail, body, body_len);
}

static void tail_end(struct tail *tail, const struct error *error)
{
    struct tails *tails = tail->tails;
    struct error end = ERROR_INIT;
    const struct run_observer *observer = tails->set->context->observer;
    const struct run_node *node = &tails->run->nodes[tail->node];
    tail->state = TAIL_ENDED;
    if (has_sink(tails) && tails->sink.end(tails->sink.ctx, tail->node, &end) != 0 && !error) {
        error = &end;
    }
    if (error) {
        node_failures_set(&tails->failures, tail->node, error);
    } else if (tail->answer.missing) {
        strlist_add(&tails->missing, node->label);
    }
    if (tails->options.follow && observer->log_end && !tails->dismissed) {
        observer->log_end(observer->ctx, node->rank, node->label);
    }
    if (--tails->left == 0) {
        fleet_stop(tails->set->fleet);
    }
}

/* Whether the run is still live according to its record. */
static bool run_lives(const struct tails *tails)
{
    struct run fresh;
    if (run_store_load(tails->set->context->store, tails->run->name, &fresh, NULL) != 0) {
        return false;
    }
    bool lives = run_state_is_live(fresh.state) && fresh.attempt == tails->run->attempt;
    run_release(&fresh);
    return lives;
}

/*
 * The connection broke within the log: retry a little later, from where it broke, as often as needed while
 * the run is live.
 */
static bool retry_later(struct tail *tail, const struct error *error)
{
    struct node_set *set = tail->tails->set;
    bool network = error->kind->exit_code == kind_connection_lost.exit_code &&
                   (error->kind != &kind_node_answer || tail->ask.late);
    if (!tail->tails->options.follow || !network || node_set_is_interrupted(set) ||
        (tail->retries >= RETRIES_MAX && !(tail->placed && run_lives(tail->tails)))) {
        return false;
    }
    if (++tail->retries == 1) {
        report_warn(set->context, "%s: %s; %s", tail->tails->run->nodes[tail->node].label, error->text,
                    tail->placed ? "its log continues where it broke off once it is reached again"
                                 : "it is asked again");
    }
    tail->state = TAIL_WAITING;
    ask_retry(&tail->ask, ask_retry_ms(tail->retries));
    return true;
}

/*
 * Whether the node's grep could not read the log to its end (for example, a line did not fit into memory) and
 * nothing was printed.
 */
static bool search_failed(const struct tail *tail, const struct exec_result *result)
{
    return tail->answer.filtered && tail->answer.body_len == 0 && !tail->late && !tail->error.kind &&
           !result->error.kind && result->exit_status == NODE_TAIL_UNFILTERED;
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct tail *tail = ctx;
    struct error err = tail->error.kind ? tail->error : result->error;
    stop_timer(tail);
    if (tail->late && node_tail_is_whole(&tail->answer) && !tail->pausing) {
        err = ERROR_INIT; /* the whole log arrived, only the end of the command did not */
    } else if (tail->late) {
        error_set(&err, &kind_timed_out, "the rest of its log did not arrive: less than %d bytes in %d s",
                  REST_BYTES, REST_MS / 1000);
    }
    tail->late = false;
    if (tail->reposition) {
        tail->reposition = tail->placed = false;
        ask_send(&tail->ask);
    } else if (tail->pausing) {
        tail->pausing = false;
        tail->state = TAIL_PAUSED;
        if (tail->answer.filtered) { /* there is no offset from which to continue */
            str_release(&tail->ahead);
            tail->placed = false;
        }
    } else if (search_failed(tail, result)) {
        tail->unfiltered = true;
        tail->placed = false;
        ask_send(&tail->ask);
    } else {
        if (!err.kind) {
            node_tail_end(&tail->answer, tail->tails->options.follow, &err);
        }
        if (err.kind && !tail->answer.header) {
            ask_explain(&tail->ask, &err);
        }
        if (!err.kind && tail->tails->options.follow && result->exit_status == EXIT_SHRANK) {
            ask_send(&tail->ask);
        } else if (!err.kind) {
            tail_end(tail, NULL);
        } else if (!retry_later(tail, &err)) {
            tail_end(tail, &err);
        }
    }
    tails_advance(tail->tails);
}

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    struct tail *tail = ctx;
    const struct tails *tails = tail->tails;
    const struct node_target target = run_node_target(tails->run, tail->node);
    struct node_tail_options options = tails->options;
    if (tail->placed) {
        options.from = NODE_TAIL_OFFSET;
        options.count = tail->next;
    } else if (has_sink(tails)) {
        options.from = NODE_TAIL_OFFSET;
        options.count = tails->sink.offset(tails->sink.ctx, tail->node);
    }
    options.filter = tail->unfiltered ? NULL : options.filter;
    node_tail_release(&tail->answer);
    node_tail_init(&tail->answer, nonce);
    node_request_tail(&target, &options, nonce, call);
    tail->state = TAIL_OPEN;
    return true;
}

static void init_tail(struct tail *tail, struct tails *tails, size_t node)
{
    static const struct ask_handler handler = {.build = on_build, .data = on_data, .done = on_done};
    const struct node_target target = run_node_target(tails->run, node);
    const struct ask_options options = {
        .begin_ms = ask_begin_ms(tails->set->context->connect_timeout_ms),
        .follow = tails->options.follow,
        /* closing it ends the follower in the container */
        .hold_input = tails->options.follow && target.place.container,
        .timeout_ms = 0, /* a log may be long: see on_late */
    };
    tail->tails = tails;
    tail->node = node;
    ask_init(&tail->ask, tails->set->fleet, node, &handler, &options, tail);
}

/* --- all of them -------------------------------------------------------------------------------- */

/* Advance to the next log that has not ended, and read ahead of it. */
static void tails_advance(struct tails *tails)
{
    const struct run_observer *observer = tails->set->context->observer;
    if (is_parallel(tails)) {
        return;
    }
    while (tails->current < tails->len) {
        struct tail *tail = &tails->items[tails->current];
        flush(tail);
        if (tail->state == TAIL_PAUSED) {
            ask_send(&tail->ask);
        }
        if (tail->state != TAIL_ENDED) {
            break;
        }
        if (observer->log_end) {
            const struct run_node *node = &tails->run->nodes[tail->node];
            observer->log_end(observer->ctx, node->rank, node->label);
        }
        tails->current++;
    }
    for (size_t i = tails->current; i < tails->len && i <= tails->current + AHEAD_NODES; i++) {
        if (tails->items[i].state == TAIL_WAITING) {
            ask_send(&tails->items[i].ask);
        }
    }
}

struct tails *tails_open(struct node_set *set, const struct run *run, const bool *selected,
                         const struct node_tail_options *options, const struct tails_sink *sink)
{
    struct tails *tails = xcalloc(1, sizeof(*tails));
    *tails = (struct tails){.set = set, .run = run, .options = *options};
    if (sink) {
        tails->sink = *sink;
    }
    tails->items = xcalloc(run->nodes_len, sizeof(*tails->items));
    node_failures_init_run(&tails->failures, run);
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (selected[i]) {
            init_tail(&tails->items[tails->len++], tails, i);
        }
    }
    tails->left = tails->len;
    for (size_t i = 0; is_parallel(tails) && i < tails->len; i++) {
        ask_send(&tails->items[i].ask);
    }
    tails_advance(tails);
    return tails;
}

void tails_dismiss(struct tails *tails)
{
    tails->dismissed = true;
    for (size_t i = 0; i < tails->len; i++) {
        struct tail *tail = &tails->items[i];
        bool waits = tail->state == TAIL_WAITING;
        if (tail->state == TAIL_ENDED) {
            continue;
        }
        ask_cancel(&tail->ask);
        if (waits) {
            tail_end(tail, NULL);
        }
    }
}

void tails_free(struct tails *tails)
{
    if (!tails) {
        return;
    }
    for (size_t i = 0; i < tails->len; i++) {
        struct tail *tail = &tails->items[i];
        node_tail_release(&tail->answer);
        str_release(&tail->ahead);
        ask_release(&tail->ask);
    }
    node_failures_release(&tails->failures);
    strlist_release(&tails->missing);
    free(tails->items);
    free(tails);
}

size_t tails_left(const struct tails *tails)
{
    return tails->left;
}

const struct strlist *tails_missing(const struct tails *tails)
{
    return &tails->missing;
}

const struct node_failures *tails_failures(const struct tails *tails)
{
    return &tails->failures;
}
