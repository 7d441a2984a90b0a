/* Reads nodes by tables of fields: names, types, ranges, and the errors about them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/kind.h"
#include "model/placeholder.h"

#define SHOWN_KEYS_MAX 12 /* a hint lists the known keys if there are at most this many */

_Static_assert(sizeof(enum policy_act) == sizeof(unsigned), "choices are stored as unsigned");
_Static_assert(sizeof(enum job_rendezvous) == sizeof(unsigned), "choices are stored as unsigned");
_Static_assert(sizeof(enum job_sharding) == sizeof(unsigned), "choices are stored as unsigned");

/* --- errors --- */

static const struct error_kind *kind_at(const struct yaml_node *node)
{
    return node->doc->is_option ? &kind_usage : &kind_job_file;
}

int reader_fail(struct job_reader *reader, const struct yaml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    return yaml_fail(node, reader->err, kind_at(node), "%s", text);
}

int reader_fail_type(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     const char *expected)
{
    reader_fail(reader, node, "'%.100s' is %s, expected %s", path, yaml_type_name(node), expected);
    return reader_hint_type(reader, node, path, expected);
}

int reader_fail_value(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *allowed)
{
    return reader_fail(reader, node, "'%.100s' is '%.80s', allowed: %s", path, node->text, allowed);
}

int reader_place(struct job_reader *reader, const struct yaml_node *node)
{
    return yaml_place(node, reader->err);
}

/* --- values --- */

const char *reader_text(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_TEXT || yaml_is_null(node)) {
        reader_fail_type(reader, node, path, "a string");
        return NULL;
    }
    if (node->text[0] == '\0') {
        reader_fail(reader, node, "'%.100s' is empty", path);
        error_hint(reader->err, "give a value, or leave it out");
        return NULL;
    }
    return node->text;
}

int reader_list(struct job_reader *reader, const struct yaml_node *node, const char *path,
                struct strlist *list)
{
    if (node->type == YAML_MAP) {
        return reader_fail_type(reader, node, path, "a list of strings");
    }
    if (node->type == YAML_TEXT) {
        strlist_add(list, node->text);
        return 0;
    }
    for (size_t i = 0; i < node->len; i++) {
        const struct yaml_node *item = node->items[i];
        if (item->type != YAML_TEXT || yaml_is_null(item)) {
            AUTO_FREE char *item_path = xasprintf("%s[%zu]", path, i);
            reader_fail_type(reader, item, item_path, "a string");
            return item->type == YAML_TEXT
                       ? error_hint(reader->err, "put quotes around an empty text or the word null")
                       : -1;
        }
        strlist_add(list, item->text);
    }
    return 0;
}

/* Check the placeholders of text. Only the plan knows their values. */
static int try_placeholders(struct job_reader *reader, const struct yaml_node *node, const char *text)
{
    const struct placeholders unknown = PLACEHOLDERS_INIT;
    AUTO_STR struct str filled = STR_INIT;
    if (placeholder_fill(&unknown, text, &filled, NULL, reader->err) == 0) {
        return 0;
    }
    reader->err->kind = kind_at(node);
    return reader_place(reader, node);
}

int check_placeholders(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    (void)path;
    return try_placeholders(reader, node, node->text);
}

int reader_check_word(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *word)
{
    size_t len = strlen(word);
    if (len <= ENV_VALUE_MAX) {
        return try_placeholders(reader, node, word);
    }
    reader_fail(reader, node, "'%.100s' makes an argument of %zu bytes, allowed: %d", path, len,
                ENV_VALUE_MAX);
    return error_hint(reader->err, "put the text into a file and name the file");
}

char *reader_path(const struct job_reader *reader, const char *text)
{
    char *path = path_expand_home(text, reader->request->home);
    if (path[0] == '/' || strcmp(reader->job->folder, ".") == 0) {
        return path;
    }
    char *joined = path_join(reader->job->folder, path);
    free(path);
    return joined;
}

char *reader_absolute_path(const struct job_reader *reader, const char *text)
{
    char *path = reader_path(reader, text);
    if (path[0] == '/') {
        return path;
    }
    AUTO_FREE char *here = getcwd(NULL, 0);
    char *absolute = path_join(here ? here : ".", path);
    free(path);
    return absolute;
}

static void put_text(struct job_reader *reader, const struct field *field, char *text)
{
    if (field->offset == FIELD_NOWHERE) {
        free(text);
        return;
    }
    char **place = (char **)(void *)((char *)reader->job + field->offset);
    free(*place);
    *place = text;
}

static bool is_auto(const struct field *field, const struct yaml_node *node)
{
    return field->auto_ok && node->type == YAML_TEXT && strcmp(node->text, "auto") == 0;
}

static int read_text_field(struct job_reader *reader, const struct field *field, const struct yaml_node *node,
                           const char *path)
{
    if (field->empty_ok && node->type == YAML_TEXT && node->text[0] == '\0') {
        put_text(reader, field, NULL);
        return 0;
    }
    const char *text = reader_text(reader, node, path);
    if (!text || (!is_auto(field, node) && field->handle && field->handle(reader, node, path) < 0)) {
        return -1;
    }
    if (field->type == FIELD_PATH) {
        put_text(reader, field, reader_absolute_path(reader, text));
    } else {
        put_text(reader, field, is_auto(field, node) ? NULL : xstrdup(text));
    }
    return 0;
}

static int read_flag_field(struct job_reader *reader, const struct field *field, const struct yaml_node *node,
                           const char *path)
{
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "true or false");
    }
    if (!yaml_is_word(node, "true") && !yaml_is_word(node, "false")) {
        reader_fail_value(reader, node, path, "true, false");
        return reader_hint_flag(reader, node, path);
    }
    *(bool *)(void *)((char *)reader->job + field->offset) = yaml_is_word(node, "true");
    return 0;
}

static int read_list_field(struct job_reader *reader, const struct field *field, const struct yaml_node *node,
                           const char *path)
{
    AUTO_STRLIST struct strlist list = STRLIST_INIT;
    if (reader_list(reader, node, path, &list) < 0) {
        return -1;
    }
    if (field->offset != FIELD_NOWHERE) {
        struct strlist *place = (struct strlist *)(void *)((char *)reader->job + field->offset);
        strlist_release(place);
        *place = list;
        list = (struct strlist)STRLIST_INIT;
    }
    return 0;
}

static int read_count_field(struct job_reader *reader, const struct field *field,
                            const struct yaml_node *node, const char *path)
{
    uint64_t value = 0;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a whole number");
    }
    if (!is_auto(field, node) && !text_to_uint(node->text, field->min, field->max, &value)) {
        AUTO_FREE char *allowed = xasprintf("%s%llu to %llu", field->auto_ok ? "auto, or " : "",
                                            (unsigned long long)field->min, (unsigned long long)field->max);
        reader_fail_value(reader, node, path, allowed);
        return reader_hint_count(reader, node, path, field);
    }
    *(unsigned *)(void *)((char *)reader->job + field->offset) = (unsigned)value;
    return 0;
}

static int read_duration_field(struct job_reader *reader, const struct field *field,
                               const struct yaml_node *node, const char *path)
{
    uint64_t value = 0;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a duration");
    }
    if (!text_to_duration(node->text, &value) || value < field->min || value > field->max) {
        AUTO_FREE char *allowed =
            xasprintf("%llus to %llud, as whole seconds or 90s 10m 2h 1d", (unsigned long long)field->min,
                      (unsigned long long)(field->max / 86400));
        reader_fail_value(reader, node, path, allowed);
        return reader_hint_duration(reader, node, path, field->example ? field->example : "10m");
    }
    if (field->offset != FIELD_NOWHERE) {
        *(unsigned long *)(void *)((char *)reader->job + field->offset) = (unsigned long)value;
    }
    return 0;
}

static int fail_choice(struct job_reader *reader, const struct choice *choices, size_t count,
                       const struct yaml_node *node, const char *path)
{
    AUTO_STRLIST struct strlist all = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        strlist_add(&all, choices[i].name);
    }
    AUTO_FREE char *allowed = strlist_join(&all, ", ");
    reader_fail_value(reader, node, path, allowed);
    const char *near = text_nearest(node->text, (const char *const *)all.items, all.len);
    return near ? error_hint(reader->err, "did you mean '%s'?", near)
                : reader_hint_write(reader, node, path, all.items[0]);
}

int reader_choice(struct job_reader *reader, const struct yaml_node *node, const char *path,
                  const struct choice *choices, size_t count)
{
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a string");
    }
    size_t at = 0;
    while (at < count && strcmp(choices[at].name, node->text) != 0) {
        at++;
    }
    if (at == count) {
        return fail_choice(reader, choices, count, node, path);
    }
    return (int)at;
}

static int read_choice_field(struct job_reader *reader, const struct field *field,
                             const struct yaml_node *node, const char *path)
{
    int at = reader_choice(reader, node, path, field->choices, field->choices_count);
    if (at < 0) {
        return -1;
    }
    const struct choice *choice = &field->choices[at];
    if (field->type == FIELD_NAME) {
        put_text(reader, field, xstrdup(choice->name));
    } else if (field->offset != FIELD_NOWHERE) {
        memcpy((char *)reader->job + field->offset, &choice->value, sizeof(choice->value));
    }
    return 0;
}

/* --- tables --- */

static const struct field *find_field(const struct field_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->fields[i].key, key) == 0) {
            return &table->fields[i];
        }
    }
    return NULL;
}

static int fail_unknown_key(struct job_reader *reader, const struct yaml_node *key,
                            const struct field_table *table, const char *prefix)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; i < table->count; i++) {
        strlist_add(&names, table->fields[i].key);
    }
    AUTO_FREE char *shown = yaml_shown_text(key->doc, key->text);
    reader_fail(reader, key, "unknown key '%.100s%.80s'", prefix, shown);
    const char *near = text_nearest(key->text, (const char *const *)names.items, names.len);
    if (near) {
        return error_hint(reader->err, "did you mean '%s'?", near);
    }
    if (names.len <= SHOWN_KEYS_MAX) {
        AUTO_FREE char *known = strlist_join(&names, ", ");
        return error_hint(reader->err, "choose one of: %s", known);
    }
    return error_hint(reader->err,
                      "leave it out; arguments of the program belong in 'args', variables in 'env'");
}

static int fail_no_mapping(struct job_reader *reader, const struct field *field, const struct yaml_node *node,
                           const char *path)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; i < field->table->count; i++) {
        strlist_add(&names, field->table->fields[i].key);
    }
    AUTO_FREE char *known = strlist_join(&names, ", ");
    reader_fail_type(reader, node, path, "a mapping");
    return error_hint(reader->err, "write '%.80s: {%s: VALUE}'; its keys are %s", path, names.items[0],
                      known);
}

static int read_field(struct job_reader *reader, const struct field *field, const struct yaml_entry *entry,
                      const char *path)
{
    const struct yaml_node *node = entry->value;
    AUTO_FREE char *prefix = xasprintf("%s.", path);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_PATH:
        return read_text_field(reader, field, node, path);
    case FIELD_LIST:
        return read_list_field(reader, field, node, path);
    case FIELD_COUNT:
        return read_count_field(reader, field, node, path);
    case FIELD_DURATION:
        return read_duration_field(reader, field, node, path);
    case FIELD_CHOICE:
    case FIELD_NAME:
        return read_choice_field(reader, field, node, path);
    case FIELD_FLAG:
        return read_flag_field(reader, field, node, path);
    case FIELD_MAP:
        if (node->type != YAML_MAP) {
            return fail_no_mapping(reader, field, node, path);
        }
        return fields_read(reader, node, field->table, prefix);
    case FIELD_CUSTOM:
        return field->handle(reader, node, path);
    case FIELD_DONE:
        return 0;
    }
    return 0;
}

/* Visit the entries of a mapping. Each of them has to be a field of the table. */
static int visit_fields(struct job_reader *reader, const struct yaml_node *map,
                        const struct field_table *table, const char *prefix,
                        int (*visit)(struct job_reader *, const struct field *, const struct yaml_entry *,
                                     const char *path))
{
    for (size_t i = 0; i < map->len; i++) {
        const struct yaml_entry *entry = &map->entries[i];
        const struct field *field = find_field(table, entry->key->text);
        if (!field) {
            return fail_unknown_key(reader, entry->key, table, prefix);
        }
        AUTO_FREE char *path = xasprintf("%s%s", prefix, entry->key->text);
        if (visit(reader, field, entry, path) < 0) {
            return -1;
        }
    }
    return 0;
}

/* A key without a value, or null, is a key that is not given. */
static int read_given(struct job_reader *reader, const struct field *field, const struct yaml_entry *entry,
                      const char *path)
{
    return yaml_is_null(entry->value) ? 0 : read_field(reader, field, entry, path);
}

int fields_read(struct job_reader *reader, const struct yaml_node *map, const struct field_table *table,
                const char *prefix)
{
    return visit_fields(reader, map, table, prefix, read_given);
}

static int check_below(struct job_reader *reader, const struct field *field, const struct yaml_entry *entry,
                       const char *path)
{
    AUTO_FREE char *prefix = xasprintf("%s.", path);
    return field->table && entry->value->type == YAML_MAP
               ? fields_check_keys(reader, entry->value, field->table, prefix)
               : 0;
}

int fields_check_keys(struct job_reader *reader, const struct yaml_node *map, const struct field_table *table,
                      const char *prefix)
{
    return visit_fields(reader, map, table, prefix, check_below);
}
