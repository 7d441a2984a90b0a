/* An environment as an ordered list of names with values and where each came from. */
#ifndef MTLAUNCH_MODEL_ENV_H
#define MTLAUNCH_MODEL_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

struct env_var {
    char *name;
    char *value;  /* NULL: known only at the start (dry run of a plan) */
    char *source; /* "default", "spec", "env_file cluster.env:3", "caller (NCCL_*)", "computed", "on start",
                     "-e" … */
    bool secret;  /* matches secret_env: printed as "***" only */
};

struct env {
    struct env_var *items;
    size_t len;
    size_t cap;
    struct texts *texts; /* borrowed; if set, it owns all strings. Set it only while env is empty */
};

/* clang-format off */
#define ENV_INIT {0}
/* clang-format on */

void env_release(struct env *env);
/* Set name (replacing an earlier one in its place in the order). value may be NULL. */
void env_set(struct env *env, const char *name, const char *value, const char *source);
const struct env_var *env_get(const struct env *env, const char *name);
void env_copy(struct env *to, const struct env *from); /* env_set of each */
/* The same without a search for equal names: no name of from may be in to. */
void env_append(struct env *to, const struct env *from);

/* [A-Za-z_][A-Za-z0-9_]* */
bool env_name_valid(const char *name);

/*
 * May a user set this name? Computed names (NNODES, NPROC_PER_NODE, NODE_RANK, MASTER_ADDR,
 * MASTER_PORT, ZERO_STAGE, RANK, LOCAL_RANK, WORLD_SIZE, MTLAUNCH_*) and read-only shell names (UID,
 * EUID, PPID, BASHOPTS, BASH_VERSINFO, SHELLOPTS …) may not; the error's hint names the option to use.
 * Also refuses names that are not valid and NAME=VALUE above 131,071 bytes. kind_usage; callers add the
 * place.
 */
int env_check_settable(const char *name, const char *value, struct error *err);

#define ENV_VALUE_MAX 131071

#endif
