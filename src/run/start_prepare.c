/* Runs the steps of `prepare`, one after the other, before any node is told to start. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "judge_internal.h"
#include "lastlines_internal.h"
#include "model/kind.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "start_internal.h"

#define PREPARE_MARGIN_MS 60000

/* One step, on all its nodes. */
struct prepare {
    struct start *start;
    size_t step; /* its index in the job's list */
    int64_t began_ms;
};

static const struct plan_step *step_of(const struct prepare *prepare, size_t node)
{
    const struct plan_node *plan = &prepare->start->plan.nodes[node];
    return prepare->step < plan->steps_len ? &plan->steps[prepare->step] : NULL;
}

/* A step runs on its node alone, however many nodes the job has: its processes must not wait for others. */
static void set_alone(const struct plan_node *node, struct env *env, struct env *computed)
{
    static const struct {
        const char *name, *value;
    } alone[] = {{"NNODES", "1"}, {"NODE_RANK", "0"}, {"MASTER_ADDR", "127.0.0.1"}};
    env_copy(computed, &node->computed);
    for (size_t i = 0; i < ARRAY_LEN(alone); i++) {
        env_set(computed, alone[i].name, alone[i].value, "prepare");
    }
    for (size_t i = 0; i < node->env.len; i++) {
        const struct env_var *var = &node->env.items[i];
        if (!text_starts(var->name, "PET_RDZV_")) {
            env_set(env, var->name, var->value, var->source);
        }
    }
}

static bool prepare_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct prepare *prepare = ctx;
    struct start *start = prepare->start;
    const struct plan_step *step = step_of(prepare, node);
    if (!step || step->argv.len == 0) {
        return false;
    }
    const struct node_target target = run_node_target(start->run, node);
    struct node_job job = preflight_node_job(&start->plan, node);
    struct env env = ENV_INIT, computed = ENV_INIT;
    set_alone(&start->plan.nodes[node], &env, &computed);
    job.ready = NULL;
    job.argv = &step->argv;
    job.home_words_len = 0;
    job.env = &env;
    job.computed = &computed;
    const struct node_prepare_options options = {
        .step = step->name,
        .creates = step->creates,
        .limit_s = step->timeout_s,
    };
    node_request_prepare(&target, &job, &options, nonce, call);
    env_release(&env);
    env_release(&computed);
    start->touched[node] = true;
    return true;
}

/* Set err if the step failed on a node; 0: it did not. */
static int judge_step(const struct prepare *prepare, const struct plan_step *step, const struct facts *facts,
                      struct error *err)
{
    const char *status = facts_some(facts, "status");
    const char *line = facts_some(facts, "setup_line");
    const char *unmade = facts_some(facts, "unmade");
    AUTO_FREE char *output = facts_copy(facts, "output");
    uint64_t number = 0;
    if (!facts_is_set(facts, "late") && !status) {
        return error_set(err, &kind_node_answer, "the node did not say how prepare '%s' ended", step->name);
    }
    if (status && strcmp(status, "0") == 0 && !unmade) {
        return 0;
    }
    node_drop_shell_place(output);
    run_mask(prepare->start->context, &output);
    AUTO_FREE char *lines = run_safe_lines(output);
    AUTO_FREE char *where = NULL;
    if (line && text_to_uint(line, 1, UINT32_MAX, &number)) {
        const struct preflight preflight = start_preflight(prepare->start);
        AUTO_FREE char *text = preflight_setup_line(&preflight, (unsigned)number);
        where = xasprintf(": setup line %s (%s)", line, text);
    }
    if (!status) {
        error_set(err, &kind_prepare_failed, "prepare '%s'%s did not end within %lus and was ended%s%s",
                  step->name, where ? where : "", step->timeout_s, lines && *lines ? ":" : "",
                  lines ? lines : "");
    } else if (strcmp(status, "0") == 0) {
        error_set(err, &kind_prepare_failed, "prepare '%s' ended with 0, but '%s' is not there (creates)",
                  step->name, unmade);
    } else {
        error_set(err, &kind_prepare_failed, "prepare '%s'%s ended with status %s%s%s", step->name,
                  where ? where : "", status, lines && *lines ? ":" : "", lines ? lines : "");
    }
    const char *log = facts_text(facts, "log");
    return error_hint(err, "its full output is there, in %s", log ? log : "the folder of logs");
}

static void report_end(const struct prepare *prepare, size_t node, const struct plan_step *step,
                       const struct facts *facts)
{
    const struct run *run = prepare->start->run;
    const char *label = run->nodes[node].label;
    if (facts_is_set(facts, "skipped")) {
        report_info(prepare->start->context, "%s: prepare '%s' is skipped: '%s' exists", label, step->name,
                    facts_text(facts, "made"));
        return;
    }
    run_note_event(prepare->start->context, run, "prepared", label, "%s ended after %lld s", step->name,
                   (long long)((clock_mono_ms() - prepare->began_ms) / 1000));
}

static int prepare_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                        struct error *err)
{
    struct prepare *prepare = ctx;
    const struct plan_step *step = step_of(prepare, node);
    AUTO_FACTS struct facts facts = FACTS_INIT;
    if (node_answer_facts(bytes, len, nonce, &facts, err) != 0) {
        return -1;
    }
    if (!facts_is_set(&facts, "skipped") && judge_step(prepare, step, &facts, err) != 0) {
        return -1;
    }
    prepare->start->touched[node] = false;
    report_end(prepare, node, step, &facts);
    return 0;
}

static void prepare_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct prepare *prepare = ctx;
    struct start *start = prepare->start;
    start->touched[node] = start->touched[node] && started;
    node_failures_set(&start->failures, node, error);
    judge_set_reason(&start->run->nodes[node], "%s", error->text);
}

static void report_begin(const struct prepare *prepare)
{
    const struct job_step *step = &prepare->start->request->job->prepare[prepare->step];
    const struct run *run = prepare->start->run;
    report_info(prepare->start->context, "prepare '%s' on %s, for %lus at most", step->name,
                step->on_all && run->nodes_len > 1 ? "all nodes" : run->nodes[0].label, step->timeout_s);
}

int start_prepare(struct start *start)
{
    const struct job *job = start->request->job;
    int result = 0;
    for (size_t i = 0; i < job->prepare_len && result == 0 && start->failures.count == 0; i++) {
        struct prepare prepare = {.start = start, .step = i, .began_ms = clock_mono_ms()};
        AUTO_FREE char *what = xasprintf("prepare '%s'", job->prepare[i].name);
        const struct node_question question = {
            .what = what,
            .ctx = &prepare,
            .timeout_ms = (unsigned)job->prepare[i].timeout_s * 1000 + PREPARE_MARGIN_MS,
            .build = prepare_build,
            .take = prepare_take,
            .failed = prepare_failed,
        };
        report_begin(&prepare);
        result = node_set_ask(&start->set, &question);
    }
    return result;
}
