/* Which files of a node's command the probe looks at before the start, and what their faults mean. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "start_internal.h"

#define LINE_STOPS ";&|<>()`\n\"'$\\*?[]{}~#="

static bool is_shell(const char *word)
{
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh"};
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(name, shells[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Words that are executed as they stand: the first, or the script that a shell is given. */
static void look_at_words(char *const *words, size_t len, struct start_look *out)
{
    if (len > 1 && is_shell(words[0])) {
        /* an argument is not expanded: "~/x" is a file below a folder of that name */
        out->shell = words[1][0] == '-' ? NULL : xasprintf("%s%s", words[1][0] == '~' ? "./" : "", words[1]);
    } else if (len > 0 && !is_shell(words[0])) {
        out->exec = xstrdup(words[0]);
    }
}

/* A line for /bin/sh that is one plain command beginning with a path or a shell; of any other nothing is
 * known. */
static void look_at_line(const char *line, struct start_look *out)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    size_t len = strlen(line);
    while (len > 0 && strchr(" \t\r\n", line[len - 1])) {
        len--;
    }
    AUTO_FREE char *plain = xstrndup(line, len);
    if (strpbrk(plain, ";&|<>()`\n")) {
        return;
    }
    char *rest = NULL;
    for (char *word = strtok_r(plain, " \t", &rest); word && words.len < 2;
         word = strtok_r(NULL, " \t", &rest)) {
        strlist_add(&words, word);
    }
    size_t exact = 0; /* words that the shell leaves as they are */
    while (exact < words.len && !strpbrk(words.items[exact], LINE_STOPS)) {
        exact++;
    }
    if (exact > 0 && (strchr(words.items[0], '/') || is_shell(words.items[0]))) {
        look_at_words(words.items, exact, out);
    }
}

void start_look_release(struct start_look *look)
{
    free(look->exec);
    free(look->shell);
    free(look->read);
    *look = (struct start_look){0};
}

void start_look_find(const struct plan_node *node, struct start_look *out)
{
    const struct launch_probe *probe = &node->probe;
    const struct strlist *argv = &node->argv;
    switch (probe->program_type) {
    case LAUNCH_PROGRAM_COMMAND:
        if (probe->interpreter) { /* torchrun and no_python */
            out->exec = xstrdup(probe->program);
        } else {
            look_at_words(argv->items, argv->len, out);
        }
        break;
    case LAUNCH_PROGRAM_FILE:
        out->exec = xstrdup(probe->interpreter);
        out->read = xstrdup(probe->program);
        break;
    case LAUNCH_PROGRAM_MODULE:
        out->exec = xstrdup(probe->interpreter);
        break;
    case LAUNCH_PROGRAM_NONE:
        if (argv->len >= 3 && strcmp(argv->items[1], "-c") == 0) {
            look_at_line(argv->items[2], out);
        }
        break;
    }
}

int start_look_judge(const struct node_probe *probe, struct error *err)
{
    const char *fault = probe->fault;
    const char *file = probe->fault_file ? probe->fault_file : "?";
    const char *missing = probe->fault_detail ? probe->fault_detail : "?";
    const char *folder = probe->workdir ? probe->workdir : "the login folder";
    if (!fault) {
        return 0;
    }
    if (strcmp(fault, "crlf") == 0) {
        error_set(err, &kind_program_missing, "'%s' has Windows line ends", file);
        return error_hint(err, "convert it there: sed -i 's/\\r$//' %s", file);
    }
    if (strcmp(fault, "mode") == 0) {
        error_set(err, &kind_program_missing, "'%s' is there but not executable", file);
        return error_hint(err, "chmod +x %s, or program: [bash, %s]", file, file);
    }
    if (strcmp(fault, "forbidden") == 0) {
        error_set(err, &kind_program_missing,
                  "'%s' is there but may not be executed by this user, or on this file system", file);
        return error_hint(err, "look at its owner and mode and for noexec in `mount`, or program: [bash, %s]",
                          file);
    }
    if (strcmp(fault, "folder") == 0) {
        error_set(err, &kind_program_missing, "'%s' is a folder (in %s)", file, folder);
        return error_hint(err, "name the file in it that is to be run");
    }
    if (strcmp(fault, "here") == 0) {
        error_set(err, &kind_program_missing, "'%s' is not in PATH; a file of that name is in %s", file,
                  folder);
        return error_hint(err, "name it ./%s", file);
    }
    error_set(err, &kind_program_missing, "'%s' needs '%s', which is not there (its first line names it)",
              file, missing);
    return error_hint(err,
                      "correct the first line of %s, or put the interpreter before it: program: [bash, %s]",
                      file, file);
}
