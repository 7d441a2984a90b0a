/* What runs and with what: program, args, env, env_file, pass_env, secret_env. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/envfile.h"
#include "input/jobfile_internal.h"

int read_program(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct job *job = reader->job;
    reader->program = node;
    if (reader_list(reader, node, path, &job->program) < 0) {
        return -1;
    }
    job->program_is_list = node->type == YAML_LIST;
    if (job->program.len == 0 || job->program.items[0][0] == '\0') {
        reader_fail(reader, node, "'%s' is empty", path);
        return error_hint(reader->err, "say what to run: 'program: train.py'");
    }
    for (size_t i = 0; i < job->program.len; i++) {
        const struct yaml_node *item = job->program_is_list ? node->items[i] : node;
        if (reader_check_word(reader, item, path, job->program.items[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The words an entry of the mapping has; true, false and null are special only when plain. */
static int read_arg(struct job_reader *reader, const struct yaml_node *node, const char *path,
                    struct job_arg *arg)
{
    if (node->type == YAML_MAP) {
        return reader_fail_type(reader, node, path, "a text or a list of texts");
    }
    if (node->type == YAML_LIST) {
        arg->type = JOB_ARG_LIST;
    } else if (yaml_is_null(node)) {
        arg->type = JOB_ARG_NULL;
        return 0;
    } else {
        arg->type = yaml_is_word(node, "true")    ? JOB_ARG_TRUE
                    : yaml_is_word(node, "false") ? JOB_ARG_FALSE
                                                  : JOB_ARG_PAIR;
        if (arg->type != JOB_ARG_PAIR) {
            return 0;
        }
    }
    if (reader_list(reader, node, path, &arg->values) < 0) {
        return -1;
    }
    for (size_t i = 0; i < arg->values.len; i++) {
        if (reader_check_word(reader, node, path, arg->values.items[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_args_map(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    for (size_t i = 0; i < node->len; i++) {
        const struct yaml_node *key = node->entries[i].key;
        AUTO_FREE char *arg_path = xasprintf("%s.%s", path, key->text);
        struct job_arg *arg = job_args_add(&reader->job->args);
        AUTO_FREE char *option = xasprintf("--%s", key->text);
        arg->key = xstrdup(key->text);
        if (reader_check_word(reader, key, path, option) < 0 ||
            read_arg(reader, node->entries[i].value, arg_path, arg) < 0) {
            return -1;
        }
    }
    return 0;
}

int read_args(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type == YAML_MAP) {
        return read_args_map(reader, node, path);
    }
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    if (reader_list(reader, node, path, &words) < 0) {
        return -1;
    }
    for (size_t i = 0; i < words.len; i++) {
        AUTO_FREE char *word_path = xasprintf("%s[%zu]", path, i);
        const struct yaml_node *item = node->type == YAML_LIST ? node->items[i] : node;
        if (reader_check_word(reader, item, word_path, words.items[i]) < 0) {
            return -1;
        }
        job_args_add_word(&reader->job->args, words.items[i]);
    }
    return 0;
}

int read_env(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_MAP) {
        return reader_fail_type(reader, node, path, "a mapping of names to texts");
    }
    for (size_t i = 0; i < node->len; i++) {
        const struct yaml_node *key = node->entries[i].key;
        const struct yaml_node *value = node->entries[i].value;
        AUTO_FREE char *name = xasprintf("%s.%s", path, key->text);
        if (yaml_is_null(value)) {
            reader_fail_type(reader, value, name, "a text");
            return error_hint(reader->err, "write \"\" for an empty value, or leave the name out");
        }
        if (value->type != YAML_TEXT) {
            return reader_fail_type(reader, value, name, "a text");
        }
        if (env_check_settable(key->text, value->text, reader->err) < 0) {
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
    if (text == NULL) {
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

/* Patterns of names, none of them empty, appended to list. */
static int read_patterns(struct job_reader *reader, const struct yaml_node *node, const char *path,
                         struct strlist *list)
{
    size_t before = list->len;
    if (reader_list(reader, node, path, list) < 0) {
        return -1;
    }
    for (size_t i = before; i < list->len; i++) {
        if (list->items[i][0] == '\0' || strpbrk(list->items[i], "= \t\n") != NULL) {
            reader_fail(reader, node, "'%s' holds '%.80s', allowed: patterns of names", path, list->items[i]);
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
