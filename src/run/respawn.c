/* Saves what a restart of a run needs, and loads it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "input/jobfile.h"
#include "model/kind.h"
#include "plan_internal.h"
#include "record_internal.h"
#include "respawn_internal.h"

#define RESPAWN_MAX_BYTES ((size_t)64 << 20)

/* --- saving ------------------------------------------------------------------------------------- */

static json_t *host_json(const struct host *host)
{
    json_t *object = run_host_to_json(host);
    json_t *env = json_array();
    for (size_t i = 0; i < host->env.len; i++) {
        json_array_append_new(
            env, json_pack("[o, o]", js_exact(host->env.items[i].name), js_exact(host->env.items[i].value)));
    }
    json_object_set_new(object, "env", env);
    return object;
}

static const char *environ_value(const char *const *environ_, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; environ_ && environ_[i]; i++) {
        if (strncmp(environ_[i], name, len) == 0 && environ_[i][len] == '=') {
            return environ_[i] + len + 1;
        }
    }
    return NULL;
}

static void add_variable(json_t *array, const char *const *environ_, const char *name)
{
    const char *value = environ_value(environ_, name);
    if (value) {
        AUTO_FREE char *both = xasprintf("%s=%s", name, value);
        json_array_append_new(array, js_exact(both));
    }
}

/* The variables of the caller's environment that the job was made with: shortcuts, -e NAME, pass_env. */
static json_t *environ_json(const struct run_start_request *request, const char *const *environ_)
{
    static const char *const shortcuts[] = {"CONTAINER_NAME", "ZERO_STAGE",  "NPROC_PER_NODE",
                                            "MASTER_ADDR",    "MASTER_PORT", "ARTIFACT_ROOT"};
    json_t *array = json_array();
    struct env passed = ENV_INIT;
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        add_variable(array, environ_, shortcuts[i]);
    }
    for (size_t i = 0; request->asked->env && i < request->asked->env->len; i++) {
        if (!strchr(request->asked->env->items[i], '=')) {
            add_variable(array, environ_, request->asked->env->items[i]);
        }
    }
    plan_env_pass(request->job, environ_, &passed);
    for (size_t i = 0; i < passed.len; i++) {
        add_variable(array, environ_, passed.items[i].name);
    }
    env_release(&passed);
    return array;
}

static int save(const struct run_context *context, const char *name, const json_t *object, struct error *err)
{
    AUTO_FREE char *text = json_dumps(object, JSON_INDENT(1));
    if (!text) {
        return error_set(err, &kind_local, "the data for a restart can't be written as JSON");
    }
    return run_store_save_respawn(context->store, name, text, err);
}

static char *absolute(const char *path)
{
    AUTO_FREE char *folder = getcwd(NULL, 0);
    return folder ? path_join(folder, path) : xstrdup(path);
}

int run_respawn_save(const struct run_context *context, const struct run_start_request *request,
                     struct error *err)
{
    const struct job_request *asked = request->asked;
    AUTO_STR struct str text = STR_INIT;
    AUTO_FREE char *path = absolute(request->job->file);
    if (file_read(path, RESPAWN_MAX_BYTES, &text, err) != 0) {
        return -1;
    }
    json_t *object = json_object();
    json_object_set_new(object, "file", js_exact(path));
    json_object_set_new(object, "text", js_exact(str_text(&text)));
    json_object_set_new(object, "profiles", js_exact_list(asked->profiles));
    json_object_set_new(object, "sets", js_exact_list(asked->sets));
    json_object_set_new(object, "env", js_exact_list(asked->env));
    json_object_set_new(object, "rest", js_exact_list(asked->rest));
    json_object_set_new(object, "container", js_exact(asked->container));
    json_object_set_new(object, "zero_stage", js_exact(asked->zero_stage));
    json_object_set_new(object, "nproc_per_node", js_exact(asked->nproc_per_node));
    json_object_set_new(object, "master_addr", js_exact(asked->master_addr));
    json_object_set_new(object, "master_port", js_exact(asked->master_port));
    json_object_set_new(object, "artifacts", js_exact(asked->artifacts));
    json_object_set_new(object, "environ", environ_json(request, context->environ_));
    json_object_set_new(object, "no_check", json_boolean(request->no_check));
    json_object_set_new(object, "sync", json_boolean(request->sync));
    json_t *hosts = json_array();
    for (size_t i = 0; i < request->hosts->len; i++) {
        json_array_append_new(hosts, host_json(&request->hosts->items[i]));
    }
    json_object_set_new(object, "hosts", hosts);
    int result = save(context, request->run, object, err);
    json_decref(object);
    return result;
}

bool run_respawn_has(const struct run_store *store, const char *name)
{
    return run_store_has_respawn(store, name);
}

/* --- loading ------------------------------------------------------------------------------------ */

static int damaged(const char *name, struct error *err)
{
    return error_set(err, &kind_local, "the data to restart run '%s' is missing or damaged", name);
}

static void read_host(const json_t *object, struct host *host)
{
    const json_t *env = json_object_get(object, "env");
    run_host_from_json(object, host);
    for (size_t i = 0; i < json_array_size(env); i++) {
        AUTO_FREE char *name = js_exact_text(json_array_get(json_array_get(env, i), 0));
        AUTO_FREE char *value = js_exact_text(json_array_get(json_array_get(env, i), 1));
        if (name) {
            env_set(&host->env, name, value, "host list");
        }
    }
}

static void read_environ(struct run_respawn *respawn)
{
    const json_t *array = json_object_get(respawn->object, "environ");
    respawn->environ_ = xcalloc(json_array_size(array) + 1, sizeof(*respawn->environ_));
    for (size_t i = 0; i < json_array_size(array); i++) {
        char *both = js_exact_text(json_array_get(array, i));
        respawn->environ_[i] = both ? both : xstrdup("");
    }
}

static int read_job(struct run_respawn *respawn, const char *home, struct error *err)
{
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    AUTO_STRLIST struct strlist env = STRLIST_INIT;
    AUTO_STRLIST struct strlist rest = STRLIST_INIT;
    static const char *const keys[] = {"file",           "text",        "container",   "zero_stage",
                                       "nproc_per_node", "master_addr", "master_port", "artifacts"};
    char *texts[ARRAY_LEN(keys)];
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        texts[i] = js_exact_text(json_object_get(respawn->object, keys[i]));
    }
    js_get_list(respawn->object, "profiles", &profiles);
    js_get_list(respawn->object, "sets", &sets);
    js_get_list(respawn->object, "env", &env);
    js_get_list(respawn->object, "rest", &rest);
    const struct job_request request = {
        .job = texts[0],
        .profiles = &profiles,
        .sets = &sets,
        .env = &env,
        .rest = &rest,
        .container = texts[2],
        .zero_stage = texts[3],
        .nproc_per_node = texts[4],
        .master_addr = texts[5],
        .master_port = texts[6],
        .artifacts = texts[7],
        .environ_ = (const char *const *)(const void *)respawn->environ_,
        .home = home,
    };
    int result = -1;
    if (texts[0] && texts[1]) {
        result = jobfile_parse_text(&respawn->job, texts[0], texts[1], strlen(texts[1]), &request, NULL, NULL,
                                    err);
        respawn->has_job = result == 0;
    } else {
        damaged("?", err);
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        free(texts[i]);
    }
    return result;
}

static int load_object(const struct run_context *context, const char *name, struct run_respawn *respawn,
                       struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (run_store_load_respawn(context->store, name, RESPAWN_MAX_BYTES, &text, err) != 0) {
        return -1;
    }
    respawn->object = json_loadb(str_text(&text), text.len, 0, NULL);
    return json_array_size(json_object_get(respawn->object, "hosts")) > 0 ? 0 : damaged(name, err);
}

int run_respawn_load(const struct run_context *context, const char *name, struct run_respawn *respawn,
                     struct error *err)
{
    if (load_object(context, name, respawn, err) != 0) {
        return -1;
    }
    const json_t *hosts = json_object_get(respawn->object, "hosts");
    size_t count = json_array_size(hosts);
    respawn->reached.list.items = xcalloc(count, sizeof(*respawn->reached.list.items));
    respawn->reached.list.cap = count;
    for (; respawn->reached.list.len < count; respawn->reached.list.len++) {
        read_host(json_array_get(hosts, respawn->reached.list.len),
                  &respawn->reached.list.items[respawn->reached.list.len]);
    }
    respawn->reached.list.source = xstrdup("the run's record");
    read_environ(respawn);
    return read_job(respawn, context->home, err) != 0
               ? -1
               : reached_hosts_resolve(&respawn->reached, &respawn->job, context->home, err);
}

void run_respawn_release(struct run_respawn *respawn)
{
    reached_hosts_release(&respawn->reached);
    if (respawn->has_job) {
        job_release(&respawn->job);
    }
    for (size_t i = 0; respawn->environ_ && respawn->environ_[i]; i++) {
        free(respawn->environ_[i]);
    }
    free(respawn->environ_);
    json_decref(respawn->object);
    *respawn = (struct run_respawn){0};
}

int run_respawn_replace_host(const struct run_context *context, const char *name, size_t index,
                             const struct host *host, struct error *err)
{
    struct run_respawn respawn = {0};
    int result = load_object(context, name, &respawn, err);
    if (result == 0) {
        json_array_set_new(json_object_get(respawn.object, "hosts"), index, host_json(host));
        result = save(context, name, respawn.object, err);
    }
    run_respawn_release(&respawn);
    return result;
}
