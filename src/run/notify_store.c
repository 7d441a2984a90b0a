/* Stores the targets of a run's notifications in the run's folder. */
#include "run/notify_store.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "model/kind.h"

#define NOTIFY_MAX_BYTES  ((size_t)1 << 20)
#define SECRETS_MAX_BYTES ((size_t)64 << 20)

static char *file_of(const struct run_store *store, const char *name, const char *file)
{
    return xasprintf("%s/%s/%s", store->root, name, file);
}

int run_store_save_notify(const struct run_store *store, const char *name,
                          const struct notify_targets *targets, struct error *err)
{
    AUTO_FREE char *path = file_of(store, name, "notify");
    if (targets->len == 0) {
        unlink(path);
        return 0;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < targets->len; i++) {
        const struct notify_target *target = &targets->items[i];
        json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:b}", "url", target->url, "on",
                                              (int)target->on, "format", notify_format_names[target->format],
                                              "allow_http", (int)target->allow_http));
    }
    AUTO_FREE char *text = json_dumps(list, JSON_INDENT(1));
    json_decref(list);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

static bool add_target(const json_t *entry, struct notify_targets *targets)
{
    const char *url = json_string_value(json_object_get(entry, "url"));
    const char *format = json_string_value(json_object_get(entry, "format"));
    if (!url || !format) {
        return false;
    }
    for (unsigned i = 0; i < NOTIFY_FORMATS; i++) {
        if (strcmp(notify_format_names[i], format) == 0) {
            struct notify_target *target = notify_targets_add(targets, url);
            target->on = (unsigned)json_integer_value(json_object_get(entry, "on"));
            target->format = (enum notify_format_id)i;
            target->allow_http = json_is_true(json_object_get(entry, "allow_http"));
            return true;
        }
    }
    return false;
}

int run_store_load_notify(const struct run_store *store, const char *name, struct notify_targets *targets,
                          struct error *err)
{
    AUTO_FREE char *path = file_of(store, name, "notify");
    AUTO_STR struct str text = STR_INIT;
    size_t entries = 0;
    json_t *entry;
    if (!file_exists(path)) {
        return 0;
    }
    if (file_read(path, NOTIFY_MAX_BYTES, &text, err) != 0) {
        if (file_exists(path)) {
            return -1;
        }
        *err = ERROR_INIT; /* the run has ended just now */
        return 0;
    }
    json_t *list = json_loadb(text.data, text.len, 0, NULL);
    bool good = json_is_array(list);
    json_array_foreach(list, entries, entry)
    {
        good = add_target(entry, targets) && good;
    }
    json_decref(list);
    return good ? 0
                : error_set(err, &kind_record_damaged, "'%s' is damaged: not all notifications can be sent",
                            path);
}

void run_store_load_secret_values(const struct run_store *store, const char *name, struct strlist *values)
{
    AUTO_FREE char *path = file_of(store, name, "secrets");
    AUTO_STR struct str text = STR_INIT;
    const char *key;
    json_t *value;
    if (file_read(path, SECRETS_MAX_BYTES, &text, NULL) != 0) {
        return;
    }
    json_t *object = json_loadb(text.data, text.len, 0, NULL);
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value)) {
            strlist_add(values, json_string_value(value));
        }
    }
    json_decref(object);
}
