/* Makes the plan of a run: every node's command, environment and paths. */
#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "run/plan_internal.h"

/* The total that execve(2) accepts with the usual stack limit of 8 MiB: a quarter of it. */
#define EXEC_BYTES_MAX (2u << 20)

static const char default_artifacts[] = "~/.mtlaunch";

static void node_release(struct plan_node *node)
{
    free(node->name);
    free(node->label);
    free(node->addr);
    free(node->user);
    free(node->workdir);
    free(node->artifacts);
    free(node->log);
    free(node->state_base);
    free(node->ready_about);
    for (size_t i = 0; i < node->steps_len; i++) {
        strlist_release(&node->steps[i].argv);
        free(node->steps[i].creates);
    }
    free(node->steps);
    strlist_release(&node->ready);
    strlist_release(&node->argv);
    env_release(&node->defaults);
    env_release(&node->env);
    env_release(&node->computed);
    launch_probe_release(&node->probe);
}

void plan_release(struct plan *plan)
{
    for (unsigned i = 0; plan->nodes && i < plan->nnodes; i++) {
        node_release(&plan->nodes[i]);
    }
    free(plan->nodes);
    free(plan->job);
    free(plan->run);
    free(plan->launcher);
    free(plan->master_addr);
    free(plan->rendezvous_id);
    free(plan->shell);
    place_release(&plan->place);
    strlist_release(&plan->setup);
    strlist_release(&plan->ssh_options);
    strlist_release(&plan->warnings);
    if (plan->texts) {
        texts_release(plan->texts);
        free(plan->texts);
    }
    *plan = (struct plan){0};
}

static void work_release(struct plan_work *work)
{
    strlist_release(&work->labels);
    strlist_release(&work->program);
    strlist_release(&work->args);
    strlist_release(&work->no_interface);
    strlist_release(&work->env_warnings);
    launch_whole_release(&work->whole);
    env_release(&work->passed);
    env_release(&work->common);
    free(work->nodes);
    free(work->nproc);
}

const struct plan_node_facts *plan_work_facts(const struct plan_work *work, size_t host)
{
    const struct plan_facts *facts = work->in->facts;
    return facts && facts->nodes ? &facts->nodes[host] : NULL;
}

char *plan_fill(const struct placeholders *values, const char *text, bool *open, const char *what,
                struct error *err)
{
    AUTO_STR struct str out = STR_INIT;
    if (placeholder_fill(values, text, &out, open, err)) {
        error_prefix(err, "%s", what);
        return NULL;
    }
    return str_detach(&out);
}

/*
 * Append the words to out, with placeholders replaced. Words without a placeholder are shared by all nodes.
 */
static int fill_words(const struct placeholders *values, const struct strlist *words, const char *what,
                      struct strlist *out, struct error *err)
{
    size_t from = out->len;
    strlist_copy(out, words);
    for (size_t i = from; i < out->len; i++) {
        if (!strchr(out->items[i], '$')) {
            continue;
        }
        char *word = plan_fill(values, out->items[i], NULL, what, err);
        if (!word) {
            return -1;
        }
        out->items[i] = texts_take(out->texts, word);
    }
    return 0;
}

/* --- once per plan ------------------------------------------------------------------------------ */

static int check_job(const struct plan_work *work, struct error *err)
{
    const struct job *job = work->in->job;
    if (!work->in->hosts->len) {
        error_set(err, &kind_plan, "the host list is empty");
        return error_hint(err, "name at least one host");
    }
    if (!job->program.len) {
        error_set(err, &kind_plan, "program is empty");
        return error_hint(err, "name what to run");
    }
    if (job->program_is_list && work->launcher->program != LAUNCHER_PROGRAM_SHELL) {
        error_set(err, &kind_plan, "program is a list, launcher '%s' takes one string", work->launcher->name);
        return error_hint(err, "put the words after the first into args, or use launcher: script");
    }
    return plan_env_check_names(work, err);
}

/* Check gpus= against the GPUs present. A node without any may just lack the tool that lists them. */
static int check_gpus(const struct host *host, const char *label, unsigned present, struct error *err)
{
    if (!host->gpus || !present) {
        return 0;
    }
    for (const char *entry = host->gpus; *entry;) {
        unsigned long index = strtoul(entry, NULL, 10);
        if (index >= present) {
            if (present == 1) {
                error_set(err, &kind_gpus_missing, "host '%s' has GPU 0 only, the host list gives it gpus=%s",
                          label, host->gpus);
            } else {
                error_set(err, &kind_gpus_missing, "host '%s' has GPUs 0-%u, the host list gives it gpus=%s",
                          label, present - 1, host->gpus);
            }
            return error_hint(err, "correct gpus= of that host");
        }
        entry += strcspn(entry, ",");
        entry += *entry == ',';
    }
    return 0;
}

static long gpus_of(const struct plan_work *work, size_t host)
{
    const struct plan_node_facts *facts = plan_work_facts(work, host);
    const char *visible = plan_env_visible_devices(work, host);
    if (!facts) {
        return -1;
    }
    return visible ? (long)topology_count_visible(visible, facts->gpus_present) : (long)facts->gpus;
}

static int place_nodes(struct plan_work *work, struct plan *plan, struct error *err)
{
    const struct plan_input *in = work->in;
    size_t count = in->hosts->len;
    hostlist_labels(in->hosts, &work->labels);
    work->nodes = xcalloc(count, sizeof work->nodes[0]);
    work->nproc = xcalloc(count, sizeof work->nproc[0]);
    for (size_t i = 0; i < count; i++) {
        const struct plan_node_facts *facts = plan_work_facts(work, i);
        work->nodes[i] = (struct topology_node){
            .host = &in->hosts->items[i],
            .label = work->labels.items[i],
            .hostname = in->host_facts ? in->host_facts[i].hostname : NULL,
            .gpus = gpus_of(work, i),
        };
        if (facts && check_gpus(work->nodes[i].host, work->nodes[i].label, facts->gpus_present, err)) {
            return -1;
        }
    }
    plan->master_addr = topology_choose_master(in->job->master_addr, work->nodes, count, err);
    if (!plan->master_addr) {
        return -1;
    }
    return topology_count_processes(in->job, work->launcher->unequal_counts, work->nodes, count, work->nproc,
                                    &plan->warnings, err);
}

static void add_ssh_options(const struct job *job, struct strlist *out)
{
    if (job->reach.config) {
        strlist_add(out, "-F");
        strlist_add(out, job->reach.config);
    }
    if (job->reach.identity) {
        strlist_add(out, "-i");
        strlist_add(out, job->reach.identity);
    }
    if (job->reach.known_hosts) {
        strlist_add(out, "-o");
        strlist_addf(out, "UserKnownHostsFile=%s", job->reach.known_hosts);
    }
    if (job->reach.jump) {
        strlist_add(out, "-o");
        strlist_addf(out, "ProxyJump=%s", job->reach.jump);
    }
}

/* Fill in the plan of the whole run, once master and processes are known. */
static void fill_plan(const struct plan_work *work, struct plan *plan)
{
    const struct plan_input *in = work->in;
    const struct job *job = in->job;
    const struct plan_facts *facts = in->facts;
    plan->job = xstrdup(job->name);
    plan->run = xstrdup(in->run);
    plan->launcher = xstrdup(work->launcher->name);
    plan->shell = xstrdup(job->shell);
    strlist_copy(&plan->setup, &job->setup);
    if (job->place.container) {
        place_copy(&plan->place, &job->place);
    }
    add_ssh_options(job, &plan->ssh_options);
    plan->nnodes = (unsigned)in->hosts->len;
    plan->master_port = job->master_port              ? job->master_port
                        : facts && facts->master_port ? facts->master_port
                                                      : TOPOLOGY_MASTER_PORT;
    if (facts && facts->run_id && facts->attempt) {
        plan->rendezvous_id = xasprintf("%s.%u", facts->run_id, facts->attempt);
    }

    bool known = true, equal = true;
    for (size_t i = 0; i < plan->nnodes; i++) {
        known = known && work->nproc[i] != 0;
        equal = equal && work->nproc[i] == work->nproc[0];
        plan->world_size += work->nproc[i];
    }
    if (!known) {
        plan->world_size = 0;
    }
    if (known && equal) {
        plan->nproc_per_node = work->nproc[0];
    }
}

/* --- per node ----------------------------------------------------------------------------------- */

/*
 * The placeholders that the texts of every node may use. Artifacts come last: their own text may use all the
 * others.
 */
static void set_placeholders(const struct plan_work *work, const struct plan *plan,
                             const struct plan_node *node, struct placeholders *values)
{
    const struct plan_facts *facts = work->in->facts;
    AUTO_FREE char *rank = xasprintf("%u", node->rank);
    AUTO_FREE char *zero_stage = xasprintf("%u", work->in->job->zero_stage);
    placeholders_set(values, PLACEHOLDER_JOB, plan->job);
    placeholders_set(values, PLACEHOLDER_RUN, plan->run);
    placeholders_set(values, PLACEHOLDER_RUN_ID, facts ? facts->run_id : NULL);
    placeholders_set(values, PLACEHOLDER_NODE_RANK, rank);
    placeholders_set_count(values, PLACEHOLDER_NNODES, plan->nnodes);
    placeholders_set_count(values, PLACEHOLDER_NPROC_PER_NODE, node->nproc);
    placeholders_set_count(values, PLACEHOLDER_WORLD_SIZE, plan->world_size);
    placeholders_set(values, PLACEHOLDER_MASTER_ADDR, plan->master_addr);
    placeholders_set_count(values, PLACEHOLDER_MASTER_PORT, plan->master_port);
    placeholders_set(values, PLACEHOLDER_HOST, node->label);
    placeholders_set_count(values, PLACEHOLDER_ATTEMPT, facts ? facts->attempt : 0);
    placeholders_set(values, PLACEHOLDER_ZERO_STAGE, zero_stage);
    placeholders_set(values, PLACEHOLDER_RENDEZVOUS_ID, plan->rendezvous_id);
    if (!work->launcher->config) {
        values->refused[PLACEHOLDER_DEEPSPEED_CONFIG] = "is for launcher deepspeed only";
    } else if (!work->in->job->deepspeed_config) {
        values->refused[PLACEHOLDER_DEEPSPEED_CONFIG] = "needs 'deepspeed.config'";
    }
}

static int set_paths(const struct plan_work *work, const struct plan *plan, struct plan_node *node,
                     struct placeholders *values, struct error *err)
{
    const struct job *job = work->in->job;
    const struct plan_node_facts *facts = plan_work_facts(work, node->host);
    const char *wanted = job->artifacts ? job->artifacts : default_artifacts;
    const char *folder = work->in->hosts->items[node->host].workdir;
    bool open = false;

    values->refused[PLACEHOLDER_ARTIFACTS] = "cannot be part of itself";
    node->artifacts = plan_fill(values, wanted, &open, "artifacts", err);
    values->refused[PLACEHOLDER_ARTIFACTS] = NULL;
    if (!node->artifacts) {
        return -1;
    }
    if (facts && facts->artifacts) {
        free(node->artifacts);
        node->artifacts = xstrdup(facts->artifacts);
    }
    for (size_t len = strlen(node->artifacts); len > 1 && node->artifacts[len - 1] == '/'; len--) {
        node->artifacts[len - 1] = '\0';
    }
    if (!*node->artifacts) {
        error_set(err, &kind_plan, "artifacts is empty");
        return error_hint(err, "name a folder on the nodes, or leave it out for %s", default_artifacts);
    }
    const char *top = strcmp(node->artifacts, "/") == 0 ? "" : node->artifacts;
    node->log = xasprintf("%s/logs/%s_node%u.log", top, plan->run, node->rank);
    node->state_base = xasprintf("%s/run_state/%s_node%u", top, plan->run, node->rank);
    if (node->artifacts[0] == '/' && !open) {
        AUTO_FREE char *config =
            xasprintf("%s%s", node->state_base, work->launcher->config ? work->launcher->config : "");
        placeholders_set(values, PLACEHOLDER_ARTIFACTS, node->artifacts);
        placeholders_set(values, PLACEHOLDER_DEEPSPEED_CONFIG, config);
    }
    if (!folder) {
        folder = job->workdir;
    }
    if (!folder && job->place.container) {
        folder = job->container.workdir;
    }
    if (folder && !(node->workdir = plan_fill(values, folder, NULL, "workdir", err))) {
        return -1;
    }
    return 0;
}

static int build_command(struct plan_work *work, const struct plan *plan, struct plan_node *node,
                         const struct placeholders *values, struct error *err)
{
    AUTO_STRLIST struct strlist program = {.texts = work->texts}, args = {.texts = work->texts};
    if (fill_words(values, &work->program, "program", &program, err) ||
        fill_words(values, &work->args, "args", &args, err)) {
        return -1;
    }
    struct launch_input launch = {
        .job = work->in->job,
        .program = &program,
        .args = &args,
        .nnodes = plan->nnodes,
        .rank = node->rank,
        .labels = &work->labels,
        .state_base = node->state_base,
        .python = work->in->hosts->items[node->host].python,
        .nproc = placeholders_text(values, PLACEHOLDER_NPROC_PER_NODE),
        .world = placeholders_text(values, PLACEHOLDER_WORLD_SIZE),
        .master_addr = plan->master_addr,
        .master_port = plan->master_port,
        .rendezvous_id = placeholders_text(values, PLACEHOLDER_RENDEZVOUS_ID),
    };
    if (work->launcher->add_env) {
        work->launcher->add_env(&launch, &node->env);
    }
    if (work->launcher->check_env &&
        work->launcher->check_env(&launch, &node->env, &work->env_warnings, err)) {
        return -1;
    }
    if (work->launcher->ready) {
        AUTO_STR struct str about = STR_INIT;
        work->launcher->ready(&launch, &node->ready, &about);
        node->ready_about = about.len ? str_detach(&about) : NULL;
    }
    return work->launcher->build(&launch, &node->argv, &node->probe, err);
}

static int plan_steps(const struct plan_work *work, struct plan_node *node, const struct placeholders *values,
                      struct error *err)
{
    const struct job *job = work->in->job;
    node->steps_len = job->prepare_len;
    node->steps = xcalloc(job->prepare_len ? job->prepare_len : 1, sizeof node->steps[0]);
    for (size_t i = 0; i < job->prepare_len; i++) {
        const struct job_step *from = &job->prepare[i];
        struct plan_step *step = &node->steps[i];
        step->name = from->name;
        step->timeout_s = from->timeout_s;
        step->argv.texts = work->texts;
        if (node->rank && !from->on_all) {
            continue;
        }
        AUTO_FREE char *what = xasprintf("prepare '%s'", from->name);
        if (from->is_line) {
            strlist_add(&step->argv, "/bin/sh");
            strlist_add(&step->argv, "-c");
        }
        if (fill_words(values, &from->command, what, &step->argv, err) ||
            (from->creates && !(step->creates = plan_fill(values, from->creates, NULL, what, err)))) {
            return -1;
        }
    }
    return 0;
}

static size_t env_bytes(const struct env *env)
{
    size_t bytes = 0;
    for (size_t i = 0; i < env->len; i++) {
        bytes += strlen(env->items[i].name) + (env->items[i].value ? strlen(env->items[i].value) : 0) + 2;
    }
    return bytes;
}

/* Refuse here what the kernel would refuse with E2BIG on the node, and report the sizes. */
static int check_sizes(const struct plan_node *node, struct error *err)
{
    size_t bytes = env_bytes(&node->defaults) + env_bytes(&node->env) + env_bytes(&node->computed);
    for (size_t i = 0; i < node->argv.len; i++) {
        size_t len = strlen(node->argv.items[i]);
        bytes += len + 1;
        if (len > ENV_VALUE_MAX) {
            error_set(err, &kind_plan,
                      "argument %zu of the command is %zu bytes long; at most %d can be handed over", i, len,
                      ENV_VALUE_MAX);
            return error_hint(err, "put it into a file and name the file");
        }
    }
    for (size_t i = 0; i < node->env.len; i++) {
        const struct env_var *var = &node->env.items[i];
        size_t len = strlen(var->name) + 1 + (var->value ? strlen(var->value) : 0);
        if (len > ENV_VALUE_MAX) {
            error_set(err, &kind_plan, "'%s' with its value is %zu bytes long; at most %d can be handed over",
                      var->name, len, ENV_VALUE_MAX);
            return error_hint(err, "put it into a file and name the file");
        }
    }
    if (bytes > EXEC_BYTES_MAX) {
        error_set(err, &kind_plan, "command and environment are %zu bytes; at most %u can be handed over",
                  bytes, EXEC_BYTES_MAX);
        return error_hint(err, "put arguments or values into a file");
    }
    return 0;
}

static unsigned first_port(unsigned a, unsigned b, unsigned c)
{
    return a ? a : b ? b : c;
}

static int make_node(struct plan_work *work, const struct plan *plan, struct plan_node *node,
                     struct error *err)
{
    const struct plan_input *in = work->in;
    const struct host *host = &in->hosts->items[node->host];
    const struct plan_host *known = in->host_facts ? &in->host_facts[node->host] : NULL;
    const char *user = known && known->user ? known->user : host->user ? host->user : in->job->reach.user;

    node->name = xstrdup(host->name);
    node->label = xstrdup(work->labels.items[node->host]);
    node->addr = xstrdup(topology_node_addr(&work->nodes[node->host]));
    node->local = known && known->local;
    node->user = xstrdup(user);
    node->port = first_port(known ? known->port : 0, host->port, in->job->reach.port);
    node->nproc = work->nproc[node->host];
    node->env_mode = !node->local || plan->place.container ? PLAN_ENV_LOGIN
                     : plan->nnodes == 1                   ? PLAN_ENV_KEEP
                                                           : PLAN_ENV_CLEAN;

    node->ready.texts = node->argv.texts = work->texts;
    node->defaults.texts = node->env.texts = node->computed.texts = work->texts;
    struct placeholders values = PLACEHOLDERS_INIT;
    set_placeholders(work, plan, node, &values);
    int rc = set_paths(work, plan, node, &values, err);
    if (rc == 0) {
        rc = plan_env_make(work, node, &values, err);
    }
    if (rc == 0) {
        rc = build_command(work, plan, node, &values, err);
    }
    if (rc == 0) {
        rc = plan_steps(work, node, &values, err);
    }
    if (rc == 0) {
        rc = check_sizes(node, err);
    }
    placeholders_release(&values);
    return rc;
}

static void warn_interfaces(const struct plan_work *work, struct plan *plan)
{
    if (!work->no_interface.len) {
        return;
    }
    AUTO_STR struct str folded = STR_INIT;
    hostlist_fold_names(work->no_interface.items, work->no_interface.len, &folded);
    strlist_addf(&plan->warnings,
                 "no interface that leads to the master '%s' was found on %s: NCCL_SOCKET_IFNAME and "
                 "GLOO_SOCKET_IFNAME stay as they are there (set master.interface or ifname=)",
                 plan->master_addr, str_text(&folded));
}

/* Let the launcher judge the job as a whole, by the arguments of the first node. */
static int judge_launch(struct plan_work *work, struct plan *plan, struct error *err)
{
    AUTO_STRLIST struct strlist args = {.texts = work->texts}, all = {.texts = work->texts};
    const struct plan_node first = {.label = work->labels.items[0], .nproc = work->nproc[0]};
    struct placeholders values = PLACEHOLDERS_INIT;
    set_placeholders(work, plan, &first, &values);
    int rc = fill_words(&values, &work->args, "args", &args, err);
    placeholders_release(&values);
    const struct launch_job job = {
        .job = work->in->job, .args = &args, .nnodes = plan->nnodes, .world_size = plan->world_size};
    if (rc == 0 && work->launcher->judge) {
        rc = work->launcher->judge(&job, &work->whole, &plan->warnings, err);
    }
    if (rc) {
        return -1;
    }
    plan->has_batch = work->whole.has_batch;
    plan->batch = work->whole.batch;
    launcher_read_step(&job, &work->whole, &plan->step);
    strlist_copy(&all, &work->whole.args);
    strlist_copy(&all, &work->args);
    struct strlist own = work->args;
    work->args = all;
    all = own;
    return 0;
}

static int make(struct plan_work *work, struct plan *plan, struct error *err)
{
    const struct plan_input *in = work->in;
    work->launcher = launcher_find(in->job->launcher, err);
    if (!work->launcher || check_job(work, err)) {
        return -1;
    }
    work->texts = plan->texts = xcalloc(1, sizeof(*plan->texts));
    work->program.texts = work->args.texts = work->texts;
    plan_env_pass(in->job, in->environ_, &work->passed);
    plan_env_share(work);
    strlist_copy(&work->program, &in->job->program);
    launcher_map_args(&in->job->args, work->launcher->bool_values, &work->args);
    strlist_copy(&work->args, &in->job->extra_args);
    if (place_nodes(work, plan, err)) {
        return -1;
    }
    fill_plan(work, plan);
    if (judge_launch(work, plan, err)) {
        return -1;
    }
    plan->nodes = xcalloc(plan->nnodes, sizeof plan->nodes[0]);
    for (unsigned i = 0; i < plan->nnodes; i++) {
        plan->nodes[i].rank = i;
        plan->nodes[i].host = i;
        if (make_node(work, plan, &plan->nodes[i], err)) {
            return -1;
        }
    }
    strlist_copy(&plan->warnings, &work->env_warnings);
    warn_interfaces(work, plan);
    return 0;
}

int plan_make(struct plan *out, const struct plan_input *in, struct error *err)
{
    struct plan_work work = {.in = in};
    *out = (struct plan){0};
    int rc = make(&work, out, err);
    work_release(&work);
    if (rc) {
        plan_release(out);
    }
    return rc;
}
