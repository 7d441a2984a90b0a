/* The tree itself, and errors that point into the text a node came from. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "input/yaml.h"
#include "input/yaml_internal.h"

struct yaml_doc *yaml_doc_new(const char *name, const char *text, size_t len)
{
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    struct yaml_doc *doc = xcalloc(1, sizeof(*doc));
    doc->name = xstrdup(name);
    doc->text = xcalloc(len + 1, 1);
    if (len > 0) {
        memcpy(doc->text, text, len);
    }
    doc->len = len;
    return doc;
}

void yaml_doc_free(struct yaml_doc *doc)
{
    if (doc) {
        free(doc->name);
        free(doc->text);
        strlist_release(&doc->secrets);
        free(doc);
    }
}

struct yaml_node *yaml_node_new(enum yaml_type type, const struct yaml_doc *doc, const char *origin)
{
    struct yaml_node *node = xcalloc(1, sizeof(*node));
    node->type = type;
    node->doc = doc;
    node->origin = origin;
    node->line = 1;
    node->column = 1;
    return node;
}

void yaml_node_free(struct yaml_node *node)
{
    if (!node) {
        return;
    }
    for (size_t i = 0; i < node->len; i++) {
        if (node->type == YAML_LIST) {
            yaml_node_free(node->items[i]);
        } else {
            yaml_node_free(node->entries[i].key);
            yaml_node_free(node->entries[i].value);
        }
    }
    free(node->items);
    free(node->entries);
    free(node->text);
    free(node);
}

struct yaml_node *yaml_new_text(const struct yaml_doc *doc, const char *origin, const char *text)
{
    struct yaml_node *node = yaml_node_new(YAML_TEXT, doc, origin);
    node->text = xstrdup(text);
    return node;
}

struct yaml_node *yaml_new_map(const struct yaml_doc *doc, const char *origin)
{
    return yaml_node_new(YAML_MAP, doc, origin);
}

struct yaml_node *yaml_copy(const struct yaml_node *node, const char *origin)
{
    struct yaml_node *copy = yaml_node_new(node->type, node->doc, origin);
    copy->line = node->line;
    copy->column = node->column;
    copy->text = xstrdup(node->text);
    copy->plain = node->plain;
    copy->quoted = node->quoted;
    for (size_t i = 0; i < node->len; i++) {
        if (node->type == YAML_LIST) {
            yaml_list_add(copy, yaml_copy(node->items[i], origin));
        } else {
            yaml_map_add(copy, yaml_copy(node->entries[i].key, origin),
                         yaml_copy(node->entries[i].value, origin));
        }
    }
    return copy;
}

void yaml_list_add(struct yaml_node *list, struct yaml_node *item)
{
    list->items = xgrow(list->items, list->len, &list->cap, sizeof(struct yaml_node *));
    list->items[list->len++] = item;
}

void yaml_map_add(struct yaml_node *map, struct yaml_node *key, struct yaml_node *value)
{
    map->entries = xgrow(map->entries, map->len, &map->cap, sizeof(struct yaml_entry));
    map->entries[map->len++] = (struct yaml_entry){key, value};
}

static struct yaml_entry *find_entry(const struct yaml_node *map, const char *key)
{
    if (!map || map->type != YAML_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < map->len; i++) {
        if (strcmp(map->entries[i].key->text, key) == 0) {
            return &map->entries[i];
        }
    }
    return NULL;
}

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    const struct yaml_entry *entry = find_entry(map, key);
    return entry ? entry->value : NULL;
}

const struct yaml_node *yaml_get_key(const struct yaml_node *map, const char *key)
{
    const struct yaml_entry *entry = find_entry(map, key);
    return entry ? entry->key : NULL;
}

void yaml_put(struct yaml_node *map, struct yaml_node *key, struct yaml_node *value)
{
    struct yaml_entry *entry = find_entry(map, key->text);
    if (!entry) {
        yaml_map_add(map, key, value);
        return;
    }
    yaml_node_free(entry->key);
    yaml_node_free(entry->value);
    *entry = (struct yaml_entry){key, value};
}

void yaml_merge(struct yaml_node *into, const struct yaml_node *from, const char *origin)
{
    for (size_t i = 0; i < from->len; i++) {
        const struct yaml_entry *entry = &from->entries[i];
        struct yaml_node *old = yaml_get(into, entry->key->text);
        if (old && old->type == YAML_MAP && entry->value->type == YAML_MAP) {
            yaml_merge(old, entry->value, origin);
        } else {
            yaml_put(into, yaml_copy(entry->key, origin), yaml_copy(entry->value, origin));
        }
    }
}

bool yaml_is_word(const struct yaml_node *node, const char *word)
{
    return node->type == YAML_TEXT && node->plain && strcmp(node->text, word) == 0;
}

bool yaml_is_null(const struct yaml_node *node)
{
    return yaml_is_word(node, "null") || yaml_is_word(node, "");
}

const char *yaml_type_name(const struct yaml_node *node)
{
    return node->type == YAML_MAP    ? "a mapping"
           : node->type == YAML_LIST ? "a list"
           : yaml_is_null(node)      ? "null"
                                     : "a string";
}

/* Bytes of the line break at `at`, 0 when there is none. */
static size_t break_len(const char *at, const char *stop)
{
    size_t left = (size_t)(stop - at);
    if (left == 0) {
        return 0;
    }
    if (*at == '\n') {
        return 1;
    }
    if (*at == '\r') {
        return left >= 2 && at[1] == '\n' ? 2 : 1;
    }
    if (left >= 2 && memcmp(at, "\xC2\x85", 2) == 0) {
        return 2;
    }
    return left >= 3 && (memcmp(at, "\xE2\x80\xA8", 3) == 0 || memcmp(at, "\xE2\x80\xA9", 3) == 0) ? 3 : 0;
}

const char *yaml_line_next(const struct yaml_doc *doc, const char *line, size_t *len)
{
    const char *stop = doc->text + doc->len;
    const char *at = line;
    size_t gap = 0;
    while (at < stop && (gap = break_len(at, stop)) == 0) {
        at++;
    }
    if (len) {
        *len = (size_t)(at - line);
    }
    return at < stop ? at + gap : NULL;
}

size_t yaml_line_column(const char *line, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += ((unsigned char)line[i] & 0xC0) != 0x80;
    }
    return count;
}

const char *yaml_line_find(const struct yaml_doc *doc, size_t number)
{
    const char *line = doc->text;
    while (number > 0 && line) {
        line = yaml_line_next(doc, line, NULL);
        number--;
    }
    return line;
}

static bool is_name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/* Where the value of the first secret name begins in a line: `NAME: …`, `"NAME": …`, `NAME=…`; len when none.
 */
static size_t find_secret(const struct yaml_doc *doc, const char *line, size_t len)
{
    for (size_t i = 0; i < len;) {
        if (!is_name_char(line[i], true)) {
            i++;
            continue;
        }
        size_t start = i;
        while (i < len && is_name_char(line[i], false)) {
            i++;
        }
        size_t at = i;
        while (at < len && strchr("\"' \t", line[at])) {
            at++;
        }
        if (at < len && (line[at] == ':' || line[at] == '=')) {
            AUTO_FREE char *name = xstrndup(line + start, i - start);
            if (text_matches_any(name, doc->secrets.items, doc->secrets.len)) {
                return at + 1;
            }
        }
    }
    return len;
}

bool yaml_has_secret(const struct yaml_doc *doc, const char *text)
{
    size_t len = strlen(text);
    return find_secret(doc, text, len) < len;
}

char *yaml_shown_text(const struct yaml_doc *doc, const char *text)
{
    size_t len = strlen(text), shown = find_secret(doc, text, len);
    return xasprintf("%.*s%s", (int)shown, text, shown < len ? "***" : "");
}

/*
 * Append the line. After the ':' or '=' of a secret name, each character except a blank becomes a star, so
 * that columns stay correct.
 */
static void mask_line(const struct yaml_doc *doc, const char *line, size_t len, struct str *out)
{
    size_t secret = find_secret(doc, line, len);
    str_add_mem(out, line, secret);
    for (size_t i = secret; i < len; i++) {
        if (line[i] == ' ' || line[i] == '\t') {
            str_add_char(out, line[i]);
        } else if (((unsigned char)line[i] & 0xC0) != 0x80) {
            str_add_char(out, '*');
        }
    }
}

int yaml_place_at(const struct yaml_doc *doc, unsigned line, unsigned column, struct error *err)
{
    if (doc->is_option) {
        return error_at(err, doc->name, 0, 0);
    }
    error_at(err, doc->name, line, column);
    const char *at = yaml_line_find(doc, line > 0 ? line - 1 : 0);
    if (at) {
        size_t len = 0;
        yaml_line_next(doc, at, &len);
        AUTO_STR struct str shown = STR_INIT;
        mask_line(doc, at, len, &shown);
        error_source(err, str_text(&shown), shown.len);
    }
    return -1;
}

int yaml_place(const struct yaml_node *node, struct error *err)
{
    return yaml_place_at(node->doc, node->line, node->column, err);
}

int yaml_fail(const struct yaml_node *node, struct error *err, const struct error_kind *kind,
              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    error_set(err, kind, "%s", text);
    return yaml_place(node, err);
}
