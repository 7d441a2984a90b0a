/* Observes the nodes of a run, and takes the run's lock if the record has not changed meanwhile. */
#include <unistd.h>

#include "base/clock.h"
#include "judge_internal.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observe_internal.h"
#include "observer_internal.h"
#include "round_internal.h"

#define OBSERVE_TRIES 3 /* the record may change while the nodes are asked */

struct observe_round {
    struct run *run;
    bool gpus;
};

static bool observe_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct observe_round *round = ctx;
    enum node_state state = round->run->nodes[node].state;
    if (node_state_has_ended(state)) {
        return false;
    }
    const struct node_target target = run_node_target(round->run, node);
    const struct node_observe_options options = {.gpus = round->gpus};
    node_request_observe(&target, &options, nonce, call);
    return true;
}

static int observe_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                        struct error *err)
{
    struct observe_round *round = ctx;
    struct node_observation seen;
    int result = node_answer_observe(bytes, len, nonce, &seen, err);
    if (result == 0) {
        policy_note_clock(&round->run->nodes[node], seen.uptime_ms, clock_real_ms(), seen.rebooted);
        judge_note_stop(round->run, &round->run->nodes[node]);
        judge_observation(&round->run->nodes[node], &seen, round->run->id, round->run->attempt);
        judge_own_gpus(&round->run->nodes[node], &seen);
        judge_gpus(&round->run->nodes[node], &seen.gpus);
    }
    node_observation_release(&seen);
    return result;
}

static void observe_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct observe_round *round = ctx;
    (void)started;
    if (!error_is_interruption(error)) {
        judge_silence(&round->run->nodes[node], error);
    }
}

int run_observe(struct node_set *set, struct run *run, const char *what)
{
    struct observe_round round = {.run = run, .gpus = set->context->want_gpus};
    const struct node_question question = {
        .what = what,
        .ctx = &round,
        .timeout_ms = OBSERVE_TIMEOUT_MS,
        .build = observe_build,
        .take = observe_take,
        .failed = observe_failed,
    };
    return node_set_ask(set, &question);
}

/* --- with the lock ------------------------------------------------------------------------------ */

void run_note_dead_start(struct run_context *context, struct run *run)
{
    if (run->starting) {
        run->starting = false;
        run_note_event(context, run, "start-interrupted", NULL,
                       "the command that started the run ended before all nodes were started");
    }
}

int run_reload_if_changed(const struct run_context *context, struct run *run, struct error *err)
{
    struct run fresh;
    if (run_store_load(context->store, run->name, &fresh, err) != 0) {
        return -1;
    }
    if (fresh.revision == run->revision) {
        run_release(&fresh);
        return 0;
    }
    run_release(run);
    *run = fresh;
    return 1;
}

int run_observe_and_lock(struct node_set *set, struct run *run, int *lock, struct error *err)
{
    struct run_context *context = set->context;
    const unsigned attempt = run->attempt;
    *lock = -2;
    for (unsigned i = 0; i < OBSERVE_TRIES && run->attempt == attempt && run_state_is_live(run->state); i++) {
        if (run_observe(set, run, NULL) != 0) {
            return node_set_interrupted_error(set, err);
        }
        *lock = run_lock(context, run->name, false, err);
        if (*lock == -1) {
            return -1;
        }
        if (*lock == -2) {
            judge_run(run, clock_real_ms());
            return 0;
        }
        int changed = run_reload_if_changed(context, run, err);
        if (changed == 0) {
            run_note_dead_start(context, run);
            return 0;
        }
        close(*lock);
        *lock = -2;
        if (changed < 0) {
            return -1;
        }
    }
    return 0;
}
