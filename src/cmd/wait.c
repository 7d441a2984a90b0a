#include <unistd.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "cmd/tell_internal.h"

static int run_wait_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    const struct run_wait_request request = {
        .timeout_given = call->options.timeout.given,
        .timeout_s = call->options.timeout.value,
    };
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0)
        return -1;
    struct run run;
    run_init(&run);
    session_tell_run(&session, name);
    int result = run_wait(&session.context, name, &request, &run, err);
    if (run.name)
        result = session_answer(&session, &run, NULL, result, err);
    run_release(&run);
    return result;
}

static const char *const usage[] = {"wait RUN [--timeout DURATION]", NULL};
static const struct option own_options[] = {
    {.name = "timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, timeout),
     .value = "DURATION",
     .help = "give up waiting after this time; the run goes on"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_wait = {
    .name = "wait",
    .summary = "wait for the end of a run and end with its outcome",
    .usage = usage,
    .own = &own,
    .min_operands = 1,
    .max_operands = 1,
    .operands = "RUN",
    .run = run_wait_command,
};
