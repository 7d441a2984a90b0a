/* The command `wait`: waits until runs have ended. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/commands_internal.h"
#include "cmd/each_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/session_internal.h"

/* Wait for one run. The limit is for all runs together, so it counts from the command's start. */
static int wait_one(struct cmd_call *call, const char *name, struct report_many *many, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const struct run_wait_request request = {
        .timeout_given = call->options.timeout.given,
        .timeout_s = call->options.timeout.value,
        .began_ms = call->began_ms,
    };
    if (session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    session.many = many;
    struct run run;
    run_init(&run);
    session_notify_run(&session, name);
    int result = run_wait(&session.context, name, &request, &run, err);
    if (run.name) {
        result = session_answer(&session, &run, NULL, result, err);
    }
    run_release(&run);
    return result;
}

static int run_wait_command(struct cmd_call *call, struct error *err)
{
    static const struct each_work work = {.live = true, .one = wait_one};
    call->began_ms = clock_mono_ms();
    return each_run(call, &work, err);
}

static const char *const usage[] = {"wait RUN... [--timeout DURATION]", NULL};
static const struct option own_options[] = {
    {.name = "timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, timeout),
     .value = "DURATION",
     .help = "stop waiting after this time; the run continues"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] = "RUN may contain * and ?, which match live runs. Several runs are waited for\n"
                            "until all have ended. --timeout applies to all of them together.\n";
const struct command command_wait = {
    .name = "wait",
    .summary = "wait until runs have ended, and exit with their outcome",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUNS,
    .run = run_wait_command,
};
