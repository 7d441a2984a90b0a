/* Makes the environment of a node in the plan: where each variable comes from, and which value wins. */
#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "run/plan_internal.h"

#define OMP_THREADS_MAX 16

/*
 * Names that belong to one machine, one login or one process: a pattern of pass_env matches them only if it
 * spells them out. A name that ends in '*' stands for all names with this prefix.
 */
static const char *const personal_names[] = {
    "HOSTNAME",
    "HOST",
    "CUDA_VISIBLE_DEVICES",
    "SSH_*",
    "SLURM*",
    "LC_*",
    "LANG",
    "LANGUAGE",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "TERM",
    "MAIL",
    "DISPLAY",
    "XAUTHORITY",
    "XDG_*",
    "DBUS_*",
    "TMUX*",
    "TTY",
    "PET_*",
    "GROUP_*",
    "ROLE_*",
    "LOCAL_WORLD_SIZE",
    "TORCHELASTIC_*",
};

/*
 * What a run of one local node does not take over from the caller: variables of another launcher or of an
 * outer run.
 */
static const char *const dropped_names[] = {
    "PET_*",   "RANK",           "LOCAL_RANK",    "WORLD_SIZE",
    "GROUP_*", "TORCHELASTIC_*", "MTLAUNCH_MARK", "MTLAUNCH_KEEPS",
};

/* The PATH that sshd sets, with the sbin folders that some builds set only for root. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool name_is(const char *name, const char *entry)
{
    size_t len = strlen(entry);
    if (entry[len - 1] == '*') {
        return strncmp(name, entry, len - 1) == 0;
    }
    return strcmp(name, entry) == 0;
}

static bool name_is_any(const char *name, const char *const *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (name_is(name, entries[i])) {
            return true;
        }
    }
    return false;
}

/*
 * Whether the pattern spells out a personal name: letter by letter up to the '*' of the entry, or to its end.
 */
static bool spelled_out(const char *pattern, const char *name)
{
    size_t literal = strcspn(pattern, "*?[\\");
    for (size_t i = 0; i < ARRAY_LEN(personal_names); i++) {
        const char *entry = personal_names[i];
        if (!name_is(name, entry)) {
            continue;
        }
        size_t len = strlen(entry);
        bool family = entry[len - 1] == '*';
        if (family ? literal < len - 1 : pattern[literal] != '\0') {
            return false;
        }
    }
    return true;
}

/* The pattern of pass_env that matches this name, or NULL. */
static const char *passing_pattern(const struct strlist *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->len; i++) {
        if (fnmatch(patterns->items[i], name, 0) == 0 && spelled_out(patterns->items[i], name)) {
            return patterns->items[i];
        }
    }
    return NULL;
}

void plan_env_pass(const struct job *job, const char *const *environ_, struct env *out)
{
    for (size_t i = 0; environ_ && environ_[i]; i++) {
        const char *equals = strchr(environ_[i], '=');
        if (!equals) {
            continue;
        }
        AUTO_FREE char *name = xstrndup(environ_[i], (size_t)(equals - environ_[i]));
        const char *pattern = passing_pattern(&job->pass_env, name);
        /*
         * Computed names already act as options before the plan is made; exported functions are no valid
         * names.
         */
        if (!pattern || env_check_settable(name, equals + 1, NULL)) {
            continue;
        }
        AUTO_FREE char *source = xasprintf("caller (%s)", pattern);
        env_set(out, name, equals + 1, source);
    }
}

/*
 * The layers of a job's environment; later ones win. A layer is a list of variables, or the keys of the host
 * list that stand for variables.
 */
enum layer {
    LAYER_INTERFACE,
    LAYER_ENV_FILES,
    LAYER_ENV,
    LAYER_PASSED,
    LAYER_HOST_KEYS,
    LAYER_HOST_ENV,
    LAYER_OPTIONS
};
#define LAYER_COUNT (LAYER_OPTIONS + 1)

static const struct env *layer_list(const struct plan_work *work, size_t host, enum layer layer)
{
    const struct job *job = work->in->job;
    switch (layer) {
    case LAYER_ENV_FILES:
        return &job->env_files;
    case LAYER_ENV:
        return &job->env;
    case LAYER_PASSED:
        return &work->passed;
    case LAYER_HOST_ENV:
        return &work->in->hosts->items[host].env;
    case LAYER_OPTIONS:
        return &job->env_options;
    case LAYER_INTERFACE:
    case LAYER_HOST_KEYS:
        break;
    }
    return NULL;
}

/* NCCL takes a list of prefixes unless it begins with '='; gloo takes names (NCCL user guide, gloo's tcp
 * device). */
static void set_interface(struct env *env, const char *interface, const char *source)
{
    AUTO_FREE char *exact = xasprintf("=%s", interface);
    env_set(env, "NCCL_SOCKET_IFNAME", exact, source);
    env_set(env, "GLOO_SOCKET_IFNAME", interface, source);
}

static void set_host_keys(const struct host *host, struct env *env)
{
    if (host->ifname) {
        set_interface(env, host->ifname, "host list (ifname=)");
    }
    if (host->gpus) {
        env_set(env, "CUDA_VISIBLE_DEVICES", host->gpus, "host list (gpus=)");
    }
}

static const char *source_of(const struct env_var *var)
{
    return var->source ? var->source : "host list";
}

static void set_plain(struct env *env, const struct env *list)
{
    for (size_t i = 0; i < list->len; i++) {
        env_set(env, list->items[i].name, list->items[i].value, source_of(&list->items[i]));
    }
}

static int set_filled(struct env *env, const struct env_var *var, const struct placeholders *values,
                      struct error *err)
{
    bool open = false;
    AUTO_FREE char *value = plan_fill(values, var->value, &open, var->name, err);
    if (!value) {
        return -1;
    }
    env_set(env, var->name, open ? NULL : value, open ? PLAN_ON_START : source_of(var));
    return 0;
}

static void flag_secrets(const struct strlist *patterns, size_t from, struct env *env)
{
    for (size_t i = from; i < env->len; i++) {
        env->items[i].secret = text_matches_any(env->items[i].name, patterns->items, patterns->len);
    }
}

/*
 * Set the layers below the host's keys. In these, nodes differ only in the placeholders of LAYER_ENV. Env
 * files and the caller's environment are data: nothing in them is expanded.
 */
void plan_env_share(struct plan_work *work)
{
    const struct job *job = work->in->job;
    struct env *common = &work->common;
    common->texts = work->texts;
    if (job->master_interface) {
        set_interface(common, job->master_interface, "master.interface");
    }
    for (int layer = LAYER_ENV_FILES; layer < LAYER_HOST_KEYS; layer++) {
        set_plain(common, layer_list(work, 0, (enum layer)layer));
    }
    flag_secrets(&job->secret_env, 0, common);
}

/* Fill the placeholders of the common part. A value that pass_env has replaced is only checked. */
static int fill_common(const struct plan_work *work, struct plan_node *node,
                       const struct placeholders *values, struct error *err)
{
    const struct env *list = layer_list(work, node->host, LAYER_ENV);
    for (size_t i = 0; i < list->len; i++) {
        const struct env_var *var = &list->items[i];
        if (!var->value || !strchr(var->value, '$')) {
            continue;
        }
        struct env unused = {.texts = work->texts};
        int rc = set_filled(env_get(&work->passed, var->name) ? &unused : &node->env, var, values, err);
        env_release(&unused);
        if (rc) {
            return -1;
        }
    }
    return 0;
}

static int set_layer(const struct plan_work *work, struct plan_node *node, enum layer layer,
                     const struct placeholders *values, struct error *err)
{
    const struct env *list = layer_list(work, node->host, layer);
    for (size_t i = 0; i < list->len; i++) {
        const struct env_var *var = &list->items[i];
        if (!var->value) {
            env_set(&node->env, var->name, NULL, source_of(var));
        } else if (set_filled(&node->env, var, values, err)) {
            return -1;
        }
    }
    return 0;
}

static int set_layers(const struct plan_work *work, struct plan_node *node, const struct placeholders *values,
                      struct error *err)
{
    env_append(&node->env, &work->common);
    if (fill_common(work, node, values, err)) {
        return -1;
    }
    set_host_keys(&work->in->hosts->items[node->host], &node->env);
    return set_layer(work, node, LAYER_HOST_ENV, values, err) ||
                   set_layer(work, node, LAYER_OPTIONS, values, err)
               ? -1
               : 0;
}

const char *plan_env_visible_devices(const struct plan_work *work, size_t host)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES";
    for (int layer = LAYER_COUNT - 1; layer >= 0; layer--) {
        const struct env *list = layer_list(work, host, (enum layer)layer);
        const struct env_var *var = list ? env_get(list, name) : NULL;
        if (var) {
            return var->value;
        }
        if (layer == LAYER_HOST_KEYS && work->in->hosts->items[host].gpus) {
            return work->in->hosts->items[host].gpus;
        }
    }
    return NULL;
}

static int check_names(const struct env *env, const char *place, struct error *err)
{
    for (size_t i = 0; i < env->len; i++) {
        const struct env_var *var = &env->items[i];
        if (env_check_settable(var->name, var->value, err)) {
            return error_prefix(err, "%s", var->source ? var->source : place);
        }
    }
    return 0;
}

int plan_env_check_names(const struct plan_work *work, struct error *err)
{
    const struct job *job = work->in->job;
    if (check_names(&job->env_files, "env_file", err) || check_names(&job->env, "env", err) ||
        check_names(&job->env_options, "-e", err)) {
        return -1;
    }
    for (size_t i = 0; i < work->in->hosts->len; i++) {
        const struct host *host = &work->in->hosts->items[i];
        if (check_names(&host->env, "host list", err)) {
            return host->line ? error_at(err, host->file, host->line, host->column) : -1;
        }
    }
    return 0;
}

static int check_gloo(const struct plan_node *node, struct error *err)
{
    const struct env_var *var = env_get(&node->env, "GLOO_SOCKET_IFNAME");
    if (!var || !var->value || (var->value[0] != '^' && var->value[0] != '=')) {
        return 0;
    }
    error_set(err, &kind_plan, "GLOO_SOCKET_IFNAME is '%s' (%s): gloo knows no '%c', which is NCCL's",
              var->value, var->source, var->value[0]);
    return error_hint(err, "name the interface itself, such as eth0, or leave it out");
}

static void add_default(struct plan_node *node, const char *name, const char *value, const char *source)
{
    if (!env_get(&node->env, name)) {
        env_set(&node->defaults, name, value, value ? source : PLAN_ON_START);
    }
}

/*
 * interface auto: the interface that routes to the master. It never replaces a value that is set, so it is a
 * default.
 */
static void add_interface(struct plan_work *work, struct plan_node *node)
{
    const struct plan_node_facts *facts = plan_work_facts(work, node->host);
    if (work->in->hosts->len < 2) {
        return;
    }
    bool wanted = !env_get(&node->env, "NCCL_SOCKET_IFNAME") || !env_get(&node->env, "GLOO_SOCKET_IFNAME");
    if (facts && !facts->interface) {
        if (wanted) {
            strlist_add(&work->no_interface, node->label);
        }
        return;
    }
    AUTO_FREE char *exact = facts ? xasprintf("=%s", facts->interface) : NULL;
    add_default(node, "NCCL_SOCKET_IFNAME", exact, "interface auto");
    add_default(node, "GLOO_SOCKET_IFNAME", facts ? facts->interface : NULL, "interface auto");
}

/*
 * Add defaults that make a hang or a crash of a Python program visible: stacks on a fatal signal, and NCCL's
 * flight recorder with its dumps beside the run's state. torch 2.9 introduced the names without NCCL; earlier
 * versions know only those with it. If the job sets one name of a pair, the other is not set.
 *
 * The last three are torch's own defaults. If a file for dumps is named, Megatron-LM sets each of them to the
 * opposite unless the environment has it (megatron/training/initialize.py). With an extra dump, a rank that
 * ends without destroy_process_group() hangs at its exit for TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC and is then
 * aborted (torch 2.11); without stack traces a dump does not say where a rank waits.
 */
static void add_recorder(const struct launcher *launcher, struct plan_node *node,
                         const struct placeholders *values)
{
    static const struct {
        const char *name, *other; /* other name of the same setting; NULL: none */
        const char *value;        /* NULL: the path of file, to which torch appends the global rank */
        const char *file;
    } settings[] = {
        {"PYTHONFAULTHANDLER", NULL, "1", NULL},
        {"TORCH_NCCL_DUMP_ON_TIMEOUT", NULL, "1", NULL},
        {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE", "2000", NULL},
        {"TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE", "2000", NULL},
        {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", NULL, "dump_"},
        {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE", NULL, "dump_"},
        {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", NULL, NULL, "pipe_"},
        {"TORCH_NCCL_EXTRA_DUMP_ON_EXEC", NULL, "0", NULL},
        {"TORCH_INCLUDE_ONLY_ACTIVE", NULL, "0", NULL},
        {"TORCH_INCLUDE_STACK_TRACE", NULL, "1", NULL},
    };
    if (launcher->program == LAUNCHER_PROGRAM_SHELL) {
        return;
    }
    const char *known = values->value[PLACEHOLDER_ARTIFACTS];
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        if (settings[i].other && env_get(&node->env, settings[i].other)) {
            continue;
        }
        AUTO_FREE char *path =
            known && settings[i].file ? xasprintf("%s.fr/%s", node->state_base, settings[i].file) : NULL;
        add_default(node, settings[i].name, settings[i].file ? path : settings[i].value, "default");
    }
}

static void add_defaults(struct plan_work *work, struct plan_node *node, const struct placeholders *values)
{
    const struct plan_node_facts *facts = plan_work_facts(work, node->host);
    const struct env *wanted = &work->whole.defaults;
    for (size_t i = 0; i < wanted->len; i++) {
        add_default(node, wanted->items[i].name, wanted->items[i].value, wanted->items[i].source);
    }
    add_default(node, "PYTHONUNBUFFERED", "1", "default");
    add_default(node, "LANG", "C.UTF-8", "default");
    if (facts && node->nproc) {
        unsigned threads = facts->cores / node->nproc;
        threads = threads < 1 ? 1 : threads > OMP_THREADS_MAX ? OMP_THREADS_MAX : threads;
        AUTO_FREE char *text = xasprintf("%u", threads);
        add_default(node, "OMP_NUM_THREADS", text, "default");
    } else {
        add_default(node, "OMP_NUM_THREADS", NULL, NULL);
    }
    add_recorder(work->launcher, node, values);
    add_interface(work, node);
}

static void add_computed(struct plan_node *node, const struct placeholders *values)
{
    static const struct {
        const char *name;
        enum placeholder_id id;
    } computed[] = {
        {"NNODES", PLACEHOLDER_NNODES},
        {"NPROC_PER_NODE", PLACEHOLDER_NPROC_PER_NODE},
        {"NODE_RANK", PLACEHOLDER_NODE_RANK},
        {"MASTER_ADDR", PLACEHOLDER_MASTER_ADDR},
        {"MASTER_PORT", PLACEHOLDER_MASTER_PORT},
        {"ZERO_STAGE", PLACEHOLDER_ZERO_STAGE},
        {"MTLAUNCH_RUN", PLACEHOLDER_RUN},
        {"MTLAUNCH_RUN_ID", PLACEHOLDER_RUN_ID},
        {"MTLAUNCH_JOB", PLACEHOLDER_JOB},
        {"MTLAUNCH_HOST", PLACEHOLDER_HOST},
        {"MTLAUNCH_ATTEMPT", PLACEHOLDER_ATTEMPT},
        {"MTLAUNCH_ARTIFACTS", PLACEHOLDER_ARTIFACTS},
    };
    for (size_t i = 0; i < ARRAY_LEN(computed); i++) {
        const char *value = values->value[computed[i].id];
        env_set(&node->computed, computed[i].name, value, value ? "computed" : PLAN_ON_START);
    }
    const char *rendezvous = values->value[PLACEHOLDER_RENDEZVOUS_ID];
    AUTO_FREE char *mark = rendezvous ? xasprintf("%s.%u", rendezvous, node->rank) : NULL;
    env_set(&node->computed, "MTLAUNCH_MARK", mark, mark ? "computed" : PLAN_ON_START);
}

int plan_env_make(struct plan_work *work, struct plan_node *node, const struct placeholders *values,
                  struct error *err)
{
    if (set_layers(work, node, values, err) || check_gloo(node, err)) {
        return -1;
    }
    add_defaults(work, node, values);
    add_computed(node, values);
    const struct strlist *secrets = &work->in->job->secret_env;
    flag_secrets(secrets, work->common.len, &node->env);
    flag_secrets(secrets, 0, &node->defaults);
    flag_secrets(secrets, 0, &node->computed);
    return 0;
}

size_t plan_node_env_len(const struct plan_node *node)
{
    return node->computed.len + node->env.len + node->defaults.len;
}

const struct env_var *plan_node_var(const struct plan_node *node, size_t index)
{
    const struct env *lists[] = {&node->computed, &node->env, &node->defaults};
    size_t list = 0;
    while (index >= lists[list]->len) {
        index -= lists[list++]->len;
    }
    return &lists[list]->items[index];
}

void plan_node_env(const struct plan_node *node, struct env *out)
{
    out->texts = node->env.texts;
    env_append(out, &node->computed);
    env_append(out, &node->env);
    env_append(out, &node->defaults);
}

void plan_caller_env(enum plan_env_mode mode, const char *const *environ_, struct strlist *out)
{
    static const char *const kept[] = {"HOME", "USER", "LOGNAME", "SHELL"};
    for (size_t i = 0; environ_ && environ_[i]; i++) {
        const char *equals = strchr(environ_[i], '=');
        if (!equals) {
            continue;
        }
        AUTO_FREE char *name = xstrndup(environ_[i], (size_t)(equals - environ_[i]));
        bool keep = mode == PLAN_ENV_KEEP ? !name_is_any(name, dropped_names, ARRAY_LEN(dropped_names))
                                          : name_is_any(name, kept, ARRAY_LEN(kept));
        if (keep) {
            strlist_add(out, environ_[i]);
        }
    }
    if (mode != PLAN_ENV_KEEP) {
        strlist_add(out, "PATH=" DEFAULT_PATH);
    }
}
