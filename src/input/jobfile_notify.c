/* The key 'notify': a list of mappings. A URL carries a token: no error shows it or its line.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/notify.h"

#define EVENTS "[failed, finished, stalled]"

/* Read by read_target(). */
static const struct field notify_fields[] = {
    {.key = "url",
     .type = FIELD_DONE,
     .form = "string",
     .doc = {"0.1", "The URL to send to. Only its host is ever shown. Required.", NULL,
             "\"https://hooks.example.org/x\""}},
    {.key = "on",
     .type = FIELD_DONE,
     .form = "list of started, failed, finished, stalled, restarted, stopped, lost",
     .doc = {"0.1", "Which events are reported.", EVENTS, "[failed, lost]"}},
    {.key = "format",
     .type = FIELD_DONE,
     .form = "json | slack | feishu",
     .doc = {"0.1", "The format that the receiver expects.", "json", "slack"}},
    {.key = "allow_http",
     .type = FIELD_DONE,
     .form = "true or false",
     .doc = {"0.1", "Accept a URL that begins with http://.", "false", "true"}},
};
const struct field_table notify_table = {notify_fields, ARRAY_LEN(notify_fields)};

/* The index of the name, or count after an error that lists the names. */
static unsigned find_name(struct job_reader *reader, const struct yaml_node *node, const char *path,
                          const char *const *names, unsigned count)
{
    AUTO_STR struct str allowed = STR_INIT;
    if (node->type != YAML_TEXT) {
        reader_fail_type(reader, node, path, "a string");
        return count;
    }
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], node->text) == 0) {
            return i;
        }
        str_addf(&allowed, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    reader_fail_value(reader, node, path, str_text(&allowed));
    const char *near = text_nearest(node->text, names, count);
    if (near) {
        error_hint(reader->err, "did you mean '%s'?", near);
    } else {
        reader_hint_write(reader, node, path, names[0]);
    }
    return count;
}

static int read_on(struct job_reader *reader, const struct yaml_node *node, const char *path,
                   struct notify_target *target)
{
    const struct yaml_node *const *items = (const struct yaml_node *const *)node->items;
    size_t count = node->len;
    if (node->type == YAML_MAP) {
        return reader_fail_type(reader, node, path, "a list of strings");
    }
    if (node->type == YAML_TEXT) { /* a text is a list of one item */
        items = &node;
        count = 1;
    }
    target->on = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned event = find_name(reader, items[i], path, notify_event_names, NOTIFY_EVENTS);
        if (event == NOTIFY_EVENTS) {
            return -1;
        }
        target->on |= NOTIFY_BIT(event);
    }
    if (target->on == 0) {
        reader_fail(reader, node, "'%s' is empty", path);
        return error_hint(reader->err, "name the events, or leave it out");
    }
    return 0;
}

static int read_key(struct job_reader *reader, const struct yaml_entry *entry, const char *path,
                    struct notify_target *target)
{
    const char *key = entry->key->text;
    const struct yaml_node *node = entry->value;
    if (strcmp(key, "url") == 0 || yaml_is_null(node)) {
        return 0; /* url: already read; null: not given */
    }
    if (strcmp(key, "on") == 0) {
        return read_on(reader, node, path, target);
    }
    if (strcmp(key, "format") == 0) {
        unsigned format = find_name(reader, node, path, notify_format_names, NOTIFY_FORMATS);
        target->format = (enum notify_format_id)format;
        return format == NOTIFY_FORMATS ? -1 : 0;
    }
    if (!yaml_is_word(node, "true") && !yaml_is_word(node, "false")) {
        reader_fail(reader, node, "'%s' is neither true nor false", path);
        return reader_hint_write(reader, node, path, "false");
    }
    target->allow_http = yaml_is_word(node, "true");
    return 0;
}

/* A key without its blank ("url:https://…") is a part of a URL: only what looks like a key is shown. */
static int fail_unknown(struct job_reader *reader, const struct yaml_node *key, const char *path)
{
    if (key->text[strspn(key->text, "abcdefghijklmnopqrstuvwxyz_")] != '\0' || strlen(key->text) > 30) {
        reader_fail(reader, key, "unknown key in '%s'", path);
        return error_hint(reader->err, "write each like 'url: https://…', with a blank after the colon");
    }
    const char *known[ARRAY_LEN(notify_fields)];
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        known[i] = notify_fields[i].key;
    }
    const char *near = text_nearest(key->text, known, ARRAY_LEN(known));
    reader_fail(reader, key, "unknown key '%s.%s'", path, key->text);
    return near ? error_hint(reader->err, "did you mean '%s'?", near)
                : error_hint(reader->err, "choose one of: url, on, format, allow_http");
}

static int check_keys(struct job_reader *reader, const struct yaml_node *map, const char *path)
{
    for (size_t i = 0; i < map->len; i++) {
        const struct yaml_node *key = map->entries[i].key;
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LEN(notify_fields); k++) {
            is_known = is_known || strcmp(notify_fields[k].key, key->text) == 0;
        }
        if (!is_known) {
            return fail_unknown(reader, key, path);
        }
    }
    return 0;
}

static int read_target(struct job_reader *reader, const struct yaml_node *map, const char *path)
{
    struct error why = ERROR_INIT;
    if (map->type != YAML_MAP) {
        return reader_fail_type(reader, map, path, "a mapping with url, on, format, allow_http");
    }
    if (check_keys(reader, map, path) < 0) {
        return -1;
    }
    const struct yaml_node *node = yaml_get(map, "url");
    if (!node || yaml_is_null(node)) {
        reader_fail(reader, map, "'%s' has no url", path);
        return error_hint(reader->err, "write '{url: https://…}'");
    }
    AUTO_FREE char *url_path = xasprintf("%s.url", path);
    const char *url = reader_text(reader, node, url_path);
    if (!url) {
        return -1;
    }
    struct notify_target *target = notify_targets_add(&reader->job->notify, url);
    for (size_t i = 0; i < map->len; i++) {
        AUTO_FREE char *key_path = xasprintf("%s.%s", path, map->entries[i].key->text);
        if (read_key(reader, &map->entries[i], key_path, target) < 0) {
            return -1;
        }
    }
    if (notify_url_check(target->url, target->allow_http, &why) < 0) {
        reader_fail(reader, node, "'%s': %s", url_path, why.text);
        return why.hint[0] != '\0' ? error_hint(reader->err, "%s", why.hint) : -1;
    }
    return 0;
}

static int read_targets(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    notify_targets_release(&reader->job->notify);
    if (node->type != YAML_LIST) {
        return reader_fail_type(reader, node, path, "a list of mappings");
    }
    if (node->len > NOTIFY_TARGETS_MAX) {
        reader_fail(reader, node, "'%s' has %zu entries, at most %d", path, node->len, NOTIFY_TARGETS_MAX);
        return error_hint(reader->err, "keep %d of them", NOTIFY_TARGETS_MAX);
    }
    for (size_t i = 0; i < node->len; i++) {
        AUTO_FREE char *item = xasprintf("%s[%zu]", path, i);
        if (read_target(reader, node->items[i], item) < 0) {
            return -1;
        }
    }
    return 0;
}

int read_notify(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    int result = read_targets(reader, node, path);
    if (result < 0) {
        reader->err->source[0] = '\0';
    }
    return result;
}
