/*
 * Writes a job as a job file, with the tables that the reader uses. Default values are left out, and values
 * of secret variables are "***".
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

#define MASK "***"

static bool is_secret(const struct job *job, const char *name)
{
    return text_matches_any(name, job->secret_env.items, job->secret_env.len);
}

/* --- values by their type ------------------------------------------------------------------------------- */

static const void *place_of(const struct job *job, const struct field *field)
{
    return (const char *)job + field->offset;
}

json_t *write_text(const struct job *job, const struct field *field)
{
    const char *text = *(char *const *)place_of(job, field);
    return text ? js_text(text) : NULL;
}

json_t *write_list(const struct job *job, const struct field *field)
{
    const struct strlist *list = place_of(job, field);
    return list->len > 0 ? js_list(list) : NULL;
}

static json_t *write_count(const struct job *job, const struct field *field)
{
    const unsigned number = *(const unsigned *)place_of(job, field);
    return number >= field->min ? json_integer(number) : NULL;
}

static json_t *write_choice(const struct job *job, const struct field *field)
{
    const unsigned value = *(const unsigned *)place_of(job, field);
    for (size_t i = 0; i < field->choices_count; i++) {
        if (field->choices[i].value == value) {
            return js_text(field->choices[i].name);
        }
    }
    return NULL;
}

/* NULL: there is nothing to write. */
static json_t *write_value(const struct job *job, const struct field *field)
{
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_PATH:
    case FIELD_NAME:
        return write_text(job, field);
    case FIELD_LIST:
        return write_list(job, field);
    case FIELD_COUNT:
        return write_count(job, field);
    case FIELD_DURATION:
        return json_integer((json_int_t) * (const unsigned long *)place_of(job, field));
    case FIELD_CHOICE:
        return write_choice(job, field);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)place_of(job, field));
    case FIELD_MAP:
    case FIELD_CUSTOM:
    case FIELD_DONE:
        break;
    }
    return field->write ? field->write(job, field) : NULL;
}

/* The value, or NULL if it is the default. */
static json_t *write_changed(const struct job *job, const struct job *normal, const struct field *field)
{
    json_t *value = write_value(job, field), *otherwise = write_value(normal, field);
    if (value && otherwise && json_equal(value, otherwise)) {
        json_decref(value);
        value = NULL;
    } else if (!value && json_is_array(otherwise)) {
        value = json_array(); /* an empty list replaces the default */
    }
    json_decref(otherwise);
    return value;
}

static json_t *write_table(const struct job *job, const struct job *normal, const struct field_table *table)
{
    json_t *object = json_object();
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        json_t *value =
            field->table ? write_table(job, normal, field->table) : write_changed(job, normal, field);
        if (value && (!field->table || json_object_size(value) > 0)) {
            json_object_set_new(object, field->key, value);
        } else {
            json_decref(value);
        }
    }
    return object;
}

/* --- values of their own kind --------------------------------------------------------------------------- */

json_t *write_hosts(const struct job *job, const struct field *field)
{
    AUTO_STRLIST struct strlist entries = STRLIST_INIT;
    (void)field;
    for (const char *at = job->hosts_is_list ? job->hosts : NULL; at && *at != '\0';) {
        const size_t len = strcspn(at, "\n");
        if (strspn(at, " ") < len) {
            strlist_add_mem(&entries, at, len);
        }
        at += len + (at[len] == '\n');
    }
    return entries.len > 0 ? js_list(&entries) : job->hosts ? js_text(job->hosts) : NULL;
}

/* An absolute path, because the job file that is written may be in another folder. */
json_t *write_hostfile(const struct job *job, const struct field *field)
{
    (void)field;
    if (!job->hostfile || job->hostfile[0] == '/') {
        return job->hostfile ? js_text(job->hostfile) : NULL;
    }
    AUTO_FREE char *here = getcwd(NULL, 0);
    AUTO_FREE char *path = path_join(here ? here : ".", job->hostfile);
    return js_text(path);
}

json_t *write_program(const struct job *job, const struct field *field)
{
    (void)field;
    if (job->program.len == 0) {
        return NULL;
    }
    return job->program_is_list ? js_list(&job->program) : js_text(job->program.items[0]);
}

json_t *write_args(const struct job *job, const struct field *field)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    const struct launcher *launcher = launcher_find(job->launcher, NULL);
    (void)field;
    launcher_map_args(&job->args, launcher && launcher->bool_values, &words);
    strlist_copy(&words, &job->extra_args);
    return words.len > 0 ? js_list(&words) : NULL;
}

/* The variables of files, of the spec and of options as one mapping. */
json_t *write_env(const struct job *job, const struct field *field)
{
    const struct env *const envs[] = {&job->env_files, &job->env, &job->env_options};
    json_t *object = json_object();
    (void)field;
    for (size_t e = 0; e < ARRAY_LEN(envs); e++) {
        for (size_t i = 0; i < envs[e]->len; i++) {
            const struct env_var *var = &envs[e]->items[i];
            json_object_set_new(object, var->name, js_text(is_secret(job, var->name) ? MASK : var->value));
        }
    }
    if (json_object_size(object) > 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

/* NULL: the variables of the files are in env. */
json_t *write_env_file(const struct job *job, const struct field *field)
{
    (void)job;
    (void)field;
    return NULL;
}

/* Without the default, because a list in a job file adds to it. */
json_t *write_secret_env(const struct job *job, const struct field *field)
{
    struct job normal;
    json_t *array = json_array();
    (void)field;
    job_init(&normal);
    for (size_t i = normal.secret_env.len; i < job->secret_env.len; i++) {
        json_array_append_new(array, js_text(job->secret_env.items[i]));
    }
    job_release(&normal);
    if (json_array_size(array) > 0) {
        return array;
    }
    json_decref(array);
    return NULL;
}

/* Values of the container's variables are never shown. */
json_t *write_run_env(const struct job *job, const struct field *field)
{
    const struct strlist *env = &job->container.run.env;
    json_t *object = env->len > 0 ? json_object() : NULL;
    (void)field;
    for (size_t i = 0; i < env->len; i++) {
        AUTO_FREE char *name = xstrndup(env->items[i], strcspn(env->items[i], "="));
        json_object_set_new(object, name, js_text(MASK));
    }
    return object;
}

static json_t *write_size(uint64_t bytes)
{
    return bytes > 0 ? json_integer((json_int_t)bytes) : NULL;
}

json_t *write_shm_size(const struct job *job, const struct field *field)
{
    (void)field;
    return write_size(job->container.run.shm_size_bytes);
}

json_t *write_free_disk(const struct job *job, const struct field *field)
{
    (void)field;
    return write_size(job->require.free_disk_bytes);
}

json_t *write_shm(const struct job *job, const struct field *field)
{
    (void)field;
    return write_size(job->require.shm_bytes);
}

/* Seconds, 0: off. */
json_t *write_off_or_duration(const struct job *job, const struct field *field)
{
    const unsigned long seconds = *(const unsigned long *)place_of(job, field);
    return seconds > 0 ? json_integer((json_int_t)seconds) : NULL;
}

json_t *write_prepare(const struct job *job, const struct field *field)
{
    json_t *array = job->prepare_len > 0 ? json_array() : NULL;
    (void)field;
    for (size_t i = 0; i < job->prepare_len; i++) {
        const struct job_step *step = &job->prepare[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", js_text(step->name));
        json_object_set_new(object, "on", js_text(step->on_all ? "all" : "first"));
        json_object_set_new(object, "command",
                            step->is_line ? js_text(step->command.items[0]) : js_list(&step->command));
        if (step->creates) {
            json_object_set_new(object, "creates", js_text(step->creates));
        }
        json_object_set_new(object, "timeout", json_integer((json_int_t)step->timeout_s));
        json_array_append_new(array, object);
    }
    return array;
}

/* The part of a URL after the host is a secret. */
static json_t *masked_url(const char *url)
{
    AUTO_STR struct str shown = STR_INIT;
    const char *host = strstr(url, "://");
    const size_t len = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0;
    str_add_mem(&shown, url, len);
    str_add(&shown, "/" MASK);
    return js_text(str_text(&shown));
}

json_t *write_notify(const struct job *job, const struct field *field)
{
    json_t *array = job->notify.len > 0 ? json_array() : NULL;
    (void)field;
    for (size_t i = 0; i < job->notify.len; i++) {
        const struct notify_target *target = &job->notify.items[i];
        json_t *object = json_object(), *on = json_array();
        for (unsigned event = 0; event < NOTIFY_EVENTS; event++) {
            if (target->on & NOTIFY_BIT(event)) {
                json_array_append_new(on, js_text(notify_event_names[event]));
            }
        }
        json_object_set_new(object, "url", masked_url(target->url));
        json_object_set_new(object, "on", on);
        json_object_set_new(object, "format", js_text(notify_format_names[target->format]));
        json_object_set_new(object, "allow_http", json_boolean(target->allow_http));
        json_array_append_new(array, object);
    }
    return array;
}

/* --- the whole ------------------------------------------------------------------------------------------ */

/* The hosts in use, whatever source they come from. The values of their secret variables are masked. */
static json_t *write_host_list(const struct job *job, const struct hostlist *hosts)
{
    json_t *array = json_array();
    for (size_t i = 0; i < hosts->len; i++) {
        AUTO_STR struct str entry = STR_INIT;
        struct host host;
        host_copy(&host, &hosts->items[i]);
        for (size_t e = 0; e < host.env.len; e++) {
            if (is_secret(job, host.env.items[e].name)) {
                env_set(&host.env, host.env.items[e].name, MASK, NULL);
            }
        }
        hostlist_write_entry(&host, &entry);
        json_array_append_new(array, js_text(str_text(&entry)));
        host_release(&host);
    }
    return array;
}

json_t *jobfile_to_json(const struct job *job, const struct hostlist *hosts)
{
    struct job normal;
    job_init(&normal);
    json_t *object = write_table(job, &normal, &job_fields);
    job_release(&normal);
    json_object_set_new(object, "job", js_text(job->name));
    json_object_set_new(object, "launcher", js_text(job->launcher));
    if (job->zero_stage_given) {
        json_object_set_new(object, "zero_stage", json_integer(job->zero_stage));
    }
    if (job->policy.on_failure_given && job->policy.on_failure == POLICY_STOP) {
        json_object_set_new(object, "on_failure", js_text("stop"));
    }
    if (!job->place.container) {
        json_object_del(object, "container");
    }
    if (hosts && hosts->len > 0 && !hosts->items[0].here) {
        json_object_set_new(object, "hosts", write_host_list(job, hosts));
        json_object_del(object, "hostfile");
    }
    return object;
}
