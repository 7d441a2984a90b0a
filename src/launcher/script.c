/* script: a line for /bin/sh, or an exact command. Variables such as NODE_RANK tell it its place. */
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/str.h"
#include "launcher/launcher_internal.h"
#include "model/env.h"
#include "model/kind.h"

/* Are the arguments alone too long for one word (MAX_ARG_STRLEN of execve(2)), before any quotes? */
static bool too_long(const struct strlist *args)
{
    size_t bytes = 0;
    for (size_t i = 0; i < args->len && bytes <= ENV_VALUE_MAX; i++) {
        bytes += strlen(args->items[i]);
    }
    return bytes > ENV_VALUE_MAX;
}

static int build_line(const struct launch_input *in, struct strlist *argv, struct error *err)
{
    const char *line = in->program->items[0];
    size_t len = strlen(line);
    if (strspn(line, " \t\r\n") == len) {
        error_set(err, &kind_plan, "program is empty");
        return error_hint(err, "give a line for /bin/sh, or a list of words");
    }
    strlist_add(argv, "/bin/sh");
    strlist_add(argv, "-c");
    if (!in->args->len) {
        strlist_add(argv, line);
        return 0;
    }
    /* Arguments belong to the last command of the line: a line end after it (a YAML block has one) is
     * dropped. */
    while (len > 0 && strchr(" \t\r\n", line[len - 1])) {
        len--;
    }
    AUTO_STR struct str joined = STR_INIT;
    str_add_mem(&joined, line, len);
    if (!too_long(in->args)) {
        str_add_char(&joined, ' ');
        quote_argv_pretty(&joined, in->args->items, in->args->len);
        if (joined.len <= ENV_VALUE_MAX) {
            strlist_add(argv, str_text(&joined));
            return 0;
        }
    }
    /* Pass the arguments as separate words. */
    str_truncate(&joined, len);
    str_add(&joined, " \"$@\"");
    strlist_add(argv, str_text(&joined));
    strlist_add(argv, "sh");
    strlist_copy(argv, in->args);
    return 0;
}

static int build_words(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                       struct error *err)
{
    const char *command = in->program->items[0];
    if (!*command) {
        error_set(err, &kind_plan, "the first word of program is empty");
        return error_hint(err, "begin the list with the command to run");
    }
    launcher_add_named(argv, command, probe);
    for (size_t i = 1; i < in->program->len; i++) {
        strlist_add(argv, in->program->items[i]);
    }
    strlist_copy(argv, in->args);
    probe->program_type = LAUNCH_PROGRAM_COMMAND;
    probe->program = xstrdup(command);
    return 0;
}

static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    return in->job->program_is_list ? build_words(in, argv, probe, err) : build_line(in, argv, err);
}

const struct launcher launcher_script = {
    .name = "script",
    .summary = "a command line or program of your own on every node",
    .example = {"./train.sh", "# A line for /bin/sh on every node; a list is an exact argv.\n", ""},
    .program = LAUNCHER_PROGRAM_SHELL,
    .unequal_counts = true,
    .build = build,
};
