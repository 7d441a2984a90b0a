/*
 * `args`: a list of words, or a mapping in file order. Values that would not reach the program as they were
 * meant (a line as one word, an option without its value) are refused, and the hint shows the list that was
 * meant.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "input/words_internal.h"

/*
 * "betas: 0.9,0.95" in braces is read as "betas: 0.9" and the key "0.95": a comma directly after a plain
 * value most likely belongs to it. Appends the entry with quotes to out. False: it is not such an entry.
 */
static bool find_split_value(const struct yaml_node *map, size_t at, struct str *out)
{
    const struct yaml_entry *first = at > 0 ? &map->entries[at - 1] : NULL;
    const struct strlist *secrets = &map->doc->secrets;
    if (!first || first->value->type != YAML_TEXT || !first->value->plain ||
        text_matches_any(first->key->text, secrets->items, secrets->len) ||
        yaml_has_secret(first->key->doc, first->value->text)) {
        return false;
    }
    const struct yaml_node *before = first->value;
    str_addf(out, "%s: \"%s", first->key->text, before->text);
    size_t found = 0;
    for (size_t i = at; i < map->len; i++) {
        const struct yaml_node *key = map->entries[i].key;
        if (key->line != before->line || key->column != before->column + strlen(before->text) + 1 ||
            !yaml_is_word(map->entries[i].value, "") || yaml_has_secret(key->doc, key->text)) {
            break;
        }
        str_addf(out, ",%s", key->text);
        before = key;
        found++;
    }
    str_add_char(out, '"');
    return found > 0;
}

/* Refuse a key without a value: the option would be dropped silently. */
static int fail_no_value(struct job_reader *reader, const struct yaml_node *map, size_t at, const char *path)
{
    const struct yaml_node *key = map->entries[at].key;
    const char *text = key->text;
    size_t name = strcspn(text, " \t=:");
    reader_fail(reader, key, "'%.100s' has no value", path);
    if (yaml_has_secret(key->doc, text)) {
        return error_hint(reader->err, "write 'NAME: VALUE', with a colon and a blank");
    }
    if (text[name] != '\0' && name > 0) {
        size_t gap = strspn(text + name, " \t=:");
        AUTO_STR struct str value = STR_INIT;
        words_add_scalar(text + name + gap, &value);
        return error_hint(reader->err, "write '%.*s: %.200s', with a colon and a blank",
                          (int)(name > 100 ? 100 : name), text, str_text(&value));
    }
    AUTO_STR struct str whole = STR_INIT;
    if (find_split_value(map, at, &whole)) {
        return error_hint(reader->err,
                          "write '%.250s' if the comma belongs to the value, or '%.100s: true' for an option "
                          "without a value",
                          str_text(&whole), text);
    }
    return error_hint(
        reader->err,
        "write '%.100s: true' for an option without a value, '%.100s: null' to leave it out, or put "
        "quotes around a value that contains a comma",
        text, text);
}

/* Read the words of an entry of the mapping. true, false and null are special only when plain. */
static int read_arg(struct job_reader *reader, const struct yaml_node *map, size_t at, const char *path,
                    struct job_arg *arg)
{
    const struct yaml_node *node = map->entries[at].value;
    if (node->type == YAML_MAP) {
        reader_fail_type(reader, node, path, "a string or a list of strings");
        return error_hint(reader->err, "write '%.80s: VALUE', or put quotes around a value in braces",
                          map->entries[at].key->text);
    }
    if (yaml_is_word(node, "")) {
        return fail_no_value(reader, map, at, path);
    }
    arg->type = node->type == YAML_LIST       ? JOB_ARG_LIST
                : yaml_is_null(node)          ? JOB_ARG_NULL
                : yaml_is_word(node, "true")  ? JOB_ARG_TRUE
                : yaml_is_word(node, "false") ? JOB_ARG_FALSE
                                              : JOB_ARG_PAIR;
    if (arg->type != JOB_ARG_LIST && arg->type != JOB_ARG_PAIR) {
        return 0;
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
        AUTO_FREE char *shown = yaml_shown_text(key->doc, key->text);
        AUTO_FREE char *arg_path = xasprintf("%s.%s", path, shown);
        struct job_arg *arg = job_args_add(&reader->job->args);
        AUTO_FREE char *option = xasprintf("--%s", key->text);
        arg->key = xstrdup(key->text);
        if (reader_check_word(reader, key, path, option) < 0 ||
            read_arg(reader, node, i, arg_path, arg) < 0) {
            return -1;
        }
        if (words_has_blank(key->text)) {
            reader_fail(reader, key, "'%.100s': the name of an option cannot contain blanks", arg_path);
            return error_hint(reader->err, "write 'name: value', with the value after the colon");
        }
    }
    return 0;
}

/* Refuse a line such as "--lr 1e-5 --bs 4", which would reach the program as one word. */
static int fail_line(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    AUTO_STR struct str list = STR_INIT;
    words_split(node->text, &words);
    words_add_list(words.items, words.len, &list);
    reader_fail(reader, node, "'%s' is one string that contains blanks, expected a list of words", path);
    if (yaml_has_secret(node->doc, node->text)) {
        return error_hint(reader->err, "write the words as a list: 'args: [--lr, 1e-5]'");
    }
    const char *colon = words.len > 0 ? strchr(words.items[0], ':') : NULL;
    if (colon && words.items[0][0] != '-' && colon[1] != '\0' && colon[1] != '/') {
        return error_hint(reader->err, "write '%.*s: %.100s', with a blank after the colon, or the list %s",
                          (int)(colon - words.items[0] > 100 ? 100 : colon - words.items[0]), words.items[0],
                          colon + 1, str_text(&list));
    }
    return error_hint(reader->err, node->doc->is_option ? "write --set '%s=%s'" : "write '%s: %s'", path,
                      str_text(&list));
}

/* "--lr 1e-4": a dash, a name, a blank, a value. A negative number and "--x=a b" do not count. */
static bool is_option_with_value(const char *text)
{
    size_t dashes = strspn(text, "-");
    size_t first = words_first_len(text);
    const char *equals = strchr(text, '=');
    bool letter =
        (text[dashes] >= 'a' && text[dashes] <= 'z') || (text[dashes] >= 'A' && text[dashes] <= 'Z');
    return dashes > 0 && letter && text[first] != '\0' && (!equals || equals > text + first) &&
           text[first + strspn(text + first, " \t\r\n")] != '\0';
}

static int fail_item(struct job_reader *reader, const struct yaml_node *item, const char *path)
{
    size_t first = words_first_len(item->text);
    const char *value = item->text + first;
    AUTO_FREE char *option = xstrndup(item->text, first);
    AUTO_FREE char *rest = xstrdup(value + strspn(value, " \t\r\n"));
    char *const words[] = {option, rest};
    AUTO_STR struct str list = STR_INIT;
    words_add_list(words, ARRAY_LEN(words), &list);
    reader_fail(reader, item, "'%s' is an option and its value in one word", path);
    if (yaml_has_secret(item->doc, item->text)) {
        return error_hint(reader->err, "write two items: [--lr, 1e-4]");
    }
    return error_hint(reader->err, "write two items: %s", str_text(&list));
}

int check_words(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type == YAML_TEXT) {
        return words_has_blank(node->text) ? fail_line(reader, node, path)
                                           : reader_check_word(reader, node, path, node->text);
    }
    for (size_t i = 0; node->type == YAML_LIST && i < node->len; i++) {
        AUTO_FREE char *word_path = xasprintf("%s[%zu]", path, i);
        const struct yaml_node *item = node->items[i];
        if (item->type != YAML_TEXT) {
            continue; /* its type is refused where the list is read */
        }
        if (reader_check_word(reader, item, word_path, item->text) < 0) {
            return -1;
        }
        if (is_option_with_value(item->text)) {
            return fail_item(reader, item, word_path);
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
    if (check_words(reader, node, path) < 0 || reader_list(reader, node, path, &words) < 0) {
        return -1;
    }
    for (size_t i = 0; i < words.len; i++) {
        job_args_add_word(&reader->job->args, words.items[i]);
    }
    return 0;
}
