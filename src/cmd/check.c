/* The command `check`: finds what would make a job fail, before it starts. */
#include "report/check.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "cmd/setup_internal.h"
#include "model/kind.h"
#include "report/output.h"

static int unknown_id(const char *id, const char *where, struct error *err)
{
    const char *ids[CHECKS_MAX] = {NULL};
    for (size_t i = 0; i < checks_count; i++) {
        ids[i] = checks_all[i]->id;
    }
    const char *near = text_nearest(id, ids, checks_count);
    error_set(err, &kind_usage, "%s: unknown check '%s'", where, id);
    return near ? error_hint(err, "did you mean '%s'?", near)
                : error_hint(err, "`mtlaunch check --list` prints the checks");
}

/* Set or clear the checks in a list of ids ("gpus,port"). */
static int apply_ids(const char *list, const char *where, bool value, struct check_choice *choice,
                     struct error *err)
{
    AUTO_FREE char *copy = xstrdup(list);
    char *rest = NULL;
    size_t count = 0;
    for (char *id = strtok_r(copy, ", ", &rest); id; id = strtok_r(NULL, ", ", &rest)) {
        size_t i = 0;
        while (i < checks_count && strcmp(checks_all[i]->id, id) != 0) {
            i++;
        }
        if (i == checks_count) {
            return unknown_id(id, where, err);
        }
        choice->wanted[i] = value;
        count++;
    }
    return count > 0 ? 0 : error_set(err, &kind_usage, "%s: no check is named", where);
}

/* With --only exactly the named checks run, even those that the spec leaves out. */
static int choose(const struct cmd_options *options, const struct job *job, struct check_choice *choice,
                  struct error *err)
{
    *choice = (struct check_choice){0};
    for (size_t i = 0; i < checks_count; i++) {
        choice->wanted[i] = !options->check_only;
    }
    if (!options->check_only && check_choose_skip(&job->checks_skip, choice, err) != 0) {
        return -1;
    }
    if (options->check_only && apply_ids(options->check_only, "--only", true, choice, err) != 0) {
        return -1;
    }
    return options->check_skip ? apply_ids(options->check_skip, "--skip", false, choice, err) : 0;
}

static int print_list(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (call->operands.len > 0) {
        error_set(err, &kind_usage, "'--list' prints all checks and takes no job");
        return error_hint(err, "mtlaunch check --list");
    }
    if (call->style.json) {
        report_checks_json(&text);
    } else {
        report_checks_text(&call->style, &text);
    }
    return output_print(&text, err);
}

static int answer(struct cmd_call *call, const struct run_checked *checked, int result, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct error output = ERROR_INIT;
    if (call->style.json) {
        report_check_json(checked, result == 0 ? NULL : err, &text);
        call->answered = true;
    } else if (result == 0) {
        report_check_text(checked, &call->style, &text);
    }
    if (output_print(&text, &output) != 0 && result == 0) {
        *err = output;
        return -1;
    }
    if (result == 0 && comm_left_something(&checked->comm)) {
        return kind_not_proven.exit_code;
    }
    if (result == 0 && checked->unreached > 0) {
        return kind_unreachable.exit_code;
    }
    if (result == 0 && findings_worst(&checked->findings, NULL) == FINDING_FAIL) {
        return kind_scan_failed.exit_code; /* the exit code of every failed check */
    }
    return result;
}

static int run_check_command(struct cmd_call *call, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    AUTO_SESSION struct session session = {0};
    struct check_choice choice;
    struct run_checked checked = {0};
    if (call->options.check_list) {
        return print_list(call, err);
    }
    if (call->operands.len == 0) {
        error_set(err, &kind_usage, "'check' needs JOB");
        return error_hint(err, "mtlaunch check JOB, or mtlaunch check --list");
    }
    if (setup_load(&setup, call, call->operands.items[0], err) != 0 ||
        choose(&call->options, &setup.job, &choice, err) != 0 || setup_endpoints(&setup, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    const struct run_check_request request = {
        .job = &setup.job,
        .hosts = &setup.hosts,
        .host_facts = setup.facts,
        .choice = &choice,
        .comm = call->options.check_comm,
    };
    int result = run_check(&session.context, &request, &checked, err);
    result = answer(call, &checked, result, err);
    run_checked_release(&checked);
    return result;
}

static const char *const usage[] = {
    "check JOB [HOST OPTION]... [JOB OPTION]... [--only IDS] [--skip IDS] [--comm] [-- ARG...]",
    "check --list",
    NULL,
};
static const struct option own_options[] = {
    {.name = "only",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, check_only),
     .value = "IDS",
     .help = "run only these checks, separated by commas"},
    {.name = "skip",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, check_skip),
     .value = "IDS",
     .help = "skip these checks, separated by commas"},
    {.name = "list",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, check_list),
     .help = "print the id, title and reason of every check"},
    {.name = "comm",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, check_comm),
     .help = "also run all-reduces with the job's torch, in pairs and over all nodes"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "Each host is asked once, in the way the job would be started there: over ssh, in\n"
    "the container, after the setup lines. The result of a check is ok, a note, a\n"
    "warning or a failure. The exit code is 4 after a failure, and 3 if a host could\n"
    "not be reached. 'start' runs the quick checks by itself.\n"
    "\n"
    "--comm takes up to several minutes. The job's interpreter runs short\n"
    "all-reduces, with NCCL where there are GPUs, else with gloo: between each pair\n"
    "of nodes (or a sample of the pairs, if there are many), then over all nodes\n"
    "together. Nothing of it stays on the nodes; if that cannot be verified, the exit\n"
    "code is 7.\n";
const struct command command_check = {
    .name = "check",
    .summary = "find what would make a job fail before it starts",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .takes_job = true,
    .max_operands = 1,
    .takes_rest = true,
    .run = run_check_command,
};
