/* `mtlaunch status`: prints the current state of a run, or of all runs. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/term.h"
#include "cmd/commands_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/runs_internal.h"
#include "cmd/watch_internal.h"
#include "model/kind.h"

int status_exit_code(enum run_state state)
{
    switch (state) {
    case RUN_DEGRADED:
    case RUN_FAILED:
        return kind_run_failed.exit_code;
    case RUN_LOST:
        return kind_run_lost.exit_code;
    case RUN_STOPPING:
    case RUN_STARTING:
    case RUN_RUNNING:
    case RUN_STOPPED:
    case RUN_FINISHED:
        break;
    }
    return 0;
}

static int hint_untouched(struct error *err)
{
    return error_is_interruption(err) ? error_hint(err, "the run was not touched") : -1;
}

/* Query once. *live: a further query may give another result. */
static int look(struct session *session, const char *name, bool *live, struct error *err)
{
    struct run run;
    if (!name) {
        *live = true;
        return runs_print(session, true, err);
    }
    run_init(&run);
    session->context.want_gpus = true;
    int result = run_status(&session->context, name, &run, err);
    if (result == 0) {
        result = session_answer(session, &run, NULL, result, err);
    }
    if (result == 0) {
        *live = run_state_is_live(run.state);
        result = status_exit_code(run.state);
    }
    run_release(&run);
    return result < 0 ? hint_untouched(err) : result;
}

/* Print the status repeatedly, when it cannot be redrawn in place. */
static int repeat(struct session *session, const char *name, struct error *err)
{
    for (;;) {
        bool live = false;
        session->call->style.now_ms = clock_real_ms();
        int code = look(session, name, &live, err);
        if (code < 0 || !live) {
            return code;
        }
        if (run_pause(&session->context, WATCH_PERIOD_MS, err) != 0) {
            return hint_untouched(err);
        }
        failures_release(&session->call->failures);
    }
}

static int watch(struct session *session, const char *name, struct error *err)
{
    return term_can_redraw(STDOUT_FILENO) && !session->call->style.json
               ? watch_on_terminal(session, name, err)
               : repeat(session, name, err);
}

static int run_status_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.len ? call->operands.items[0] : NULL;
    bool live;
    if ((name && job_check_run_name(name, err) != 0) ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    if (name) {
        session_notify_run(&session, name);
    }
    return call->options.watch ? watch(&session, name, err) : look(&session, name, &live, err);
}

static const char *const usage[] = {"status [RUN] [--watch] [--full]", NULL};
static const struct option own_options[] = {
    {.name = "watch",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, watch),
     .help = "refresh every two seconds until the run has ended"},
    {.name = "full",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, full),
     .help = "print one line per node, even in a run of more than 16 nodes"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "On a terminal, --watch redraws in place. Keys: q quits; the arrows, PgUp, PgDn,\n"
    "Home and End scroll; l shows the log of a node and follows it, 5l that of node\n"
    "5, and left and right go to the next node; s shows the stacks of all ranks; Esc\n"
    "goes back. Elsewhere the status is printed repeatedly.\n"
    "\n"
    "OUTPUT is how long ago a node last wrote to its log. The line of bars shows the\n"
    "loss, or the time of a step, over the whole run, as recorded by the supervisor.\n";
const struct command command_status = {
    .name = "status",
    .summary = "show the current state of a run, or of all runs, as its nodes report it",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .max_operands = 1,
    .run = run_status_command,
};
