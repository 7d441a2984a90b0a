/* What the planner's tests share: a job, hosts from text, facts, and a plan as text. */
#ifndef MTLAUNCH_TESTS_PLAN_FIXTURE_H
#define MTLAUNCH_TESTS_PLAN_FIXTURE_H

#include "run/plan.h"
#include "test.h"

#define MAX_HOSTS 8

struct fixture {
    struct job job;
    struct hostlist hosts;
    struct plan_host host_facts[MAX_HOSTS];
    struct plan_node_facts node_facts[MAX_HOSTS];
    struct plan_facts facts;
    struct plan_input in;
    struct plan plan;
    struct error err;
};

static inline void set_text(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

static inline void set_program(struct fixture *f, const char *text)
{
    strlist_release(&f->job.program);
    strlist_add(&f->job.program, text);
}

static inline void add_arg(struct fixture *f, const char *word)
{
    job_args_add_word(&f->job.args, word);
}

static inline void set_hosts(struct fixture *f, const char *list)
{
    struct strlist warnings = STRLIST_INIT;
    hostlist_release(&f->hosts);
    if (hostlist_parse(&f->hosts, list, strlen(list), HOSTLIST_LINES, "hosts.txt", 1, &warnings, &f->err))
        fail_msg("hosts: %s", f->err.text);
    strlist_release(&warnings);
}

/* Facts as after the probe: the same for every node. */
static inline void set_facts(struct fixture *f, unsigned cores, unsigned gpus, const char *interface)
{
    for (size_t i = 0; i < MAX_HOSTS; i++)
        f->node_facts[i] = (struct plan_node_facts){.cores = cores,
                                                    .gpus = gpus,
                                                    .gpus_present = gpus,
                                                    .interface = interface,
                                                    .artifacts = "/home/yi/.mtlaunch"};
    f->facts = (struct plan_facts){
        .run_id = "run1-0123abcd", .attempt = 2, .master_port = 29503, .nodes = f->node_facts};
    f->in.facts = &f->facts;
}

static inline int plan_setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    job_init(&f->job);
    f->job.name = xstrdup("hello");
    set_program(f, "train.py");
    set_hosts(f, "g1\ng2\n");
    f->in =
        (struct plan_input){.job = &f->job, .hosts = &f->hosts, .host_facts = f->host_facts, .run = "run1"};
    *state = f;
    return 0;
}

static inline int plan_teardown(void **state)
{
    struct fixture *f = *state;
    plan_release(&f->plan);
    job_release(&f->job);
    hostlist_release(&f->hosts);
    free(f);
    return 0;
}

static inline struct plan *planned(struct fixture *f)
{
    plan_release(&f->plan);
    if (plan_make(&f->plan, &f->in, &f->err))
        fail_msg("%s", f->err.text);
    return &f->plan;
}

static inline void plan_refused(struct fixture *f, const struct error_kind *kind, const char *text)
{
    plan_release(&f->plan);
    f->err = ERROR_INIT;
    assert_int_equal(plan_make(&f->plan, &f->in, &f->err), -1);
    assert_string_equal(f->err.text, text);
    assert_ptr_equal(f->err.kind, kind);
    assert_true(f->err.hint[0] != '\0');
    assert_null(f->plan.nodes);
}

/* NAME=VALUE (SOURCE) of a node's whole environment; "NAME (SOURCE)" for an open one, NULL when not set. */
static inline char *env_text(const struct plan *plan, size_t node, const char *name)
{
    struct env all = ENV_INIT;
    plan_node_env(&plan->nodes[node], &all);
    const struct env_var *var = env_get(&all, name);
    char *text = !var          ? NULL
                 : !var->value ? xasprintf("%s (%s)", name, var->source)
                               : xasprintf("%s=%s (%s)", name, var->value, var->source);
    env_release(&all);
    return text;
}

static inline void assert_env(const struct plan *plan, size_t node, const char *name, const char *wanted)
{
    AUTO_FREE char *text = env_text(plan, node, name);
    if (!wanted) {
        if (text)
            fail_msg("'%s' should not be set, it is %s", name, text);
        return;
    }
    if (!text)
        fail_msg("'%s' is not set", name);
    assert_string_equal(text, wanted);
}

static inline void add_env_text(const char *title, const struct env *env, struct str *out)
{
    str_addf(out, "  %s\n", title);
    for (size_t i = 0; i < env->len; i++) {
        const struct env_var *var = &env->items[i];
        str_addf(out, "    %s = %s [%s]\n", var->name,
                 !var->value   ? "?"
                 : var->secret ? "***"
                               : var->value,
                 var->source);
    }
}

static inline void add_node_text(const struct plan *plan, size_t index, struct str *out)
{
    static const char *const modes[] = {"keep", "clean", "login"};
    static const char *const types[] = {"none", "file", "module", "command"};
    const struct plan_node *node = &plan->nodes[index];
    str_addf(out, "node %u: %s addr %s user %s port %u %s nproc %u\n", node->rank, node->label, node->addr,
             node->user ? node->user : "-", node->port, node->local ? "local" : "remote", node->nproc);
    str_addf(out, "  workdir %s\n  artifacts %s\n  log %s\n", node->workdir ? node->workdir : "-",
             node->artifacts, node->log);
    if (plan->place.container)
        str_addf(out, "  container %s of %s user %s%s\n", plan->place.container, plan->place.engine,
                 plan->place.user ? plan->place.user : "-", plan->place.sudo ? " by sudo" : "");
    str_addf(out, "  probe %s %s interpreter %s module %s\n", types[node->probe.program_type],
             node->probe.program ? node->probe.program : "-",
             node->probe.interpreter ? node->probe.interpreter : "-",
             node->probe.module ? node->probe.module : "-");
    str_add(out, "  argv\n");
    for (size_t i = 0; i < node->argv.len; i++)
        str_addf(out, "    %s\n", node->argv.items[i]);
    str_addf(out, "  environment from %s\n", modes[node->env_mode]);
    add_env_text("computed", &node->computed, out);
    add_env_text("env", &node->env, out);
    add_env_text("defaults", &node->defaults, out);
    str_add(out, "  shell\n    ");
    plan_shell_line(plan, index, out);
    str_add_char(out, '\n');
}

static inline void add_plan_text(const struct plan *plan, struct str *out)
{
    str_addf(out, "job %s run %s launcher %s\n", plan->job, plan->run, plan->launcher);
    str_addf(out, "nodes %u x processes %u = world %u\n", plan->nnodes, plan->nproc_per_node,
             plan->world_size);
    str_addf(out, "master %s port %u rendezvous %s\n", plan->master_addr, plan->master_port,
             plan->rendezvous_id ? plan->rendezvous_id : "?");
    if (plan->has_batch)
        str_addf(out, "parallel %u %u %u experts %u %u batch %u of %u data %u accumulation %u\n",
                 plan->batch.split.tensor, plan->batch.split.pipeline, plan->batch.split.context,
                 plan->batch.split.expert_tensor, plan->batch.split.expert, plan->batch.micro,
                 plan->batch.global, plan->batch.data_parallel, plan->batch.accumulation);
    for (size_t i = 0; i < plan->warnings.len; i++)
        str_addf(out, "warning %s\n", plan->warnings.items[i]);
    for (size_t i = 0; i < plan->nnodes; i++)
        add_node_text(plan, i, out);
}

#endif
