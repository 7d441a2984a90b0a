/* Environment variables with where each comes from, as a value. */
#include "model/env.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Names a user may not set, and what to do instead. A name that ends in '*' stands for all that begin so. */
static const struct {
    const char *name;
    const char *hint;
} refused_names[] = {
    {"NNODES", "it is the number of hosts: use --nodes or change the host list"},
    {"NPROC_PER_NODE", "use nproc_per_node of the spec or --nproc-per-node"},
    {"NODE_RANK", "it is the place in the host list: change the order there"},
    {"MASTER_ADDR", "use master.addr of the spec or --master-addr"},
    {"MASTER_PORT", "use master.port of the spec or --master-port"},
    {"ZERO_STAGE", "use zero_stage of the spec or --zero-stage"},
    {"RANK", "the launcher gives it to each process: leave it out"},
    {"LOCAL_RANK", "the launcher gives it to each process: leave it out"},
    {"WORLD_SIZE", "the launcher gives it to each process: leave it out"},
    {"MTLAUNCH_*", "mtlaunch computes these: choose a name that does not begin with MTLAUNCH_"},
};

/*
 * Variables a shell keeps for itself: read-only ones (POSIX and bash(1), "Shell Variables"), and those a
 * shell fills anew or that change how it reads its own script, so that a value would not arrive.
 */
static const char *const shell_names[] = {
    "UID",      "EUID",   "PPID",   "BASHOPTS", "BASH_VERSINFO", "SHELLOPTS",    "GROUPS",        "FUNCNAME",
    "DIRSTACK", "LINENO", "RANDOM", "SRANDOM",  "SECONDS",       "EPOCHSECONDS", "EPOCHREALTIME", "OPTIND",
    "BASHPID",  "IFS",    "_",
};

void env_release(struct env *env)
{
    for (size_t i = 0; !env->texts && i < env->len; i++) {
        free(env->items[i].name);
        free(env->items[i].value);
        free(env->items[i].source);
    }
    free(env->items);
    *env = (struct env)ENV_INIT;
}

static struct env_var *find(const struct env *env, const char *name)
{
    for (size_t i = 0; i < env->len; i++) {
        if (strcmp(env->items[i].name, name) == 0) {
            return &env->items[i];
        }
    }
    return NULL;
}

static char *keep(const struct env *env, const char *text)
{
    return env->texts ? texts_add(env->texts, text) : xstrdup(text);
}

static struct env_var *append(struct env *env)
{
    env->items = xgrow(env->items, env->len, &env->cap, sizeof env->items[0]);
    env->items[env->len] = (struct env_var){0};
    return &env->items[env->len++];
}

static struct env_var *set(struct env *env, const char *name, const char *value, const char *source)
{
    struct env_var *var = find(env, name);
    if (!var) {
        var = append(env);
        var->name = keep(env, name);
    }
    /* Make the new texts before the old ones are freed: value may point into this variable. */
    char *new_value = keep(env, value);
    char *new_source = keep(env, source);
    if (!env->texts) {
        free(var->value);
        free(var->source);
    }
    var->value = new_value;
    var->source = new_source;
    return var;
}

void env_set(struct env *env, const char *name, const char *value, const char *source)
{
    set(env, name, value, source);
}

const struct env_var *env_get(const struct env *env, const char *name)
{
    return find(env, name);
}

void env_copy(struct env *to, const struct env *from)
{
    for (size_t i = 0; i < from->len; i++) {
        const struct env_var *var = &from->items[i];
        set(to, var->name, var->value, var->source)->secret = var->secret;
    }
}

void env_append(struct env *to, const struct env *from)
{
    bool shared = to->texts && to->texts == from->texts;
    for (size_t i = 0; i < from->len; i++) {
        const struct env_var *var = &from->items[i];
        *append(to) = shared ? *var
                             : (struct env_var){.name = keep(to, var->name),
                                                .value = keep(to, var->value),
                                                .source = keep(to, var->source),
                                                .secret = var->secret};
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool env_name_valid(const char *name)
{
    if (!is_letter(name[0])) {
        return false;
    }
    for (const char *p = name; *p; p++) {
        if (!is_letter(*p) && !(*p >= '0' && *p <= '9')) {
            return false;
        }
    }
    return true;
}

static bool name_matches(const char *name, const char *pattern)
{
    size_t len = strlen(pattern);
    if (pattern[len - 1] == '*') {
        return strncmp(name, pattern, len - 1) == 0;
    }
    return strcmp(name, pattern) == 0;
}

int env_check_settable(const char *name, const char *value, struct error *err)
{
    if (!env_name_valid(name)) {
        error_set(err, &kind_usage, "'%s' is not a valid environment variable name", name);
        return error_hint(err, "use letters, digits and '_', not beginning with a digit");
    }
    for (size_t i = 0; i < ARRAY_LEN(refused_names); i++) {
        if (name_matches(name, refused_names[i].name)) {
            error_set(err, &kind_usage, "'%s' may not be set", name);
            return error_hint(err, "%s", refused_names[i].hint);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(shell_names); i++) {
        if (strcmp(name, shell_names[i]) == 0) {
            error_set(err, &kind_usage, "'%s' may not be set: the shell reserves it", name);
            return error_hint(err, "choose another name");
        }
    }
    size_t len = strlen(name) + 1 + (value ? strlen(value) : 0);
    if (len > ENV_VALUE_MAX) {
        error_set(err, &kind_usage,
                  "'%s' with its value is %zu bytes long; at most %d can be handed to a program", name, len,
                  ENV_VALUE_MAX);
        return error_hint(err, "put the value into a file and name the file");
    }
    return 0;
}
