/* Checks of a job's nodes: from plan and job to what a check is told, and from a node's answer to findings.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "node/answer.h"
#include "observer_internal.h"
#include "preflight_internal.h"

void preflight_node_release(struct preflight_node *node)
{
    facts_release(&node->facts);
    findings_release(&node->findings);
}

static enum node_env_mode node_env_mode(enum plan_env_mode mode)
{
    switch (mode) {
    case PLAN_ENV_KEEP:
        return NODE_ENV_KEEP;
    case PLAN_ENV_CLEAN:
        return NODE_ENV_CLEAN;
    case PLAN_ENV_LOGIN:
        break;
    }
    return NODE_ENV_LOGIN;
}

struct node_job preflight_node_job(const struct plan *plan, size_t node)
{
    const struct plan_node *from = &plan->nodes[node];
    return (struct node_job){
        .env_mode = node_env_mode(from->env_mode),
        .workdir = from->workdir,
        .shell = plan->shell,
        .setup = &plan->setup,
        .ready = &from->ready,
        .argv = &from->argv,
        .home_words = from->probe.home_words,
        .home_words_len = from->probe.home_words_len,
        .defaults = &from->defaults,
        .env = &from->env,
        .computed = &from->computed,
    };
}

static enum check_program program_type(enum launch_program type)
{
    switch (type) {
    case LAUNCH_PROGRAM_FILE:
        return CHECK_PROGRAM_FILE;
    case LAUNCH_PROGRAM_MODULE:
        return CHECK_PROGRAM_MODULE;
    case LAUNCH_PROGRAM_COMMAND:
        return CHECK_PROGRAM_COMMAND;
    case LAUNCH_PROGRAM_NONE:
        break;
    }
    return CHECK_PROGRAM_NONE;
}

/* The id of the run whose job this command was called from; NULL: none. */
static const char *outer_run_id(const struct run_context *context)
{
    static const char name[] = "MTLAUNCH_RUN_ID=";
    for (size_t i = 0; context->environ_ && context->environ_[i]; i++) {
        if (text_starts(context->environ_[i], name)) {
            return context->environ_[i] + sizeof(name) - 1;
        }
    }
    return NULL;
}

static struct check_subject make_subject(const struct preflight *preflight, size_t node,
                                         const struct strlist *setup)
{
    const struct job *job = preflight->job;
    const struct plan_node *plan = &preflight->plan->nodes[node];
    const struct env_var *visible = env_get(&plan->env, "CUDA_VISIBLE_DEVICES");
    return (struct check_subject){
        .run = preflight->run,
        .rank = plan->rank,
        .nnodes = preflight->plan->nnodes,
        .local = plan->local,
        .container = job->place.container,
        .workdir = plan->workdir,
        .artifacts = plan->artifacts,
        .setup = setup,
        .start_timeout_s = job->start_timeout_s,
        .program_type = program_type(plan->probe.program_type),
        .program = plan->probe.program,
        .interpreter = plan->probe.interpreter,
        .module = plan->probe.module,
        .argv = &plan->argv,
        .visible = visible ? visible->value : NULL,
        .counts_gpus = job->nproc_per_node == 0,
        .needs_gpus = job->nproc_per_node == 0 && preflight->hosts->items[plan->host].slots == 0,
        .master_port = job->master_port,
        .master_addr = preflight->plan->master_addr,
        .outer_run_id = outer_run_id(preflight->context),
    };
}

void preflight_build(const struct preflight *preflight, size_t node, const struct node_target *target,
                     struct check_choice *choice, const char *nonce, struct node_call *call)
{
    const struct launch_probe *probe = &preflight->plan->nodes[node].probe;
    const struct check_subject subject = make_subject(preflight, node, NULL);
    const struct node_job job = preflight_node_job(preflight->plan, node);
    const struct node_look look = {
        .program = probe->program_type == LAUNCH_PROGRAM_FILE ? probe->program : NULL,
        .command = probe->program_type == LAUNCH_PROGRAM_COMMAND ? probe->program : NULL,
        .interpreter = probe->interpreter,
        .module = probe->module,
    };
    struct check_request request;
    check_ask(&subject, choice, &request);
    const struct node_check_options options = {
        .look = &look,
        .lanes = str_text(&request.lanes),
        .own = str_text(&request.own),
        .parts = &request.parts,
        .values = &request.values,
    };
    node_request_check(target, &job, &options, nonce, call);
    check_request_release(&request);
}

/* What the setup lines printed, without the shell's own places and without secrets. */
static char *clean_output(void *ctx, char *value)
{
    const struct run_context *context = ctx;
    node_drop_shell_place(value);
    run_mask(context, &value);
    return value;
}

char *preflight_setup_line(const struct preflight *preflight, unsigned number)
{
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    const struct strlist *setup = &preflight->plan->setup;
    if (number == 0 || number > setup->len) {
        return check_quote_setup(NULL, 0);
    }
    char *line = xstrdup(setup->items[number - 1]);
    run_mask(preflight->context, &line);
    strlist_take(&lines, line);
    return check_quote_setup(&lines, 1);
}

int preflight_take(const struct preflight *preflight, size_t node, const char *bytes, size_t len,
                   const char *nonce, struct preflight_node *out, struct error *err)
{
    if (node_answer_facts(bytes, len, nonce, &out->facts, err) != 0 || check_verify(&out->facts, err) != 0) {
        return -1;
    }
    facts_map(&out->facts, "setup.output", clean_output, (void *)(uintptr_t)preflight->context);
    AUTO_STRLIST struct strlist setup = STRLIST_INIT; /* as they may be shown */
    for (size_t i = 0; i < preflight->plan->setup.len; i++) {
        char *line = xstrdup(preflight->plan->setup.items[i]);
        run_mask(preflight->context, &line);
        strlist_take(&setup, line);
    }
    const struct check_subject subject = make_subject(preflight, node, &setup);
    check_judge(&subject, &out->choice, &out->facts, &out->findings);
    return 0;
}
