/* Writes the manual pages, from the tables of commands and options and the parts of the reference. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check.h"
#include "check/comm.h"
#include "cmd/cmd.h"
#include "cmd/man_internal.h"
#include "cmd/reference_internal.h"

#define PAGE_DATE "2026-11-30" /* fixed, so that the same sources make the same page */

static void add_line(struct str *out, const char *text)
{
    page_roff(out, text);
    str_add_char(out, '\n');
}

/* Add lines unchanged, like the program's own output. */
static void add_verbatim(struct str *out, const char *text)
{
    str_add(out, ".RS 4\n.nf\n");
    page_roff(out, text);
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
        page_roff_bold(out, letter);
        str_add(out, ", ");
    }
    str_add(out, "\\fB\\-\\-");
    page_roff(out, option->name);
    str_add(out, "\\fR");
    if (option->value) {
        str_add(out, " \\fI");
        page_roff(out, option->value);
        str_add(out, "\\fR");
    }
    for (size_t i = 0; !option->value && option->choices && option->choices[i]; i++) {
        str_add_char(out, i == 0 ? ' ' : '|');
        page_roff_bold(out, option->choices[i]);
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
        page_roff(out, command->name);
        str_add(out, "\\fR");
        add_line(out, command->usage[i] + strlen(command->name));
    }
    str_add(out, ".PP\n");
    str_add_char(out, (char)toupper((unsigned char)command->summary[0]));
    page_roff(out, command->summary + 1);
    str_add(out, ".\n");
    if (command->takes_hosts || command->takes_job) {
        str_addf(out, "Takes %s%s%s; see below.\n", command->takes_hosts ? "host options" : "",
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

static void add_check(const char *id, const char *title, const char *when, const char *why, struct str *out)
{
    str_add(out, ".TP\n");
    page_roff_bold(out, id);
    str_add(out, "\n");
    page_roff(out, title);
    page_roff(out, when);
    str_add(out, ": ");
    page_roff(out, why);
    str_add(out, ".\n");
}

static void add_checks(struct str *out)
{
    str_add(out, ".SH CHECKS\n");
    for (size_t i = 0; i < checks_count; i++) {
        const struct check *check = checks_all[i];
        add_check(check->id, check->title, check->when == CHECK_ON_REQUEST ? "" : " (start makes it, too)",
                  check->why, out);
    }
    add_check(COMM_ID, COMM_TITLE, " (only with --comm)", COMM_WHY, out);
}

static const struct {
    const char *path, *meaning;
} files[] = {
    {"~/.local/state/mtlaunch/runs/RUN/", "the record of a run, on the machine it was started from"},
    {"~/.config/mtlaunch/jobs/NAME.yaml", "jobs that start finds by name, from any folder"},
    {"ARTIFACTS/logs/RUN_node<rank>.log",
     "on a node: the output of the current attempt; ARTIFACTS is ~/.mtlaunch "
     "unless the spec or --artifacts says otherwise"},
    {"ARTIFACTS/run_state/RUN_node<rank>.*",
     "on a node: the job's process, the run it belongs to, how it ended"},
};

static void add_head(struct str *out, const struct manual *manual)
{
    AUTO_FREE char *title = xstrdup(manual->name);
    for (char *at = title; *at; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    str_add(out, ".\\\" Written by the build from the tables that the program itself reads.\n.TH ");
    page_roff(out, title);
    str_addf(out, " %d \"" PAGE_DATE "\" \"mtlaunch " MTLAUNCH_VERSION "\" \"%s\"\n.SH NAME\n",
             manual->section, manual->section == 1 ? "User Commands" : "File Formats");
    page_roff(out, manual->name);
    str_add(out, " \\- ");
    add_line(out, manual->summary);
}

static void add_description(struct str *out)
{
    str_add(out, ".SH SYNOPSIS\n\\fBmtlaunch\\fR \\fICOMMAND\\fR [\\fIWORD\\fR]... [\\fIOPTION\\fR]...\n"
                 ".SH DESCRIPTION\n");
    add_line(
        out,
        "mtlaunch reads a host list and a job file, starts torchrun or any program on every node over ssh "
        "with each node's rank, master address and environment, keeps track of processes and logs, and ends "
        "a run so that nothing is left behind. The nodes need sshd and a POSIX sh.");
    str_add(out, ".PP\n");
    add_line(out, "Results go to standard output, progress and messages to standard error. Every run has a "
                  "name. If the command that started it ends, the run continues, and any later mtlaunch "
                  "command on this machine can manage it.");
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

/* mtlaunch(1): commands and options, then the topics of `help` that have no manual page of their own. */
static void add_program(struct page *page)
{
    struct str *out = page->out;
    add_description(out);
    str_add(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < commands_count; i++) {
        add_command(out, commands[i]);
    }
    add_option_sections(out);
    add_checks(out);
    reference_exit_codes(page);
    reference_json(page);
    reference_environment(page);
    page_section(page, "Files");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        page_item(page, files[i].path, files[i].meaning);
    }
    reference_troubleshooting(page);
    add_examples(out);
}

const struct manual manuals[] = {
    {"mtlaunch", 1, "start, watch, explain and stop multi-node training over plain SSH", add_program},
    {"mtlaunch-job", 5, "the job file of mtlaunch", reference_job},
    {"mtlaunch-hosts", 5, "the host lists of mtlaunch", reference_hosts},
};
const size_t manuals_count = ARRAY_LEN(manuals);

void manual_write(const struct manual *manual, struct str *out)
{
    struct page page = {.out = out, .form = PAGE_ROFF};
    add_head(out, manual);
    manual->add(&page);
    str_add(out, ".SH SEE ALSO\n");
    for (size_t i = 0; i < manuals_count; i++) {
        if (&manuals[i] != manual) {
            str_add(out, ".BR ");
            page_roff(out, manuals[i].name);
            str_addf(out, " (%d),\n", manuals[i].section);
        }
    }
    str_add(out, ".BR ssh (1),\n.BR ssh_config (5)\n");
}
