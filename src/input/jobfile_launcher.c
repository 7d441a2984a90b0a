/* `launcher` and `launcher_args`: read and checked by the rows of the launchers' table. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "input/jobfile_internal.h"

int read_launcher(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    size_t count = 0;
    while (launchers_all[count]) {
        count++;
    }
    struct choice *choices = xcalloc(count, sizeof choices[0]);
    for (size_t i = 0; i < count; i++) {
        choices[i] = (struct choice){.name = launchers_all[i]->name};
    }
    int at = reader_choice(reader, node, path, choices, count);
    free(choices);
    if (at < 0) {
        return -1;
    }
    free(reader->job->launcher);
    reader->job->launcher = xstrdup(launchers_all[at]->name);
    return 0;
}

void launcher_names(struct str *out)
{
    for (size_t i = 0; launchers_all[i]; i++) {
        str_addf(out, "%s%s", out->len > 0 ? " | " : "", launchers_all[i]->name);
    }
}

const struct launcher *reader_launcher(const struct job_reader *reader)
{
    return launcher_find(reader->job->launcher, NULL);
}

int read_launcher_args(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct strlist *words = &reader->job->launcher_args;
    strlist_release(words);
    reader->launcher_args = node;
    return check_words(reader, node, path) < 0 ? -1 : reader_list(reader, node, path, words);
}

/* Would the launcher take this word for the program? It is neither an option nor the value of the one before
 * it. */
static bool is_positional(const struct launcher_words *own, char *const *words, size_t at)
{
    if (strcmp(words[at], "--") == 0) {
        return true;
    }
    if (words[at][0] == '-') {
        return false;
    }
    const char *before = at > 0 ? words[at - 1] : "";
    return before[0] != '-' || strchr(before, '=') || launcher_is_flag(own, before);
}

static int check_launcher_word(struct job_reader *reader, const struct launcher_words *own, size_t at)
{
    static const char path[] = "launcher_args";
    char *const *words = reader->job->launcher_args.items;
    const struct yaml_node *list = reader->launcher_args;
    const struct yaml_node *node = list->type == YAML_LIST ? list->items[at] : list;
    const struct launcher_option *option = launcher_find_owned(own, words[at]);
    if (option) {
        reader_fail(reader, node, "'%s' contains '%.80s', which mtlaunch sets", path, words[at]);
        return error_hint(reader->err, "%s", option->hint);
    }
    if (is_positional(own, words, at)) {
        reader_fail(reader, node, "'%s' contains '%.80s', which would end the options of the launcher", path,
                    words[at]);
        return error_hint(reader->err, "name the program in 'program' and its arguments in 'args'");
    }
    return 0;
}

/* Warn about mappings of other launchers, which have no effect. */
static void warn_other_keys(struct job_reader *reader, const struct launcher *launcher)
{
    for (size_t i = 0; reader->warnings && launchers_all[i]; i++) {
        const char *key = launchers_all[i]->key;
        if (key && launchers_all[i] != launcher && yaml_get(reader->root, key)) {
            strlist_addf(reader->warnings, "'%s' has no effect with 'launcher: %s'", key, launcher->name);
        }
    }
}

int check_launcher(struct job_reader *reader)
{
    const struct launcher *launcher = reader_launcher(reader);
    reader->job->zero_stage_given = yaml_get(reader->root, "zero_stage");
    warn_other_keys(reader, launcher);
    const struct strlist *words = &reader->job->launcher_args;
    const struct launcher_words *own = launcher_words(launcher, reader->job);
    if (words->len && !own) {
        reader_fail(reader, reader->launcher_args,
                    "'launcher_args' cannot be used with 'launcher: %s', which has no launcher",
                    launcher->name);
        return error_hint(reader->err, "leave it out, or put the words into 'program'");
    }
    for (size_t i = 0; i < words->len; i++) {
        if (check_launcher_word(reader, own, i) < 0) {
            return -1;
        }
    }
    return 0;
}
