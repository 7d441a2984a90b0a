/* The run store on disk: records, events, secrets and locks. */
#include "run/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "model/kind.h"
#include "record_internal.h"

#define RECORD_MAX_BYTES ((size_t)256 << 20) /* enough for 65,536 nodes with long paths */
#define EVENTS_MAX_BYTES ((size_t)16 << 20)
#define RESPAWN_FILE     "again"  /* the name that older versions gave it */
#define LOCKS_FOLDER     ".locks" /* no run can have this name: run names start with a letter or digit */

int run_store_open(struct run_store *store, const char *xdg_state_home, const char *home, struct error *err)
{
    if (xdg_state_home && xdg_state_home[0] == '/') {
        store->root = path_join(xdg_state_home, "mtlaunch/runs");
        return 0;
    }
    if (!home || home[0] != '/') {
        error_set(err, &kind_local, "neither XDG_STATE_HOME nor HOME names a folder for the run records");
        return error_hint(err, "set HOME or XDG_STATE_HOME to an absolute path");
    }
    store->root = path_join(home, ".local/state/mtlaunch/runs");
    return 0;
}

void run_store_release(struct run_store *store)
{
    free(store->root);
    store->root = NULL;
}

static char *run_folder(const struct run_store *store, const char *name)
{
    return path_join(store->root, name);
}

static char *run_file(const struct run_store *store, const char *name, const char *file)
{
    return xasprintf("%s/%s/%s", store->root, name, file);
}

bool run_store_has(const struct run_store *store, const char *name)
{
    AUTO_FREE char *path = run_file(store, name, "run.json");
    return file_exists(path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int run_store_names(const struct run_store *store, struct strlist *names, struct error *err)
{
    DIR *folder = opendir(store->root);
    if (!folder) {
        return errno == ENOENT ? 0
                               : error_set(err, &kind_local, "the run records '%s' can't be read: %s",
                                           store->root, strerror(errno));
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.' && run_store_has(store, entry->d_name)) {
            strlist_add(names, entry->d_name);
        }
    }
    closedir(folder);
    if (names->len > 0) {
        qsort(names->items, names->len, sizeof(*names->items), compare_names);
    }
    return 0;
}

static int no_such_run(const struct run_store *store, const char *name, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    error_set(err, &kind_no_such_run, "no run '%s' here", name);
    if (run_store_names(store, &names, NULL) == 0 && names.len > 0) {
        const char *nearest = text_nearest(name, (const char *const *)names.items, names.len);
        if (nearest) {
            return error_hint(err, "did you mean '%s'?", nearest);
        }
        return error_hint(err, "`mtlaunch list` shows the runs");
    }
    return error_hint(err, "there are no runs in '%s'", store->root);
}

int run_store_load(const struct run_store *store, const char *name, struct run *run, struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, "run.json");
    AUTO_STR struct str text = STR_INIT;
    run_init(run);
    if (!file_exists(path)) {
        return no_such_run(store, name, err);
    }
    if (file_read(path, RECORD_MAX_BYTES, &text, err) != 0) {
        return -1;
    }
    return run_record_read(text.data, text.len, path, run, err);
}

/* Read the first line of a file, without its newline. */
static bool read_first_line(const char *path, struct str *line)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t len = file ? getline(&text, &room, file) : -1;
    if (len > 1) {
        str_add_mem(line, text, (size_t)len - 1);
    }
    free(text);
    if (file) {
        fclose(file);
    }
    return len > 1;
}

int run_store_load_heading(const struct run_store *store, const char *name, struct run *run,
                           size_t *node_count, struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, "run.json");
    AUTO_STR struct str line = STR_INIT;
    if (read_first_line(path, &line) && run_record_read_heading(line.data, line.len, run, node_count)) {
        return 0;
    }
    int result = run_store_load(store, name, run, err);
    *node_count = run->nodes_len;
    return result;
}

int run_store_save(const struct run_store *store, const struct run *run, struct error *err)
{
    AUTO_FREE char *folder = run_folder(store, run->name);
    AUTO_FREE char *path = run_file(store, run->name, "run.json");
    if (file_make_dirs(folder, 0700, err) != 0) {
        return -1;
    }
    AUTO_FREE char *text = run_record_write(run);
    if (!text) {
        return error_set(err, &kind_local, "the record of run '%s' can't be written as JSON", run->name);
    }
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

int64_t run_store_stamp(const struct run_store *store, const char *name)
{
    AUTO_FREE char *path = run_file(store, name, "run.json");
    struct stat info;
    if (stat(path, &info) != 0) {
        return 0;
    }
    return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec + (int64_t)info.st_ino;
}

int run_store_lock(const struct run_store *store, const char *name, unsigned wait_ms, struct error *err)
{
    AUTO_FREE char *folder = path_join(store->root, LOCKS_FOLDER);
    AUTO_FREE char *path = xasprintf("%s/%s/%s", store->root, LOCKS_FOLDER, name);
    if (file_make_dirs(folder, 0700, err) != 0) {
        return -1;
    }
    return file_lock(path, wait_ms, err);
}

int run_store_save_secrets(const struct run_store *store, const char *name, const struct env *env,
                           struct error *err)
{
    json_t *object = json_object();
    for (size_t i = 0; i < env->len; i++) {
        if (env->items[i].secret && env->items[i].value) {
            /* JSON requires UTF-8: a value that is not UTF-8 is left out. */
            json_object_set_new(object, env->items[i].name, json_string(env->items[i].value));
        }
    }
    int result = 0;
    if (json_object_size(object) > 0) {
        AUTO_FREE char *text = json_dumps(object, JSON_INDENT(1));
        AUTO_FREE char *path = run_file(store, name, "secrets");
        result = file_write_atomic(path, text, strlen(text), 0600, err);
    }
    json_decref(object);
    return result;
}

int run_store_save_respawn(const struct run_store *store, const char *name, const char *text,
                           struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, RESPAWN_FILE);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

bool run_store_has_respawn(const struct run_store *store, const char *name)
{
    AUTO_FREE char *path = run_file(store, name, RESPAWN_FILE);
    return file_exists(path);
}

int run_store_load_respawn(const struct run_store *store, const char *name, size_t max_bytes,
                           struct str *text, struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, RESPAWN_FILE);
    return file_read(path, max_bytes, text, err);
}

void run_store_drop_secrets(const struct run_store *store, const char *name)
{
    AUTO_FREE char *respawn = run_file(store, name, RESPAWN_FILE); /* contains variables that may be secret */
    unlink(respawn);
    AUTO_FREE char *path = run_file(store, name, "secrets");
    AUTO_FREE char *notify = run_file(store, name, "notify"); /* contains URLs with tokens */
    unlink(path);
    unlink(notify);
}

/* --- events ------------------------------------------------------------------------------------- */

int run_store_add_event(const struct run_store *store, const char *name, int64_t time_ms, const char *event,
                        const char *host, const char *text, struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, "events.jsonl");
    json_t *object = json_object();
    json_object_set_new(object, "time_ms", json_integer(time_ms));
    json_object_set_new(object, "event", json_string(event));
    json_object_set_new(object, "host", host ? json_string(host) : json_null());
    AUTO_STR struct str clean = STR_INIT;
    text_add_utf8(&clean, text, strlen(text));
    json_object_set_new(object, "text", json_string(str_text(&clean)));
    AUTO_FREE char *line = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    AUTO_FREE char *whole = xasprintf("%s\n", line);
    return file_append(path, whole, strlen(whole), 0600, err);
}

static bool event_from_line(const char *line, size_t len, struct run_event *event)
{
    json_t *object = json_loadb(line, len, 0, NULL);
    const char *name = json_string_value(json_object_get(object, "event"));
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *host = json_string_value(json_object_get(object, "host"));
    bool whole = name && text;
    if (whole) {
        event->time_ms = json_integer_value(json_object_get(object, "time_ms"));
        event->event = xstrdup(name);
        event->text = xstrdup(text);
        event->host = xstrdup(host);
    }
    json_decref(object);
    return whole;
}

static void event_release(struct run_event *event)
{
    free(event->event);
    free(event->host);
    free(event->text);
}

int run_store_events(const struct run_store *store, const char *name, size_t max, struct run_events *events,
                     struct error *err)
{
    AUTO_FREE char *path = run_file(store, name, "events.jsonl");
    AUTO_STR struct str text = STR_INIT;
    if (!file_exists(path)) {
        return 0;
    }
    if (file_read(path, EVENTS_MAX_BYTES, &text, err) != 0) {
        return -1;
    }
    const char *line = str_text(&text);
    for (const char *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n')) {
        struct run_event event;
        if (!event_from_line(line, (size_t)(end - line), &event)) {
            continue;
        }
        if (events->len == max) {
            event_release(&events->items[0]);
            memmove(&events->items[0], &events->items[1], (events->len - 1) * sizeof(events->items[0]));
            events->len--;
        }
        events->items = xgrow(events->items, events->len, &events->cap, sizeof(*events->items));
        events->items[events->len++] = event;
    }
    return 0;
}

void run_events_release(struct run_events *events)
{
    for (size_t i = 0; i < events->len; i++) {
        event_release(&events->items[i]);
    }
    free(events->items);
    *events = (struct run_events){0};
}

/* --- removal ------------------------------------------------------------------------------------ */

static int remove_file(const char *path, struct error *err)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return error_set(err, &kind_local, "'%s' can't be removed: %s", path, strerror(errno));
    }
    return 0;
}

int run_store_remove(const struct run_store *store, const char *name, struct error *err)
{
    AUTO_FREE char *folder = run_folder(store, name);
    DIR *entries = opendir(folder);
    if (!entries) {
        return no_such_run(store, name, err);
    }
    int result = 0;
    for (struct dirent *entry = readdir(entries); entry && result == 0; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, "run.json") != 0) {
            AUTO_FREE char *path = run_file(store, name, entry->d_name);
            result = remove_file(path, err);
        }
    }
    closedir(entries);
    AUTO_FREE char *record = run_file(store, name, "run.json");
    if (result == 0) {
        result = remove_file(record, err);
    }
    if (result == 0 && rmdir(folder) != 0) {
        result = error_set(err, &kind_local, "'%s' can't be removed: %s", folder, strerror(errno));
    }
    return result;
}
