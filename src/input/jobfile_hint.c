/* Hints that show what to write instead: the key, in the way it was given, with a value that is allowed. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

/* An example of each kind of value. expected: the wording of the error. */
static const struct shape {
    const char *expected, *value;
} shapes[] = {
    {"a list of strings", "[VALUE, VALUE]"},
    {"a list of paths", "[FILE, FILE]"},
    {"a list of mappings", "[{url: https://…}]"},
    {"a mapping with url, on, format, allow_http", "{url: https://…}"},
    {"a mapping of names to strings", "{NAME: VALUE}"},
    {"a mapping of keys of the job file", "{nproc_per_node: 1}"},
    {"a mapping of names to keys of the job file", "{smoke: {nproc_per_node: 1}}"},
    {"an expression or a list of entries", "[g1, g2]"},
    {"a mapping", "{KEY: VALUE}"},
    {"a whole number", "1"},
    {"a duration", "10m"},
    {"a size", "64g"},
    {"off, or a duration", "off"},
    {"true or false", "true"},
};

int reader_hint_write(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *value)
{
    const char *origin = node->origin;
    const char *dot = strrchr(path, '.');
    if (!node->doc->is_option) {
        const char *key = dot ? dot + 1 : path;
        return text_ends(path, "]") ? error_hint(reader->err, "write %s", value)
                                    : error_hint(reader->err, "write '%.80s: %s'", key, value);
    }
    if (strcmp(origin, "--set") == 0) {
        return error_hint(reader->err, "write --set '%.100s=%s'", path, value);
    }
    return text_starts(origin, "--") ? error_hint(reader->err, "write %s %s", origin, value)
                                     : error_hint(reader->err, "set %s=%s, or unset it", origin, value);
}

int reader_hint_type(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     const char *expected)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (strcmp(shapes[i].expected, expected) == 0) {
            return reader_hint_write(reader, node, path, shapes[i].value);
        }
    }
    if (node->type == YAML_TEXT) {
        return error_hint(reader->err, "write a value, or leave the key out");
    }
    return error_hint(reader->err, "write one text, in quotes if the brackets belong to it");
}

int reader_hint_duration(struct job_reader *reader, const struct yaml_node *node, const char *path,
                         const char *otherwise)
{
    uint64_t seconds = 0;
    AUTO_FREE char *meant = text_duration_meant(node->text);
    bool fits = meant && text_to_duration(meant, &seconds) && seconds <= STALL_MAX_S &&
                strcmp(meant, node->text) != 0;
    return reader_hint_write(reader, node, path, fits ? meant : otherwise);
}

int reader_hint_flag(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    static const char *const yes[] = {"True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "1", "y", "t"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (strcmp(node->text, yes[i]) == 0) {
            return reader_hint_write(reader, node, path, "true");
        }
    }
    return reader_hint_write(reader, node, path, "false");
}

int reader_hint_count(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const struct field *field)
{
    uint64_t given = 0;
    bool above = text_to_uint(node->text, 0, UINT64_MAX, &given) && given > field->max;
    if (field->example || (field->auto_ok)) {
        return reader_hint_write(reader, node, path, field->example ? field->example : "auto");
    }
    AUTO_FREE char *nearest = xasprintf("%llu", (unsigned long long)(above ? field->max : field->min));
    return reader_hint_write(reader, node, path, nearest);
}
