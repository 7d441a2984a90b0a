/*
 * Compares container.run of a spec with the output of an engine's inspect. Sources: docker's API
 * types/container (HostConfig, Config), podman's inspect in its docker-compatible form.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "model/kind.h"
#include "run/container.h"

#define LABEL_JOB   "mtlaunch.job"
#define LABEL_EXTRA "mtlaunch.extra"

/* --- from the spec ------------------------------------------------------------------------------- */

static void add_text(struct strlist *words, const char *option, const char *value)
{
    if (value) {
        strlist_addf(words, "--%s=%s", option, value);
    }
}

static void add_list(struct strlist *words, const char *option, const struct strlist *values)
{
    for (size_t i = 0; i < values->len; i++) {
        add_text(words, option, values->items[i]);
    }
}

/* docker parses the value of --gpus as a line of CSV; podman uses CDI devices for GPUs. */
static void add_gpus(const struct job *job, struct strlist *words)
{
    const char *gpus = job->container.run.gpus;
    uint64_t count = 0;
    if (!gpus || strcmp(gpus, "none") == 0) {
        return;
    }
    if (strcmp(job->place.engine, "podman") != 0) {
        strlist_addf(words, text_starts(gpus, "device=") ? "--gpus=\"%s\"" : "--gpus=%s", gpus);
        return;
    }
    if (strcmp(gpus, "all") == 0) {
        strlist_add(words, "--device=nvidia.com/gpu=all");
    } else if (text_to_uint(gpus, 1, 1024, &count)) {
        for (uint64_t i = 0; i < count; i++) {
            strlist_addf(words, "--device=nvidia.com/gpu=%llu", (unsigned long long)i);
        }
    } else {
        for (const char *at = gpus + strlen("device="); *at != '\0';) {
            size_t len = strcspn(at, ",");
            strlist_addf(words, "--device=nvidia.com/gpu=%.*s", (int)len, at);
            at += len + (at[len] == ',');
        }
    }
}

static char *extra_text(const struct job *job)
{
    AUTO_STR struct str text = STR_INIT;
    quote_argv_pretty(&text, job->container.run.extra.items, job->container.run.extra.len);
    return str_detach(&text);
}

void container_run_words(const struct job *job, struct strlist *words)
{
    const struct job_container_run *run = &job->container.run;
    strlist_add(words, "-dit");
    strlist_add(words, "--name");
    strlist_add(words, job->place.container);
    strlist_addf(words, "--label=" LABEL_JOB "=%s", job->name);
    if (run->extra.len > 0) {
        AUTO_FREE char *extra = extra_text(job);
        strlist_addf(words, "--label=" LABEL_EXTRA "=%s", extra);
    }
    if (run->env.len > 0) {
        strlist_add(words, "--env-file=/dev/stdin");
    }
    add_gpus(job, words);
    add_text(words, "network", run->network);
    add_text(words, "ipc", run->ipc);
    if (run->shm_size_bytes > 0) {
        strlist_addf(words, "--shm-size=%llub", run->shm_size_bytes);
    }
    if (run->privileged) {
        strlist_add(words, "--privileged");
    }
    add_list(words, "cap-add", &run->cap_add);
    add_list(words, "ulimit", &run->ulimit);
    add_list(words, "device", &run->devices);
    add_list(words, "volume", &run->volumes);
    add_text(words, "user", run->user);
    add_text(words, "workdir", run->workdir);
    for (size_t i = 0; i < run->extra.len; i++) {
        strlist_add(words, run->extra.items[i]);
    }
    strlist_add(words, run->image);
    for (size_t i = 0; i < run->command.len; i++) {
        strlist_add(words, run->command.items[i]);
    }
}

/* --- comparing ----------------------------------------------------------------------------------- */

struct comparison {
    const struct job *job;
    const json_t *config, *host;
    struct strlist *differences;
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void compare_text(const struct comparison *comparison, const char *key, const char *wanted,
                         const char *is)
{
    if (wanted && strcmp(wanted, is) != 0) {
        strlist_addf(comparison->differences, "%s is '%s', the spec says '%s'", key, is, wanted);
    }
}

/* Convert a value that can be written in several ways to one form; the caller frees it. */
typedef char *normal_form(const char *text);

/* "CAP_IPC_LOCK", "ipc_lock" */
static char *normal_capability(const char *text)
{
    char *form = xstrdup(strncasecmp(text, "CAP_", 4) == 0 ? text + 4 : text);
    for (char *at = form; *at != '\0'; at++) {
        *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    }
    return form;
}

/* "/a:/b", "/a:/b:rw", "/a:/b:rw,rprivate,rbind" (podman): only ro matters */
static char *normal_volume(const char *text)
{
    const char *first = strchr(text, ':');
    const char *second = first ? strchr(first + 1, ':') : NULL;
    if (!second) {
        return xstrdup(text);
    }
    bool read_only = false;
    for (const char *at = second + 1; *at != '\0'; at += *at == ',') {
        size_t len = strcspn(at, ",");
        read_only = read_only || (len == 2 && strncmp(at, "ro", 2) == 0);
        at += len;
    }
    return xasprintf("%.*s%s", (int)(second - text), text, read_only ? ":ro" : "");
}

/* "/dev/x" is "/dev/x:/dev/x:rwm" */
static char *normal_device(const char *text)
{
    const char *first = strchr(text, ':');
    if (!first) {
        return xasprintf("%s:%s:rwm", text, text);
    }
    return strchr(first + 1, ':') ? xstrdup(text) : xasprintf("%s:rwm", text);
}

/* "memlock=-1" is "memlock=-1:-1" */
static char *normal_ulimit(const char *text)
{
    const char *equals = strchr(text, '=');
    return !equals || strchr(equals, ':') ? xstrdup(text) : xasprintf("%s:%s", text, equals + 1);
}

static bool has_form(const struct strlist *list, const char *text, normal_form *normal)
{
    AUTO_FREE char *form = normal(text);
    for (size_t i = 0; i < list->len; i++) {
        AUTO_FREE char *other = normal(list->items[i]);
        if (strcmp(form, other) == 0) {
            return true;
        }
    }
    return false;
}

/* An item that the spec does not list is a difference, unless options passed in 'extra' may explain it. */
static void compare_lists(const struct comparison *comparison, const char *key, const struct strlist *wanted,
                          const struct strlist *is, normal_form *normal)
{
    for (size_t i = 0; i < wanted->len; i++) {
        if (!has_form(is, wanted->items[i], normal)) {
            strlist_addf(comparison->differences, "%s lacks '%s'", key, wanted->items[i]);
        }
    }
    for (size_t i = 0; i < is->len && comparison->job->container.run.extra.len == 0 && wanted->len > 0; i++) {
        if (!has_form(wanted, is->items[i], normal)) {
            strlist_addf(comparison->differences, "%s has '%s', the spec does not", key, is->items[i]);
        }
    }
}

static void list_of(const json_t *array, struct strlist *out)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (text) {
            strlist_add(out, text);
        }
    }
}

static void compare_command(const struct comparison *comparison)
{
    const struct strlist *wanted = &comparison->job->container.run.command;
    AUTO_STRLIST struct strlist is = STRLIST_INIT;
    AUTO_STR struct str is_text = STR_INIT;
    AUTO_STR struct str wanted_text = STR_INIT;
    if (wanted->len == 0) {
        return;
    }
    list_of(json_object_get(comparison->config, "Cmd"), &is);
    quote_argv_pretty(&is_text, is.items, is.len);
    quote_argv_pretty(&wanted_text, wanted->items, wanted->len);
    compare_text(comparison, "command", str_text(&wanted_text), str_text(&is_text));
}

static void compare_string_list(const struct comparison *comparison, const char *key, const char *theirs,
                                const struct strlist *wanted, normal_form *normal)
{
    AUTO_STRLIST struct strlist is = STRLIST_INIT;
    list_of(json_object_get(comparison->host, theirs), &is);
    compare_lists(comparison, key, wanted, &is, normal);
}

static void compare_devices(const struct comparison *comparison)
{
    const json_t *array = json_object_get(comparison->host, "Devices");
    AUTO_STRLIST struct strlist is = STRLIST_INIT;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *device = json_array_get(array, i);
        const char *rights = text_of(device, "CgroupPermissions");
        strlist_addf(&is, "%s:%s:%s", text_of(device, "PathOnHost"), text_of(device, "PathInContainer"),
                     rights[0] != '\0' ? rights : "rwm");
    }
    compare_lists(comparison, "devices", &comparison->job->container.run.devices, &is, normal_device);
}

/* docker names a limit "memlock", podman "RLIMIT_MEMLOCK". */
static void compare_ulimits(const struct comparison *comparison)
{
    const json_t *array = json_object_get(comparison->host, "Ulimits");
    AUTO_STRLIST struct strlist is = STRLIST_INIT;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *limit = json_array_get(array, i);
        const char *name = text_of(limit, "Name");
        AUTO_FREE char *plain = xstrdup(strncmp(name, "RLIMIT_", 7) == 0 ? name + 7 : name);
        for (char *at = plain; *at != '\0'; at++) {
            *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        }
        strlist_addf(&is, "%s=%lld:%lld", plain,
                     (long long)json_integer_value(json_object_get(limit, "Soft")),
                     (long long)json_integer_value(json_object_get(limit, "Hard")));
    }
    compare_lists(comparison, "ulimit", &comparison->job->container.run.ulimit, &is, normal_ulimit);
}

/*
 * The image has variables of its own, so only the variables of the spec are compared; values are never shown.
 */
static void compare_env(const struct comparison *comparison)
{
    const struct strlist *wanted = &comparison->job->container.run.env;
    AUTO_STRLIST struct strlist is = STRLIST_INIT;
    list_of(json_object_get(comparison->config, "Env"), &is);
    for (size_t i = 0; i < wanted->len; i++) {
        if (!strlist_has(&is, wanted->items[i])) {
            strlist_addf(comparison->differences, "env lacks '%.*s' with the value of the spec",
                         (int)strcspn(wanted->items[i], "="), wanted->items[i]);
        }
    }
}

/* docker stores GPUs as device requests; count -1 means all. */
static void compare_gpus(const struct comparison *comparison)
{
    const struct job *job = comparison->job;
    const json_t *requests = json_object_get(comparison->host, "DeviceRequests");
    AUTO_FREE char *is = xstrdup("none");
    if (!job->container.run.gpus || strcmp(job->place.engine, "podman") == 0) {
        return; /* podman's inspect does not distinguish CDI devices from others */
    }
    for (size_t i = 0; i < json_array_size(requests); i++) {
        const json_t *request = json_array_get(requests, i);
        AUTO_STRLIST struct strlist ids = STRLIST_INIT;
        json_int_t count = json_integer_value(json_object_get(request, "Count"));
        list_of(json_object_get(request, "DeviceIDs"), &ids);
        AUTO_FREE char *joined = strlist_join(&ids, ",");
        free(is);
        is = ids.len > 0   ? xasprintf("device=%s", joined)
             : count == -1 ? xstrdup("all")
                           : xasprintf("%lld", (long long)count);
    }
    compare_text(comparison, "gpus", job->container.run.gpus, is);
}

static void compare_shm(const struct comparison *comparison)
{
    unsigned long long wanted = comparison->job->container.run.shm_size_bytes;
    json_int_t is = json_integer_value(json_object_get(comparison->host, "ShmSize"));
    if (wanted > 0 && (json_int_t)wanted != is) {
        strlist_addf(comparison->differences, "shm_size is %lld bytes, the spec says %llu", (long long)is,
                     wanted);
    }
}

static void compare_privileged(const struct comparison *comparison)
{
    bool wanted = comparison->job->container.run.privileged;
    bool is = json_is_true(json_object_get(comparison->host, "Privileged"));
    if (wanted != is && (wanted || comparison->job->container.run.extra.len == 0)) {
        compare_text(comparison, "privileged", wanted ? "true" : "false", is ? "true" : "false");
    }
}

static void compare_all(const struct comparison *comparison)
{
    const struct job_container_run *run = &comparison->job->container.run;
    compare_text(comparison, "image", run->image, text_of(comparison->config, "Image"));
    compare_command(comparison);
    compare_gpus(comparison);
    compare_text(comparison, "network", run->network, text_of(comparison->host, "NetworkMode"));
    compare_text(comparison, "ipc", run->ipc, text_of(comparison->host, "IpcMode"));
    compare_shm(comparison);
    compare_privileged(comparison);
    compare_string_list(comparison, "cap_add", "CapAdd", &run->cap_add, normal_capability);
    compare_ulimits(comparison);
    compare_devices(comparison);
    compare_string_list(comparison, "volumes", "Binds", &run->volumes, normal_volume);
    compare_env(comparison);
    compare_text(comparison, "user", run->user, text_of(comparison->config, "User"));
    compare_text(comparison, "workdir", run->workdir, text_of(comparison->config, "WorkingDir"));
    const json_t *labels = json_object_get(comparison->config, "Labels");
    if (json_object_get(labels, LABEL_JOB)) {
        AUTO_FREE char *extra = extra_text(comparison->job);
        compare_text(comparison, "extra", extra, text_of(labels, LABEL_EXTRA));
    }
}

int container_compare(const struct job *job, const char *inspect, const char *image_id,
                      struct run_container *out, struct error *err)
{
    json_t *array = json_loads(inspect, 0, NULL);
    const json_t *object = json_array_get(array, 0);
    const struct comparison comparison = {
        .job = job,
        .config = json_object_get(object, "Config"),
        .host = json_object_get(object, "HostConfig"),
        .differences = &out->differences,
    };
    if (!json_is_object(comparison.config) || !json_is_object(comparison.host)) {
        json_decref(array);
        return error_set(err, &kind_node_answer,
                         "what the engine says of container '%s' cannot be understood", job->place.container);
    }
    const char *made_for =
        json_string_value(json_object_get(json_object_get(comparison.config, "Labels"), LABEL_JOB));
    out->image = xstrdup(text_of(comparison.config, "Image"));
    out->job = xstrdup(made_for);
    if (job->container.run.image) {
        const char *is = text_of(object, "Image");
        compare_all(&comparison);
        if (out->differences.len == 0 && image_id && is[0] != '\0' && strcmp(image_id, is) != 0) {
            strlist_addf(&out->differences, "image '%s' has changed since: it was %.19s, it is %.19s now",
                         job->container.run.image, is, image_id);
        }
    }
    json_decref(array);
    return 0;
}
