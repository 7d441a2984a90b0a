/* Starts a run: the plan, the probe, the start of every node, and the rollback when one fails. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "explain_internal.h"
#include "inventory_internal.h"
#include "judge_internal.h"
#include "leftovers_internal.h"
#include "lock_internal.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "read_progress_internal.h"
#include "respawn_internal.h"
#include "round_internal.h"
#include "run/notify_store.h"
#include "samples_internal.h"
#include "save_run_internal.h"
#include "spares_internal.h"
#include "start_internal.h"
#include "test_crash_internal.h"

#define START_MARGIN_MS 30000
#define PORT_TRIES      8 /* another run may take the free port between probe and start */
#define PORT_PAUSE_MS   1500

/* --- planning ----------------------------------------------------------------------------------- */

static void learn_secrets(struct start *start)
{
    struct strlist *secrets = &start->context->secrets;
    for (size_t i = 0; i < start->plan.nnodes; i++) {
        const struct plan_node *node = &start->plan.nodes[i];
        for (size_t v = 0; v < plan_node_env_len(node); v++) {
            const struct env_var *var = plan_node_var(node, v);
            if (var->secret && var->value && !strlist_has(secrets, var->value)) {
                strlist_add(secrets, var->value);
            }
        }
    }
}

int start_make_plan(struct start *start, bool probed, struct error *err)
{
    const struct run_start_request *request = start->request;
    size_t count = start->hosts->len;
    AUTO_FREE struct plan_node_facts *nodes = xcalloc(count, sizeof(*nodes));
    for (size_t i = 0; probed && i < count; i++) {
        nodes[i] = preflight_plan_facts(&start->checks[i].facts);
    }
    const struct plan_facts facts = {
        .run_id = start->run->id[0] != '\0' ? start->run->id : NULL,
        .attempt = start->run->attempt,
        .master_port = probed ? (unsigned)facts_uint(&start->checks[0].facts, "port.number", 0) : 0,
        .nodes = probed ? nodes : NULL,
    };
    const struct plan_input input = {
        .job = request->job,
        .hosts = start->hosts,
        .host_facts = start->host_facts,
        .run = request->run,
        .environ_ = start->context->environ_,
        .facts = facts.run_id ? &facts : NULL,
    };
    plan_release(&start->plan);
    start->plan = (struct plan){0};
    if (plan_make(&start->plan, &input, err) != 0) {
        start->plan = (struct plan){0};
        return -1;
    }
    learn_secrets(start);
    for (size_t i = 0; probed && i < start->plan.warnings.len; i++) {
        report_warn(start->context, "%s", start->plan.warnings.items[i]);
    }
    return 0;
}

/* --- starting the nodes ------------------------------------------------------------------------- */

static bool start_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct start *start = ctx;
    const struct node_target target = run_node_target(start->run, node);
    const struct node_job job = preflight_node_job(&start->plan, node);
    const struct node_start_options options = {
        .master_port = start->plan.master_port,
        .version = MTLAUNCH_VERSION,
        .head = start->run->head_host,
        .start_timeout_s = start->request->job->start_timeout_s,
    };
    node_request_start(&target, &job, &options, nonce, call);
    start->touched[node] = true;
    return true;
}

/*
 * The command or a setup line ended by itself: this counts as a failure of the run, as it would a second
 * later.
 */
static bool is_early_end(const struct error *error)
{
    return error->kind == &kind_start_failed || error->kind == &kind_setup_failed;
}

static int start_take(void *ctx, size_t index, const char *bytes, size_t len, const char *nonce,
                      struct error *err)
{
    struct start *start = ctx;
    struct node_start answer;
    int result = node_answer_start(bytes, len, nonce, &answer, err);
    if (result == 0) {
        start->touched[index] = answer.stage == NODE_START_STARTED || answer.started_s > 0;
        start->port_lost = start->port_lost || answer.stage == NODE_START_PORT;
        run_mask(start->context, &answer.output);
        if (answer.stage == NODE_START_SETUP && answer.setup_line > 0) {
            const struct preflight preflight = start_preflight(start);
            answer.setup_text = preflight_setup_line(&preflight, answer.setup_line);
        }
        result = judge_start(&start->run->nodes[index], &answer, start->run->name, err);
        if (result != 0 && answer.status >= 0 && is_early_end(err)) {
            start->ends[index] = (struct start_end){
                .reason = xstrdup(start->run->nodes[index].reason),
                .setup = err->kind == &kind_setup_failed,
            };
        }
        if (result != 0 && answer.output) {
            run_hint_from_log(err, answer.output);
        }
        if (start->run->nodes[index].state == NODE_EXITED) {
            start->run->nodes[index].ended_ms = clock_real_ms(); /* it ended within the last second or two */
        }
    }
    node_start_release(&answer);
    return result;
}

static void start_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct start *start = ctx;
    struct run_node *record = &start->run->nodes[node];
    if (!started) {
        start->touched[node] = false;
    }
    if (record->state == NODE_PENDING && !record->reason) {
        judge_set_reason(record, "%s", error->text);
    }
    node_failures_set(&start->failures, node, error);
}

static int start_nodes(struct start *start)
{
    const struct node_question question = {
        .what = "starting",
        .ctx = start,
        .timeout_ms = (unsigned)start->request->job->start_timeout_s * 1000 + START_MARGIN_MS,
        .build = start_build,
        .take = start_take,
        .failed = start_failed,
    };
    return node_set_ask(&start->set, &question);
}

/* --- one attempt -------------------------------------------------------------------------------- */

static bool wants_restarts(const struct start *start)
{
    const struct policy *policy = &start->request->job->policy;
    return start->request->asked && !start->request->is_restart &&
           (policy->on_failure == POLICY_RESTART || policy->on_lost == POLICY_RESTART);
}

/* Probe the nodes: 0; 1 when spares have replaced hosts and nothing was started; -1 with err. */
static int probe(struct start *start, struct error *err)
{
    if (start_probe_nodes(start) != 0) {
        return node_set_interrupted_error(&start->set, err);
    }
    if (start->failures.count == 0) {
        return 0;
    }
    int taken = start_take_spares(start, err);
    return taken != 0 ? taken : start_nodes_failed(start, "the check before the start", err);
}

/* A run that has already ended gets no supervisor: what one would have noted is noted here. */
static void note_early_end(struct start *start)
{
    struct run *run = start->run;
    struct samples_writer samples = {0};
    run_report_leftovers(&start->set, run, false);
    run_read_progress(&start->set, run);
    if (run->progress.known) {
        run_take_inventory(&start->set, run, true);
        run_samples_note_training(&samples, start->context->store, run);
    }
}

/*
 * One attempt, from the probe to the proof that the nodes have started. 1: spares have replaced hosts; try
 * again.
 */
static int attempt(struct start *start, struct error *err)
{
    struct run *run = start->run;
    int probed = probe(start, err);
    if (probed != 0) {
        return probed;
    }
    if (start_make_plan(start, true, err) != 0) {
        return -1;
    }
    start_report_warnings(start);
    start_complete_record(start);
    run->unstarted = false;
    if (run_save_record(start->context, run, err) != 0) {
        return -1;
    }
    struct env env = ENV_INIT;
    plan_node_env(&start->plan.nodes[0], &env);
    int kept = run_store_save_secrets(start->context->store, run->name, &env, err);
    env_release(&env);
    if (kept == 0) {
        kept = run_store_save_notify(start->context->store, run->name, &start->request->job->notify, err);
    }
    if (kept != 0) {
        return -1;
    }
    struct run_start_request kept_request = *start->request;
    kept_request.hosts = start->hosts;
    if (wants_restarts(start) && run_respawn_save(start->context, &kept_request, err) != 0) {
        return -1;
    }
    if (start_prepare(start) != 0) {
        return node_set_interrupted_error(&start->set, err);
    }
    if (start->failures.count > 0) {
        return start_nodes_failed(start, "to prepare", err);
    }
    start->asked_to_start = true;
    if (start_nodes(start) != 0) {
        return node_set_interrupted_error(&start->set, err);
    }
    if (start->failures.count > 0) {
        return start_nodes_failed(start, "to start", err);
    }
    node_set_hold_signals(&start->set); /* from here on a signal is no longer about the start */
    run->starting = false;
    run->restarting = false;
    /* Before the record is saved, so that the event of a run that has ended already comes after this one. */
    run_note_event(start->context, run, "started", NULL, "attempt %u on %zu node%s, master %s port %u",
                   run->attempt, run->nodes_len, run->nodes_len == 1 ? "" : "s", run->master_addr,
                   run->master_port);
    if (!run_has_open_node(run)) {
        note_early_end(start);
    }
    return run_save_state(start->context, run, err);
}

static void forget_probes(struct start *start)
{
    for (size_t i = 0; start->checks && i < start->hosts->len; i++) {
        preflight_node_release(&start->checks[i]);
    }
    free(start->checks);
    start->checks = NULL;
    free(start->touched);
    start->touched = NULL;
    free(start->unreached);
    start->unreached = NULL;
    for (size_t i = 0; start->ends && i < start->hosts->len; i++) {
        free(start->ends[i].reason);
    }
    free(start->ends);
    start->ends = NULL;
    node_failures_release(&start->failures);
}

/* Try an attempt on the current hosts: 0, -1 with err, or 1: spares have replaced hosts; try again. */
static int try_hosts(struct start *start, struct error *err)
{
    struct run *run = start->run;
    size_t count = start->hosts->len;
    bool attempted = false;
    start->port_lost = false;
    start->asked_to_start = false;
    start_fill_record(start);
    start->checks = xcalloc(count, sizeof(*start->checks));
    start->touched = xcalloc(count, sizeof(*start->touched));
    start->unreached = xcalloc(count, sizeof(*start->unreached));
    start->ends = xcalloc(count, sizeof(*start->ends));
    node_failures_init_run(&start->failures, run);
    int result = start_make_plan(start, false, err);
    if (result == 0) {
        result = start_sync(start, err);
    }
    if (result == 0) {
        result = node_set_open_run(&start->set, start->context, run, err);
    }
    if (result == 0 && start->request->watched) {
        result = node_set_hold(&start->set, err); /* checked here, before any node is touched */
    }
    if (result == 0) {
        result = run_save_record(start->context, run, err);
    }
    if (result == 0) {
        attempted = true;
        start_note_sync(start);
        result = attempt(start, err);
    }
    if (result < 0 && (attempted || start->hosts != start->request->hosts)) {
        result = start_fail(start, err); /* the record still has the state starting */
    }
    if (result == 0 && start->request->goes_on) {
        node_set_keep(&start->set, run);
    } else {
        node_set_close(&start->set);
    }
    forget_probes(start);
    return result;
}

/* The loop ends, because each repetition uses up a spare. */
static int try_once(struct start *start, struct error *err)
{
    int result = try_hosts(start, err);
    while (result == 1) {
        result = try_hosts(start, err);
    }
    return result;
}

/* Random delay, so that two starts that raced for a port do not race for the next one. */
static void pause_randomly(void)
{
    uint32_t chance = 0;
    if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance)) {
        chance = (uint32_t)getpid();
    }
    chance %= PORT_PAUSE_MS;
    const struct timespec pause = {.tv_sec = chance / 1000, .tv_nsec = (long)(chance % 1000) * 1000000L};
    nanosleep(&pause, NULL);
}

/* Try another port when another run has taken the one that was found free. */
static int try_ports(struct start *start, struct error *err)
{
    const struct run *run = start->run;
    test_crash_point(start->context);
    int result = try_once(start, err);
    for (unsigned i = 1;
         i < PORT_TRIES && result != 0 && start->port_lost && start->request->job->master_port == 0 &&
         (run->state == RUN_FAILED || start->request->is_restart);
         i++) {
        report_info(start->context, "trying again with another master port");
        pause_randomly();
        result = try_once(start, err);
    }
    return result;
}

/* There is already a record of this name: check that a new attempt is allowed. */
static int check_existing(struct start *start, struct error *err)
{
    struct run *run = start->run;
    const char *name = start->request->run;
    if (run_store_load(start->context->store, name, run, err) != 0) {
        return -1;
    }
    if (strcmp(run->job, start->request->job->name) != 0) {
        error_set(err, &kind_run_exists, "run '%s' belongs to job '%s', not to '%s'", name, run->job,
                  start->request->job->name);
        return error_hint(err, "choose another run name, or `mtlaunch remove %s` first", name);
    }
    if (run_state_is_live(run->state)) {
        error_set(err, &kind_run_live, "run '%s' is %s", name, run_state_name(run->state));
        return error_hint(err, "`mtlaunch stop %s` ends it", name);
    }
    return 0;
}

/* The record may say `running` only because nobody has observed the run since: do so before taking the lock.
 */
static int refresh_existing(struct run_context *context, const char *name, struct error *err)
{
    struct run run;
    struct error one = ERROR_INIT;
    run_init(&run);
    int result = run_status(context, name, &run, &one);
    run_release(&run);
    if (result != 0 && error_is_interruption(&one)) {
        *err = one;
        return -1;
    }
    return 0; /* whatever else went wrong, the start itself will meet */
}

static struct start start_of(struct run_context *context, const struct run_start_request *request,
                             struct run *run)
{
    return (struct start){
        .context = context,
        .request = request,
        .run = run,
        .hosts = request->hosts,
        .host_facts = request->host_facts,
    };
}

static void release(struct start *start)
{
    plan_release(&start->plan);
    reached_hosts_release(&start->replaced);
}

int run_start(struct run_context *context, const struct run_start_request *request, struct run *run,
              struct error *err)
{
    struct start start = start_of(context, request, run);
    run_init(run);
    if (job_check_run_name(request->run, err) != 0 || start_make_plan(&start, false, err) != 0) {
        return -1;
    }
    if (run_store_has(context->store, request->run) && refresh_existing(context, request->run, err) != 0) {
        release(&start);
        return -1;
    }
    AUTO_CLOSE int lock = run_lock(context, request->run, true, err);
    int result = lock < 0 ? -1 : 0;
    if (result == 0 && run_store_has(context->store, request->run)) {
        result = check_existing(&start, err);
    } else if (result == 0) {
        run->name = xstrdup(request->run);
    }
    if (result == 0) {
        result = try_ports(&start, err);
    }
    release(&start);
    return result;
}

int run_restart(struct run_context *context, const struct run_start_request *request, struct run *run,
                struct error *err)
{
    struct start start = start_of(context, request, run);
    int result = start_make_plan(&start, false, err);
    if (result == 0) {
        result = try_ports(&start, err);
    }
    release(&start);
    return result;
}
