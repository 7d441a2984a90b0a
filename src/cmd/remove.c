#include <unistd.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "report/answer.h"
#include "report/output.h"

static int run_remove_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    AUTO_STR struct str text = STR_INIT;
    const char *name = call->operands.items[0];
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0 ||
        run_remove(&session.context, name, call->options.remove_artifacts, err) != 0)
        return -1;
    if (call->style.json)
        report_removed_json(name, &text);
    else
        str_addf(&text, "%s: removed\n", name);
    return output_print(&text, err);
}

static const char *const usage[] = {"remove RUN [--artifacts]", NULL};
static const struct option own_options[] = {
    {.name = "artifacts",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, remove_artifacts),
     .help = "before that, delete its logs and state files on the nodes"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_remove = {
    .name = "remove",
    .summary = "forget a run that has ended",
    .usage = usage,
    .own = &own,
    .min_operands = 1,
    .max_operands = 1,
    .operands = "RUN",
    .run = run_remove_command,
};
