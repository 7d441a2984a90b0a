/* A round: asks each node of a set one question, as many at a time as the fan-out allows. */
#include <stdlib.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "node_set_internal.h"
#include "round_internal.h"
#include "test_crash_internal.h"

struct round_entry {
    struct round *round;
    size_t node;
    struct ask ask;
    struct str bytes;
};

struct round {
    struct node_set *set;
    const struct node_question *question;
    struct round_entry *entries;
    size_t next; /* the next node to ask */
    size_t open; /* asked and not done */
    size_t done;
};

static void round_advance(struct round *round);

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    const struct round_entry *entry = ctx;
    const struct node_question *question = entry->round->question;
    if (!question->build(question->ctx, entry->node, nonce, call)) {
        return false;
    }
    test_crash_point(entry->round->set->context);
    return true;
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct round_entry *entry = ctx;
    size_t room = NODE_ANSWER_MAX - entry->bytes.len;
    if (stream == 1) {
        str_add_mem(&entry->bytes, bytes, len < room ? len : room);
    }
}

static void show_progress(const struct round *round)
{
    const struct run_observer *observer = round->set->context->observer;
    if (round->question->what && observer->progress) {
        observer->progress(observer->ctx, round->question->what, round->done, round->set->labels.len);
    }
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct round_entry *entry = ctx;
    struct round *round = entry->round;
    const struct node_question *question = round->question;
    struct error err = result->error;
    test_crash_point(round->set->context);
    if (!err.kind && question->take(question->ctx, entry->node, str_text(&entry->bytes), entry->bytes.len,
                                    entry->ask.nonce, &err) == 0) {
        err.kind = NULL;
    }
    if (err.kind) {
        ask_explain(&entry->ask, &err);
        question->failed(question->ctx, entry->node, &err, result->started);
    }
    ask_release(&entry->ask);
    str_release(&entry->bytes);
    round->open--;
    round->done++;
    show_progress(round);
    round_advance(round);
    if (round->open == 0) {
        fleet_stop(round->set->fleet);
    }
}

/* Ask one node; false when there is nothing to ask it. */
static bool ask_node(struct round *round, size_t node)
{
    static const struct ask_handler handler = {.build = on_build, .data = on_data, .done = on_done};
    const struct ask_options options = {.timeout_ms = round->question->timeout_ms,
                                        .follow = round->question->together};
    struct round_entry *entry = &round->entries[node];
    ask_init(&entry->ask, round->set->fleet, node, &handler, &options, entry);
    if (!ask_send(&entry->ask)) {
        return false;
    }
    round->open++;
    return true;
}

static bool is_wanted(const struct round *round, size_t node)
{
    const struct node_question *question = round->question;
    return !question->wanted || question->wanted(question->ctx, node);
}

/* Keep as many questions open as the fan-out allows. */
static void round_advance(struct round *round)
{
    size_t count = round->set->labels.len;
    if (node_set_is_interrupted(round->set)) {
        for (; round->next < count; round->next++) {
            struct error err = ERROR_INIT;
            if (!is_wanted(round, round->next)) {
                continue;
            }
            node_set_interrupted_error(round->set, &err);
            round->question->failed(round->question->ctx, round->next, &err, false);
        }
    }
    size_t most = round->question->together ? count : round->set->context->fanout;
    while (round->next < count && round->open < most) {
        size_t node = round->next++;
        if (!is_wanted(round, node) || !ask_node(round, node)) {
            round->done++;
            show_progress(round);
        }
    }
}

int node_set_ask(struct node_set *set, const struct node_question *question)
{
    size_t count = set->labels.len;
    struct round round = {
        .set = set,
        .question = question,
        .entries = xcalloc(count + 1, sizeof(struct round_entry)),
    };
    for (size_t i = 0; i < count; i++) {
        round.entries[i].round = &round;
        round.entries[i].node = i;
    }
    show_progress(&round);
    round_advance(&round);
    while (round.open > 0) {
        fleet_run(set->fleet);
    }
    free(round.entries);
    return node_set_is_interrupted(set) ? -1 : 0;
}
