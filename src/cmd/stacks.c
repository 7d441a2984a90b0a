/* `mtlaunch stacks`: what the processes of a run are doing. */
#include "report/stacks.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "report/output.h"

/* Warn why there is no Python stack of a rank, or of a whole node; failures of nodes have been reported. */
static void warn_of_problems(const struct run_stacks_result *result)
{
    for (size_t i = 0; i < result->problems_len; i++) {
        msg_warn("%s: %s", result->problems[i].host, result->problems[i].text);
    }
}

static int run_stacks_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    const struct run_stacks_request request = {
        .nodes = &call->options.log_nodes,
        .ranks = &call->options.stack_ranks,
        .py_spy = call->options.py_spy,
    };
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    AUTO_STR struct str text = STR_INIT;
    struct run run;
    struct run_stacks_result result;
    run_init(&run);
    int code = run_stacks(&session.context, name, &request, &run, &result, err);
    if ((result.groups.len > 0 || result.problems_len > 0) && call->style.json) {
        report_stacks_json(&result, code == 0 ? NULL : err, &text);
        call->answered = true;
    } else {
        warn_of_problems(&result);
        report_stacks_text(&result, call->options.full, &text);
    }
    run_stacks_result_release(&result);
    run_release(&run);
    return output_print_last(&text, code, err);
}

static const char *const usage[] = {
    "stacks RUN [--node N|HOST]... [--rank R]... [--full] [--py-spy FILE]",
    NULL,
};
static const struct option own_options[] = {
    CMD_OPTION_NODE,
    {.name = "rank",
     .type = OPTION_LIST,
     .offset = offsetof(struct cmd_options, stack_ranks),
     .value = "R",
     .help = "only this global rank"},
    {.name = "full",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, full),
     .help = "show all frames with whole paths, not only those of the program"},
    {.name = "py-spy",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, py_spy),
     .value = "FILE",
     .help = "use this py-spy on the nodes"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "Ranks at the same place are one group. The first line names each place, then\n"
    "come the groups, those that differ from most ranks first: when a collective\n"
    "hangs, the fault is usually there.\n"
    "\n"
    "Python stacks need py-spy on the node: in PATH, in the Python environment of the\n"
    "job, or given with --py-spy. Without it the state of each process, the kernel\n"
    "function it sleeps in and its use of the CPU are shown. Nothing is signalled or\n"
    "paused.\n";
const struct command command_stacks = {
    .name = "stacks",
    .summary = "show what the processes of a run are doing",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUN,
    .run = run_stacks_command,
};
