/* `prepare`: commands that run on the first or on all nodes before a start. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

#define STEPS_MAX     32
#define STEP_NAME_MAX 40
#define LIMIT_MAX_S   (31UL * 24 * 60 * 60)
#define KNOWN_KEYS    "name, on, command, creates, timeout"

static const struct field prepare_fields[] = {
    {.key = "name",
     .type = FIELD_DONE,
     .form = "string",
     .doc = {"0.1",
             "The step's name: letters, digits, '.', '_' and '-'. Its log is RUN_node<N>.NAME.log. Required.",
             NULL, "convert"}},
    {.key = "on",
     .type = FIELD_DONE,
     .form = "first | all",
     .doc = {"0.1", "Where it runs: on the first node, or on each node by itself.", "first", "all"}},
    {.key = "command",
     .type = FIELD_DONE,
     .form = "string, or a list of strings",
     .doc =
         {"0.1",
          "What to run: a string is a line for /bin/sh, a list is an exact argv. It runs after the setup "
          "lines, in the folder and environment of the program, as if for one node: NNODES is 1. Required.",
          NULL, "[swift, export, --to_cached_dataset, \"true\"]"}},
    {.key = "creates",
     .type = FIELD_DONE,
     .form = "path on the node, relative to workdir",
     .doc = {"0.1", "What the step creates. Where it already exists, the step is skipped.", "none",
             "data/cached"}},
    {.key = "timeout",
     .type = FIELD_DONE,
     .form = "duration, 1s to 31d",
     .doc = {"0.1", "How long it may take.", "1h", "6h"}},
};
const struct field_table prepare_table = {prepare_fields, ARRAY_LEN(prepare_fields)};

static int read_name(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     struct job_step *step)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const struct job *job = reader->job;
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    size_t len = strlen(text);
    if (len > STEP_NAME_MAX || text[strspn(text, letters)] != '\0' || strchr("._-", text[0])) {
        reader_fail(reader, node,
                    "'%s' is '%.80s', allowed: 1 to %d letters, digits, '.', '_' and '-', the first a letter "
                    "or digit",
                    path, text, STEP_NAME_MAX);
        return reader_hint_write(reader, node, path, "convert");
    }
    for (size_t i = 0; i + 1 < job->prepare_len; i++) { /* the last one is this step */
        if (strcmp(job->prepare[i].name, text) == 0) {
            reader_fail(reader, node, "'%s' is '%s', the name of an earlier step", path, text);
            return error_hint(reader->err, "give each step its own name: its log is named after it");
        }
    }
    step->name = xstrdup(text);
    return 0;
}

static int read_on(struct job_reader *reader, const struct yaml_node *node, const char *path,
                   struct job_step *step)
{
    static const struct choice places[] = {{"first", false}, {"all", true}};
    int at = reader_choice(reader, node, path, places, ARRAY_LEN(places));
    step->on_all = at >= 0 && places[at].value;
    return at < 0 ? -1 : 0;
}

static int read_command(struct job_reader *reader, const struct yaml_node *node, const char *path,
                        struct job_step *step)
{
    bool is_list = node->type == YAML_LIST;
    if (reader_list(reader, node, path, &step->command) < 0) {
        return -1;
    }
    if (step->command.len == 0 || step->command.items[0][strspn(step->command.items[0], " \t\r\n")] == '\0') {
        reader_fail(reader, node, "'%s' is empty", path);
        return error_hint(reader->err, "specify what to run: 'command: [swift, export, ...]'");
    }
    for (size_t i = 0; i < step->command.len; i++) {
        if (reader_check_word(reader, is_list ? node->items[i] : node, path, step->command.items[i]) < 0) {
            return -1;
        }
    }
    step->is_line = !is_list;
    return 0;
}

static int read_limit(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      struct job_step *step)
{
    uint64_t seconds = 0;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a duration");
    }
    if (!text_to_duration(node->text, &seconds) || seconds == 0 || seconds > LIMIT_MAX_S) {
        reader_fail_value(reader, node, path, "1s to 31d, as whole seconds or 90s 10m 2h 1d");
        return reader_hint_write(reader, node, path, "6h");
    }
    step->timeout_s = (unsigned long)seconds;
    return 0;
}

static int read_key(struct job_reader *reader, const struct yaml_entry *entry, const char *path,
                    struct job_step *step)
{
    const char *key = entry->key->text;
    const struct yaml_node *node = entry->value;
    if (yaml_is_null(node)) {
        return 0;
    }
    if (strcmp(key, "name") == 0) {
        return read_name(reader, node, path, step);
    }
    if (strcmp(key, "on") == 0) {
        return read_on(reader, node, path, step);
    }
    if (strcmp(key, "command") == 0) {
        return read_command(reader, node, path, step);
    }
    if (strcmp(key, "timeout") == 0) {
        return read_limit(reader, node, path, step);
    }
    const char *text = reader_text(reader, node, path);
    if (!text || check_placeholders(reader, node, path) < 0) {
        return -1;
    }
    step->creates = xstrdup(text);
    return 0;
}

static int read_step(struct job_reader *reader, const struct yaml_node *map, const char *path)
{
    AUTO_FREE char *prefix = xasprintf("%s.", path);
    if (map->type != YAML_MAP) {
        reader_fail_type(reader, map, path, "a mapping with " KNOWN_KEYS);
        return error_hint(reader->err, "write '{name: convert, command: [...]}'");
    }
    if (fields_check_keys(reader, map, &prepare_table, prefix) < 0) {
        return -1;
    }
    struct job_step *step = job_add_step(reader->job);
    for (size_t i = 0; i < map->len; i++) {
        AUTO_FREE char *key_path = xasprintf("%s.%s", path, map->entries[i].key->text);
        if (read_key(reader, &map->entries[i], key_path, step) < 0) {
            return -1;
        }
    }
    if (!step->name || step->command.len == 0) {
        reader_fail(reader, map, "'%s' has no %s", path, step->name ? "command" : "name");
        return error_hint(reader->err, "write '{name: convert, command: [...]}'");
    }
    return 0;
}

int read_prepare(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    job_release_steps(reader->job);
    if (node->type != YAML_LIST) {
        reader_fail_type(reader, node, path, "a list of mappings");
        return error_hint(reader->err, "write 'prepare: [{name: convert, command: [...]}]'");
    }
    if (node->len > STEPS_MAX) {
        reader_fail(reader, node, "'%s' has %zu entries, at most %d", path, node->len, STEPS_MAX);
        return error_hint(reader->err, "put commands together in a script");
    }
    for (size_t i = 0; i < node->len; i++) {
        AUTO_FREE char *item = xasprintf("%s[%zu]", path, i);
        if (read_step(reader, node->items[i], item) < 0) {
            return -1;
        }
    }
    return 0;
}
