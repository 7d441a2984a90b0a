#include <ctype.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/exits_internal.h"

#define PAGE_DATE "2026-11-29" /* of the words that stand here: the same sources make the same page */
#include "cmd/man_internal.h"

/* Text as roff prints it unchanged: a minus is no hyphen, and nothing at a line's start is a request. */
static void add_text(struct str *out, const char *text)
{
    bool at_start = out->len == 0 || out->data[out->len - 1] == '\n';
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\'')) {
            str_add(out, "\\&");
        }
        if (*text == '\\') {
            str_add(out, "\\e");
        } else if (*text == '-') {
            str_add(out, "\\-");
        } else if (*text == '\'') {
            str_add(out, "\\(aq");
        } else if (*text == '^') {
            str_add(out, "\\(ha");
        } else if (*text == '~') {
            str_add(out, "\\(ti");
        } else if (*text == '`') {
            str_add(out, "\\(ga");
        } else {
            str_add_char(out, *text);
        }
        at_start = *text == '\n';
    }
}

static void add_line(struct str *out, const char *text)
{
    add_text(out, text);
    str_add_char(out, '\n');
}

static void add_bold(struct str *out, const char *text)
{
    str_add(out, "\\fB");
    add_text(out, text);
    str_add(out, "\\fR");
}

/* Lines as they stand, in the manner of the program's own output. */
static void add_verbatim(struct str *out, const char *text)
{
    str_add(out, ".RS 4\n.nf\n");
    add_text(out, text);
    str_add(out, ".fi\n.RE\n");
}

static void add_option(struct str *out, const struct option *option)
{
    if (option->type == OPTION_UNBUILT) {
        return;
    }
    str_add(out, ".TP\n");
    if (option->letter) {
        const char letter[] = {'-', option->letter, '\0'};
        add_bold(out, letter);
        str_add(out, ", ");
    }
    str_add(out, "\\fB\\-\\-");
    add_text(out, option->name);
    str_add(out, "\\fR");
    if (option->value) {
        str_add(out, " \\fI");
        add_text(out, option->value);
        str_add(out, "\\fR");
    }
    for (size_t i = 0; !option->value && option->choices && option->choices[i]; i++) {
        str_add_char(out, i == 0 ? ' ' : '|');
        add_bold(out, option->choices[i]);
    }
    str_add_char(out, '\n');
    add_line(out, option->help);
}

static void add_group(struct str *out, const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        add_option(out, &group->options[i]);
    }
}

static void add_command(struct str *out, const struct command *command)
{
    str_addf(out, ".SS %s\n", command->name);
    for (size_t i = 0; command->usage[i]; i++) {
        if (i) {
            str_add(out, ".br\n");
        }
        str_add(out, "\\fBmtlaunch ");
        add_text(out, command->name);
        str_add(out, "\\fR");
        add_line(out, command->usage[i] + strlen(command->name));
    }
    str_add(out, ".PP\n");
    str_add_char(out, (char)toupper((unsigned char)command->summary[0]));
    add_text(out, command->summary + 1);
    str_add(out, ".\n");
    if (command->takes_hosts || command->takes_job) {
        str_addf(out, "Takes %s%s%s, see below.\n", command->takes_hosts ? "host options" : "",
                 command->takes_hosts && command->takes_job ? " and " : "",
                 command->takes_job ? "job options" : "");
    }
    if (command->own) {
        add_group(out, command->own);
    }
    if (command->notes) {
        str_add(out, ".PP\n");
        add_verbatim(out, command->notes);
    }
}

static void add_option_sections(struct str *out)
{
    const struct option_group *const groups[] = {&cmd_group_global, &cmd_group_hosts, &cmd_group_job};
    str_add(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        str_add(out, ".SS ");
        add_line(out, groups[i]->title);
        add_group(out, groups[i]);
    }
}

static void add_exit_status(struct str *out)
{
    str_add(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < exit_meanings_count; i++) {
        str_addf(out, ".TP\n.B %d\n", exit_meanings[i].code);
        add_line(out, exit_meanings[i].meaning);
    }
    str_add(out, ".PP\nSeveral at once: 7, then 3, then 4, then 1.\n");
}

static const struct {
    const char *name, *meaning;
} variables[] = {
    {"MTLAUNCH_HOSTFILE", "the host file when neither the command line nor the spec names hosts"},
    {"MTLAUNCH_JOBS", "folders in which JOB is looked up, separated by colons"},
    {"ZERO_STAGE, CONTAINER_NAME, NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT, ARTIFACT_ROOT",
     "act as the job options of those names; an empty one is unset; CONTAINER_NAME acts only where the spec "
     "has a "
     "container"},
    {"XDG_STATE_HOME", "where the records of runs are kept, in mtlaunch/runs (~/.local/state)"},
    {"NO_COLOR", "when set and not empty: no colour and no bars"},
    {"COLUMNS", "the width of tables"},
};

static const struct {
    const char *path, *meaning;
} files[] = {
    {"~/.local/state/mtlaunch/runs/RUN/", "the record of a run, on the machine it was started from"},
    {"~/.config/mtlaunch/jobs/NAME.yaml", "jobs that start finds by name, from any folder"},
    {"ARTIFACTS/logs/RUN_node<rank>.log",
     "on a node: the output of the current attempt; ARTIFACTS is ~/.mtlaunch "
     "unless the spec or --artifacts says otherwise"},
    {"ARTIFACTS/run_state/RUN_node<rank>.*", "on a node: the job's process, whose it is, how it ended"},
};

static void add_tagged(struct str *out, const char *tag, const char *meaning)
{
    str_add(out, ".TP\n");
    add_bold(out, tag);
    str_add_char(out, '\n');
    add_line(out, meaning);
}

static void add_head(struct str *out)
{
    str_add(out, ".\\\" Written by the build from the tables of commands and options.\n"
                 ".TH MTLAUNCH 1 \"" PAGE_DATE "\" \"mtlaunch " MTLAUNCH_VERSION "\" \"User Commands\"\n"
                 ".SH NAME\nmtlaunch \\- start, watch and stop multi\\-node training over plain SSH\n"
                 ".SH SYNOPSIS\n\\fBmtlaunch\\fR \\fICOMMAND\\fR [\\fIWORD\\fR]... [\\fIOPTION\\fR]...\n"
                 ".SH DESCRIPTION\n");
    add_line(
        out,
        "mtlaunch reads a host list and a job file, starts torchrun or any program on every node over ssh "
        "with "
        "each node's rank, master address and environment, keeps track of processes and logs, and ends a run "
        "so that nothing is left behind. The nodes need sshd and a POSIX sh.");
    str_add(out, ".PP\n");
    add_line(out,
             "Results go to standard output, progress and messages to standard error. A run has a name; the "
             "command "
             "that started it may end, the run goes on, and any later mtlaunch on this machine manages it.");
}

static void add_examples(struct str *out)
{
    str_add(out, ".SH EXAMPLES\n");
    add_verbatim(out, "mtlaunch init train --hostfile hosts.txt --program train.py\n"
                      "mtlaunch start train run1 --dry-run\n"
                      "mtlaunch start train run1\n"
                      "mtlaunch logs run1 -f\n"
                      "mtlaunch stop run1\n");
    str_add(out, "In CI, the run's outcome as exit status:\n.PP\n");
    add_verbatim(out, "mtlaunch start train smoke --wait --timeout 10m\n");
}

void man_page(struct str *out)
{
    add_head(out);
    str_add(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < commands_count; i++) {
        if (commands[i]->run) {
            add_command(out, commands[i]);
        }
    }
    add_option_sections(out);
    add_exit_status(out);
    str_add(out, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        add_tagged(out, variables[i].name, variables[i].meaning);
    }
    str_add(out, ".SH FILES\n");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        add_tagged(out, files[i].path, files[i].meaning);
    }
    add_examples(out);
    str_add(out, ".SH SEE ALSO\n.BR ssh (1),\n.BR ssh_config (5),\n.BR sshd (8)\n");
}
