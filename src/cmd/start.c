/* The command `start`: starts a run, or prints its plan. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/signals.h"
#include "cmd/commands_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/session_internal.h"
#include "cmd/setup_internal.h"
#include "cmd/supervise_internal.h"
#include "cmd/sync_internal.h"
#include "model/kind.h"
#include "report/dryrun.h"
#include "report/output.h"

static int dry_run(struct cmd_call *call, const struct setup *setup, const char *run, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct plan plan;
    const struct plan_input input = {
        .job = &setup->job,
        .hosts = &setup->hosts,
        .host_facts = setup->facts,
        .run = run,
        .environ_ = (const char *const *)environ,
    };
    if (plan_make(&plan, &input, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < plan.warnings.len; i++) {
        msg_warn("%s", plan.warnings.items[i]);
    }
    int result = call->style.json ? report_plan_json(&plan, output_print, &text, err)
                                  : report_plan_text(&plan, &call->style, output_print, &text, err);
    plan_release(&plan);
    return result == 0 ? output_print(&text, err) : -1;
}

/*
 * The terminal may close while nodes are being started: the start is completed first. If SIGHUP is ignored
 * (nohup), it stays ignored.
 */
static void hold_hangup(void)
{
    if (!signal_is_ignored(SIGHUP)) {
        signal_block(SIGHUP);
    }
}

/*
 * Wait in the foreground: the merged log is the result, the outcome of the run goes to stderr. started: false
 * for a run that failed at once; its log is still printed and its outcome reported.
 */
static int wait_for_it(struct session *session, struct run *run, bool started, struct error *err)
{
    const struct cmd_options *options = &session->call->options;
    const struct run_wait_request request = {
        .timeout_given = options->timeout.given,
        .timeout_s = options->timeout.value,
        .stop_at_timeout = true,
        .stop_on_signal = true,
        .end_on_hangup = signal_is_blocked(SIGHUP),
        .hand_over = !options->no_supervise,
        .with_logs = true,
    };
    AUTO_FREE char *name = xstrdup(run->name);
    if (started) {
        msg_info("%s: started on %zu node%s", name, run->nodes_len, run->nodes_len == 1 ? "" : "s");
    }
    run_release(run);
    run_init(run);
    int result = run_wait(&session->context, name, &request, run, err);
    if (result == 0) {
        msg_info("%s: %s", name, run_state_name(run->state));
    }
    if (session->console.output_error.kind && result == 0) {
        *err = session->console.output_error;
        result = -1;
    }
    if (!session->call->style.json || !run->name) {
        return result;
    }
    return session_answer(session, run, NULL, result, err);
}

/* A signal that came after the start: it does not end the run. */
static void tell_late_signal(const char *name)
{
    static const struct timespec now = {0};
    sigset_t late;
    bool came = false;
    sigemptyset(&late);
    sigaddset(&late, SIGINT);
    sigaddset(&late, SIGTERM);
    while (sigtimedwait(&late, NULL, &now) > 0) {
        came = true;
    }
    if (came) {
        msg_warn("run '%s' was started before the signal came, and continues; `mtlaunch stop %s` ends it",
                 name, name);
    }
}

static int start(struct cmd_call *call, const struct setup *setup, const char *name, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    bool json_wait = call->style.json && call->options.wait;
    if (session_open(&session, call, json_wait ? STDERR_FILENO : STDOUT_FILENO, err) != 0) {
        return -1;
    }
    struct sync_display display = {.call = call};
    const struct run_start_sync sync = sync_show(&display);
    struct run run;
    const struct run_start_request request = {
        .run = name,
        .endpoints = setup->endpoints,
        .sync = call->options.no_sync ? NULL : &sync,
        .job = &setup->job,
        .hosts = &setup->hosts,
        .host_facts = setup->facts,
        .no_check = call->options.no_check,
        .watched = call->options.wait || !call->options.no_supervise,
        .goes_on = call->options.wait,
        .asked = &setup->asked,
    };
    run_init(&run);
    session_notify_job(&session, &setup->job);
    hold_hangup();
    int result = run_start(&session.context, &request, &run, err);
    bool failed_at_once = result != 0 && err->kind == &kind_run_failed;
    if ((result == 0 || failed_at_once) && call->options.wait) {
        result = wait_for_it(&session, &run, result == 0, err);
    } else {
        if (result == 0 && !call->options.no_supervise && run_state_is_live(run.state)) {
            supervise_leave_behind(&session, name);
        }
        if (run.name && (result == 0 || call->style.json)) {
            result = session_answer(&session, &run, NULL, result, err);
        }
    }
    if (result == 0 && !call->options.wait && run_state_is_live(run.state)) {
        tell_late_signal(name);
    }
    run_release(&run);
    return result;
}

/* Choose the name JOB-N, with N from the job's counter; a dry run does not use up the number. */
static int choose_name(const struct setup *setup, bool take, char **name, struct error *err)
{
    struct run_store store = {0};
    int result = run_store_open(&store, getenv("XDG_STATE_HOME"), setup->machine.home, err);
    if (result == 0) {
        result = run_store_next_name(&store, setup->job.name, take, name, err);
    }
    run_store_release(&store);
    return result;
}

static int run_start_command(struct cmd_call *call, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    AUTO_FREE char *own_name = NULL;
    const char *name = call->operands.len > 1 ? call->operands.items[1] : NULL;
    const char *named = name ? name : "RUN";
    if (call->options.wait && call->options.dry_run) {
        error_set(err, &kind_usage, "'--dry-run' and '--wait' cannot be used together");
        return error_hint(err, "leave out --wait to see the plan, or --dry-run to start the run");
    }
    if (call->options.wait) {
        session_oversee(call);
    }
    if (call->options.timeout.given && !call->options.wait) {
        error_set(err, &kind_usage, "'--timeout' needs --wait");
        return error_hint(err, "add --wait, or use 'mtlaunch wait %s --timeout' later", named);
    }
    if (call->options.full && !call->options.dry_run) {
        error_set(err, &kind_usage, "'--full' needs --dry-run");
        return error_hint(err, "add --dry-run, or use 'mtlaunch status %s --full' later", named);
    }
    if ((name && job_check_run_name(name, err) != 0) ||
        setup_load(&setup, call, call->operands.items[0], err) != 0 || setup_endpoints(&setup, err) != 0) {
        return -1;
    }
    const char *needs = policy_needs_supervisor(&setup.job.policy);
    if (call->options.no_supervise && !call->options.wait && needs) {
        error_set(err, &kind_usage, "'%s' of the spec needs a supervisor, and --no-supervise leaves none",
                  needs);
        return error_hint(err, "leave out --no-supervise, or add --wait to supervise in the foreground");
    }
    if (!name && choose_name(&setup, !call->options.dry_run, &own_name, err) != 0) {
        return -1;
    }
    name = name ? name : own_name;
    return call->options.dry_run ? dry_run(call, &setup, name, err) : start(call, &setup, name, err);
}

static const char *const usage[] = {
    "start JOB [RUN] [HOST OPTION]... [JOB OPTION]... [--wait [--timeout DURATION]] [-- ARG...]",
    "start JOB [RUN] [HOST OPTION]... [JOB OPTION]... --dry-run [--full] [-- ARG...]",
    NULL,
};
static const struct option own_options[] = {
    {.name = "wait",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, wait),
     .help =
         "stay in the foreground, print the merged log, exit with the run's outcome; Ctrl-C stops the run"},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, timeout),
     .value = "DURATION",
     .help = "with --wait: stop the run after this time"},
    {.name = "dry-run",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, dry_run),
     .help = "print what each node would run, without contacting any"},
    {.name = "full",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, full),
     .help = "with --dry-run: print every node, even if more than 16 are alike"},
    CMD_OPTIONS_WITHOUT,
    {.name = "no-supervise",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, no_supervise),
     .help = "do not leave a supervisor on this machine"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "JOB is a path that ends in .yaml or .yml, or a name looked up as NAME.yaml in\n"
    "./, ./jobs/, each folder of $MTLAUNCH_JOBS and ~/.config/mtlaunch/jobs/. RUN is\n"
    "the name of the run. Without it, JOB-N is used, where N counts up and is never\n"
    "reused. Words after '--' are appended to the program's arguments.\n";
const struct command command_start = {
    .name = "start",
    .summary = "start a job on its hosts as a named run",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .takes_job = true,
    .min_operands = 1,
    .max_operands = 2,
    .operands = "JOB",
    .takes_rest = true,
    .run = run_start_command,
};
