#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "common_internal.h"
#include "judge_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "run/supervisor.h"
#include "test_crash_internal.h"

#define LOCK_NOTICE_MS 1000 /* another command holds the run's lock longer: say so */
#define LOCK_MAX_MS    (24u * 3600 * 1000)

/* --- the observer ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 0))) static void tell(void (*callback)(void *, const char *), void *ctx,
                                                       const char *format, va_list args)
{
    if (callback) {
        AUTO_FREE char *text = xvasprintf(format, args);
        callback(ctx, text);
    }
}

void report_info(const struct run_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(context->observer->info, context->observer->ctx, format, args);
    va_end(args);
}

void report_warn(const struct run_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(context->observer->warn, context->observer->ctx, format, args);
    va_end(args);
}

void node_failures_init(struct node_failures *failures, const struct run *run)
{
    *failures = (struct node_failures){
        .errors = xcalloc(run->nodes_len, sizeof(struct error)),
        .len = run->nodes_len,
    };
}

void node_failures_release(struct node_failures *failures)
{
    free(failures->errors);
    *failures = (struct node_failures){0};
}

void node_failures_set(struct node_failures *failures, size_t node, const struct error *error)
{
    if (!failures->errors[node].kind) {
        failures->count++;
    }
    failures->errors[node] = *error;
}

static bool same_failure(const struct error *a, const struct error *b)
{
    return a->kind == b->kind && strcmp(a->text, b->text) == 0 && strcmp(a->hint, b->hint) == 0;
}

static bool told_before(const struct node_failures *failures, size_t node)
{
    for (size_t i = 0; i < node; i++) {
        if (failures->errors[i].kind && same_failure(&failures->errors[i], &failures->errors[node])) {
            return true;
        }
    }
    return false;
}

void node_failures_report(const struct node_failures *failures, const struct run_context *context,
                          const struct run *run, struct error *worst)
{
    const struct run_observer *observer = context->observer;
    for (size_t i = 0; i < failures->len; i++) {
        const struct error *error = &failures->errors[i];
        if (!error->kind) {
            continue;
        }
        if (worst && (!worst->kind || kind_worse_code(error->kind->exit_code, worst->kind->exit_code) !=
                                          worst->kind->exit_code)) {
            *worst = *error;
        }
        if (!observer->failure || told_before(failures, i)) {
            continue;
        }
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        for (size_t other = i; other < failures->len; other++) {
            if (failures->errors[other].kind && same_failure(error, &failures->errors[other])) {
                strlist_add(&hosts, run->nodes[other].label);
            }
        }
        observer->failure(observer->ctx, error, &hosts);
    }
}

void run_mask(const struct run_context *context, char **text)
{
    if (*text && context->secrets.len > 0) {
        struct str masked = STR_INIT;
        text_add_masked(&masked, *text, &context->secrets);
        free(*text);
        *text = str_detach(&masked);
    }
}

void run_context_release(struct run_context *context)
{
    strlist_release(&context->secrets);
}

/* --- turns and the record ----------------------------------------------------------------------- */

int run_lock(const struct run_context *context, const char *name, bool wait, struct error *err)
{
    int lock = run_store_lock(context->store, name, wait ? LOCK_NOTICE_MS : 0, err);
    if (lock == -2 && wait) {
        report_info(context, "waiting for another command on run '%s'", name);
        lock = run_store_lock(context->store, name, LOCK_MAX_MS, err);
        if (lock == -2) {
            return error_set(err, &kind_run_live, "another command on run '%s' does not end", name);
        }
    }
    return lock;
}

int run_save_record(struct run_context *context, struct run *run, struct error *err)
{
    run->revision++;
    test_crash_point(context);
    int result = run_store_save(context->store, run, err);
    test_crash_point(context);
    return result;
}

void run_note_event(const struct run_context *context, const struct run *run, const char *event,
                    const char *host, const char *format, ...)
{
    struct error err = ERROR_INIT;
    va_list args;
    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    if (run_store_add_event(context->store, run->name, clock_real_ms(), event, host, text, &err) != 0) {
        report_warn(context, "%s", err.text);
    }
    if (context->observer->verbose) {
        char now[CLOCK_TEXT_SIZE];
        AUTO_FREE char *line = xasprintf("%s %s%s%s: %s", clock_format_utc(clock_real_ms(), now), event,
                                         host ? " " : "", host ? host : "", text);
        context->observer->verbose(context->observer->ctx, line);
    }
    if (context->observer->event) {
        context->observer->event(context->observer->ctx, run, event, host, text);
    }
}

struct reach run_reach(const struct run *run)
{
    return (struct reach){
        .user = run->ssh_user,
        .port = run->ssh_port,
        .identity = run->ssh_identity,
        .config = run->ssh_config,
        .known_hosts = run->ssh_known_hosts,
        .client = run->ssh_client,
        .host_key = run->ssh_host_key,
        .jump = run->ssh_jump,
    };
}

struct node_target run_node_target(const struct run *run, size_t node)
{
    return (struct node_target){
        .run = run->name,
        .run_id = run->id,
        .rank = run->nodes[node].rank,
        .attempt = run->attempt,
        .artifacts = run->nodes[node].artifacts,
        .container =
            {
                .name = run->container_name,
                .engine = run->container_engine,
                .user = run->container_user,
                .sudo = run->container_sudo,
                .id = run->nodes[node].container_id,
                .started = run->nodes[node].container_started,
            },
    };
}

int run_save_state(struct run_context *context, struct run *run, struct error *err)
{
    enum run_state state = judge_run(run, clock_real_ms());
    if (run_save_record(context, run, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(state)) {
        run_store_drop_secrets(context->store, run->name);
        run_note_event(context, run, run_state_name(state), NULL, "%s", run->reason ? run->reason : "");
    }
    return 0;
}

void run_leave_stand_in(struct run_context *context, const char *name)
{
    if (!context->leave_stand_in || context->stand_in_left) {
        return;
    }
    struct run_supervisor found;
    run_supervisor_find(context->store, name, &found);
    bool other = found.alive && !(found.here && found.pid == getpid());
    run_supervisor_release(&found);
    if (!other) {
        context->stand_in_left = true;
        context->leave_stand_in(context->stand_in_ctx, name);
    }
}

/* --- observing ---------------------------------------------------------------------------------- */

struct observe_round {
    struct run *run;
    bool gpus;
};

static bool observe_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct observe_round *round = ctx;
    enum node_state state = round->run->nodes[node].state;
    if (state == NODE_EXITED || state == NODE_FAILED || state == NODE_STOPPED) {
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
        if (!seen.own_gpus) { /* gpus= of the host list */
            node_gpus_set_own(&seen.gpus, round->run->nodes[node].host.gpus);
        }
        judge_gpus(&round->run->nodes[node], &seen.gpus);
    }
    node_observation_release(&seen);
    return result;
}

static void observe_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct observe_round *round = ctx;
    (void)started;
    if (error->kind != &kind_interrupted && error->kind != &kind_terminated) {
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
