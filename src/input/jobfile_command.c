/* The variables of a job: env, env_file, pass_env, secret_env. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/envfile.h"
#include "input/jobfile_internal.h"
#include "input/words_internal.h"

/* In braces, "A:1" is a name without a value; "A: 1" was meant. */
static int hint_no_value(struct job_reader *reader, const struct yaml_node *key)
{
    size_t name = strcspn(key->text, "=:");
    if (name == 0 || key->text[name] == '\0') {
        return error_hint(reader->err, "write \"\" for an empty value, or leave the name out");
    }
    if (yaml_has_secret(key->doc, key->text)) {
        return error_hint(reader->err, "write 'NAME: VALUE', with a colon and a blank");
    }
    AUTO_STR struct str value = STR_INIT;
    words_add_scalar(key->text + name + 1, &value);
    return error_hint(reader->err, "write '%.*s: %.200s', with a colon and a blank",
                      (int)(name > 100 ? 100 : name), key->text, str_text(&value));
}

int read_env(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_MAP) {
        return reader_fail_type(reader, node, path, "a mapping of names to strings");
    }
    for (size_t i = 0; i < node->len; i++) {
        const struct yaml_node *key = node->entries[i].key;
        const struct yaml_node *value = node->entries[i].value;
        AUTO_FREE char *shown = yaml_shown_text(key->doc, key->text);
        AUTO_FREE char *name = xasprintf("%s.%s", path, shown);
        if (yaml_is_null(value)) {
            reader_fail_type(reader, value, name, "a string");
            return hint_no_value(reader, key);
        }
        if (value->type != YAML_TEXT) {
            return reader_fail_type(reader, value, name, "a string");
        }
        if (env_check_settable(shown, value->text, reader->err) < 0) {
            return reader_place(reader, key);
        }
        if (check_placeholders(reader, value, name) < 0) {
            return -1;
        }
        env_set(&reader->job->env, key->text, value->text, value->origin);
    }
    return 0;
}

static int read_one_env_file(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    AUTO_FREE char *file = reader_path(reader, text);
    if (envfile_read(&reader->job->env_files, file, text, reader->err) == 0) {
        return 0;
    }
    /* a file that cannot be read is a mistake of the job file; one with a bad line has its own place */
    return reader->err->file[0] == '\0' ? reader_place(reader, node) : -1;
}

int read_env_file(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type == YAML_MAP) {
        return reader_fail_type(reader, node, path, "a list of paths");
    }
    if (node->type == YAML_TEXT) {
        return read_one_env_file(reader, node, path);
    }
    for (size_t i = 0; i < node->len; i++) {
        AUTO_FREE char *item_path = xasprintf("%s[%zu]", path, i);
        if (read_one_env_file(reader, node->items[i], item_path) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Append patterns of names to list. An empty pattern is refused. */
static int read_patterns(struct job_reader *reader, const struct yaml_node *node, const char *path,
                         struct strlist *list)
{
    size_t before = list->len;
    if (reader_list(reader, node, path, list) < 0) {
        return -1;
    }
    for (size_t i = before; i < list->len; i++) {
        if (list->items[i][0] == '\0' || strpbrk(list->items[i], "= \t\n")) {
            reader_fail(reader, node, "'%s' contains '%.80s', allowed: patterns of names", path,
                        list->items[i]);
            return error_hint(reader->err, "write patterns such as \"NCCL_*\"");
        }
    }
    return 0;
}

int read_pass_env(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    strlist_release(&reader->job->pass_env);
    return read_patterns(reader, node, path, &reader->job->pass_env);
}

int read_secret_env(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    return read_patterns(reader, node, path, &reader->job->secret_env);
}
