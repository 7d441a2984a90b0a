/* The checks of a job's nodes: turns plan and job into the input of checks, and a node's answer into
 * findings.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "node/answer.h"
#include "observer_internal.h"
#include "preflight_internal.h"

#define NOISE_MAX 120 /* bytes of a login's output that a message quotes */

void preflight_node_release(struct preflight_node *node)
{
    free(node->inspect);
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

/* The id of the run from whose job this command was called; NULL: none. */
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

/*
 * The address of the neighbour that is step ranks away; NULL: there is none, or it is the same as the other
 * neighbour.
 */
static const char *neighbour(const struct plan *plan, size_t node, size_t step)
{
    size_t other = (node + step) % plan->nnodes;
    return plan->nnodes < 2 || (plan->nnodes == 2 && step > 1) ? NULL : plan->nodes[other].addr;
}

/* The addresses of all nodes. The caller releases them. */
static void list_addresses(const struct plan *plan, struct strlist *out)
{
    for (size_t i = 0; i < plan->nnodes; i++) {
        strlist_add(out, plan->nodes[i].addr);
    }
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
        .config = job->prepare_len == 0 ? plan->probe.config : NULL, /* a prepare step may create it */
        .config_key = plan->probe.config_key,
        .argv = &plan->argv,
        .visible = visible ? visible->value : NULL,
        .counts_gpus = job->nproc_per_node == 0,
        .needs_gpus = job->nproc_per_node == 0 && preflight->hosts->items[plan->host].slots == 0,
        .master_port = job->master_port,
        .master_addr = preflight->plan->master_addr,
        .outer_run_id = outer_run_id(preflight->context),
        .starting = preflight->starting,
        .nproc = plan->nproc,
        .require = &job->require,
        .env = &plan->env,
        .token = preflight->token,
        .probe_port = preflight->probe_port,
        .next_addr = neighbour(preflight->plan, node, 1),
        .previous_addr =
            neighbour(preflight->plan, node, preflight->plan->nnodes == 2 ? 2 : preflight->plan->nnodes - 1),
    };
}

void preflight_build(const struct preflight *preflight, size_t node, const struct node_target *target,
                     struct preflight_node *out, const char *nonce, struct node_call *call)
{
    const struct launch_probe *probe = &preflight->plan->nodes[node].probe;
    AUTO_STRLIST struct strlist addresses = STRLIST_INIT;
    struct check_subject subject = make_subject(preflight, node, NULL);
    list_addresses(preflight->plan, &addresses);
    subject.addresses = &addresses;
    const struct node_job job = preflight_node_job(preflight->plan, node);
    struct check_request request;
    check_ask(&subject, &out->choice, &request);
    const struct node_probe wanted = {
        .program = probe->program_type == LAUNCH_PROGRAM_FILE ? probe->program : NULL,
        .command = probe->program_type == LAUNCH_PROGRAM_COMMAND ? probe->program : NULL,
        .interpreter = probe->interpreter,
        .module = probe->module,
        .versions = strlist_has(&request.parts, "check/versions"),
    };
    out->asked_ms = clock_mono_ms();
    const struct node_check_options options = {
        .probe = &wanted,
        .lanes = str_text(&request.lanes),
        .own = str_text(&request.own),
        .parts = &request.parts,
        .values = &request.values,
    };
    node_request_check(target, &job, &options, nonce, call);
    check_request_release(&request);
}

/* Clean the output of the setup lines: remove the shell's positions and mask secrets. */
static char *clean_output(void *ctx, char *value)
{
    const struct run_context *context = ctx;
    node_drop_shell_place(value);
    run_mask(context, &value);
    return value;
}

struct plan_node_facts preflight_plan_facts(const struct facts *facts)
{
    return (struct plan_node_facts){
        .cores = (unsigned)facts_uint(facts, "node.cores", 0),
        .gpus = (unsigned)facts_uint(facts, "gpus.visible", 0),
        .gpus_present = (unsigned)facts_uint(facts, "gpus.present", 0),
        .interface = facts_some(facts, "route.interface"),
        .artifacts = facts_some(facts, "node.artifacts"),
    };
}

void preflight_compare(const struct preflight *preflight, const struct preflight_node *nodes,
                       const bool *answered, const struct check_choice *choice, struct findings *out)
{
    size_t count = preflight->plan->nnodes, len = 0;
    AUTO_FREE struct check_subject *subjects = xcalloc(count, sizeof(*subjects));
    AUTO_FREE struct check_node *all = xcalloc(count, sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        if (answered[i]) {
            subjects[i] = make_subject(preflight, i, NULL);
            all[len++] = (struct check_node){
                .label = preflight->plan->nodes[i].label,
                .subject = &subjects[i],
                .facts = &nodes[i].facts,
            };
        }
    }
    check_compare(choice, all, len, out);
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

/*
 * Add the facts that only this side knows: how long the round trip took, and what the login printed before
 * the answer.
 */
static void add_head_facts(struct preflight_node *node, const char *bytes, size_t len)
{
    AUTO_STR struct str noise = STR_INIT;
    size_t end = 0;
    while (end < len && !strchr("\r\n", bytes[end])) {
        end++; /* an answer begins with an empty line */
    }
    if (end > 0) {
        text_add_line(&noise, bytes, end > NOISE_MAX ? NOISE_MAX : end);
        facts_add(&node->facts, "head.noise", str_text(&noise), NULL);
    }
    if (node->inspect) {
        facts_add(&node->facts, "container.inspect", node->inspect, NULL);
    }
    int64_t way_ms =
        clock_mono_ms() - node->asked_ms - (int64_t)facts_uint(&node->facts, "node.took", 0) * 10;
    AUTO_FREE char *seconds = xasprintf("%lld", (long long)(way_ms > 0 ? way_ms / 1000 : 0));
    facts_add(&node->facts, "head.seconds", seconds, NULL);
    AUTO_FREE char *now = xasprintf("%lld", (long long)clock_real_ms());
    facts_add(&node->facts, "head.now_ms", now, NULL);
}

int preflight_take(const struct preflight *preflight, size_t node, const char *bytes, size_t len,
                   const char *nonce, struct preflight_node *out, struct error *err)
{
    if (node_answer_facts(bytes, len, nonce, &out->facts, err) != 0 || check_verify(&out->facts, err) != 0) {
        return -1;
    }
    add_head_facts(out, bytes, len);
    facts_map(&out->facts, "setup.output", clean_output, (void *)(uintptr_t)preflight->context);
    AUTO_STRLIST struct strlist setup = STRLIST_INIT; /* with secrets masked */
    for (size_t i = 0; i < preflight->plan->setup.len; i++) {
        char *line = xstrdup(preflight->plan->setup.items[i]);
        run_mask(preflight->context, &line);
        strlist_take(&setup, line);
    }
    const struct check_subject subject = make_subject(preflight, node, &setup);
    check_judge(&subject, &out->choice, &out->facts, &out->findings);
    return 0;
}
