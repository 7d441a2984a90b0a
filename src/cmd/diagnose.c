/* `mtlaunch diagnose`: finds the cause of a failed run, and the node on which it arose. */
#include "report/diagnose.h"

#include <unistd.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "report/output.h"

static int diagnose_run(struct cmd_call *call, struct explanation *explanation, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    if (call->operands.len > 1) {
        error_set(err, &kind_usage, "'diagnose' takes one run, so '%s' is one too many",
                  call->operands.items[1]);
        return error_hint(err, "for log files: mtlaunch diagnose --logs FILE...");
    }
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    return run_diagnose(&session.context, name, (unsigned)call->options.attempt.value, explanation, err);
}

static int run_diagnose_command(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct explanation explanation = {0};
    int result = 0;
    if (call->options.logs && call->options.attempt.given) {
        error_set(err, &kind_usage, "--attempt belongs to a run, and --logs takes files");
        return error_hint(err, "leave one of them out");
    }
    if (call->options.logs) {
        result = run_diagnose_logs(call->operands.items, call->operands.len, &explanation, err);
    } else {
        result = diagnose_run(call, &explanation, err);
    }
    if (result == 0 && call->style.json) {
        report_diagnose_json(&explanation, &text);
    } else if (result == 0) {
        report_diagnose_text(&explanation, &call->style, &text);
    }
    explanation_release(&explanation);
    return result == 0 ? output_print(&text, err) : result;
}

static const char *const usage[] = {"diagnose RUN [--attempt N]", "diagnose --logs FILE...", NULL};
static const struct option own_options[] = {
    {.name = "attempt",
     .type = OPTION_UINT,
     .offset = offsetof(struct cmd_options, attempt),
     .value = "N",
     .min = 1,
     .max = UINT32_MAX,
     .help = "an earlier attempt"},
    {.name = "logs",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, logs),
     .help = "read local log files, one per node, instead of a run's"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "The logs are searched on the nodes, and the messages found are ranked: one that\n"
    "can only follow from the end of another process is never the cause. With --logs,\n"
    "node<number> in a file's name gives the node, else the order of the files does.\n"
    "The facts include what NCCL uses and how far the training was. The exit code is\n"
    "0 whether a cause was found or not.\n";
const struct command command_diagnose = {
    .name = "diagnose",
    .summary = "find the cause of a failed run and the node it came from",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .min_operands = 1,
    .max_operands = CMD_RUNS_MAX,
    .operands = "RUN, or --logs and files",
    .run = run_diagnose_command,
};
