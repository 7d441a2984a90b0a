/* The command `stop`: stops runs. */
#include <unistd.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/each_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/session_internal.h"
#include "cmd/signals_internal.h"

static int make_request(const struct cmd_options *options, struct run_stop_request *request,
                        struct error *err)
{
    *request = (struct run_stop_request){
        .grace_given = options->grace.given,
        .grace_s = options->grace.value,
        .give_up = options->give_up,
    };
    if (!options->signal) {
        return 0;
    }
    request->signal = cmd_signal_name(options->signal, " for --signal", err);
    return request->signal ? 0 : -1;
}

static int stop_one(struct cmd_call *call, const char *name, struct report_many *many, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    struct run_stop_request request;
    if (make_request(&call->options, &request, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    session.many = many;
    struct run run;
    struct run_stop_result stopped = {0};
    run_init(&run);
    session_notify_run(&session, name);
    int result = run_stop(&session.context, name, &request, &run, &stopped, err);
    if (run.name) {
        result = session_answer(&session, &run, &stopped, result, err);
    }
    run_stop_result_release(&stopped);
    run_release(&run);
    return result;
}

static int run_stop_command(struct cmd_call *call, struct error *err)
{
    static const struct each_work work = {.live = true, .survivors = true, .one = stop_one};
    struct run_stop_request request;
    return make_request(&call->options, &request, err) == 0 ? each_run(call, &work, err) : -1;
}

static const char *const usage[] = {"stop RUN... [--grace DURATION] [--signal NAME] [--give-up]", NULL};
static const struct option own_options[] = {
    {.name = "grace",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, grace),
     .value = "DURATION",
     .help = "time between the signal and KILL (default: the job file's, else 40s)"},
    {.name = "signal",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, signal),
     .value = "NAME",
     .help = "the signal to send first (default: the job file's, else TERM)"},
    {.name = "give-up",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, give_up),
     .help = "write off nodes that cannot be reached"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "RUN may contain * and ?, which match live runs. Quote them for the shell. Every\n"
    "run is processed, even if another one fails.\n";
const struct command command_stop = {
    .name = "stop",
    .summary = "stop a run on all its nodes and verify that no process is left",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUNS,
    .run = run_stop_command,
};
