/* `mtlaunch show`: prints what is recorded about a run on this machine; no node is asked. */
#include "report/show.h"

#include <unistd.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "report/output.h"

#define EVENTS_MAX 100000

static int run_show(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    AUTO_STR struct str text = STR_INIT;
    const struct cmd_options *options = &call->options;
    const char *name = call->operands.items[0];
    const bool all = !options->show_spec && !options->show_plan && !options->show_events;
    struct run run;
    struct run_events events = {0};
    run_init(&run);
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    int result = run_store_load(&session.store, name, &run, err);
    if (result == 0) {
        result = run_store_events(&session.store, name, EVENTS_MAX, &events, err);
    }
    const struct report_show show = {.run = &run,
                                     .events = &events,
                                     .with_spec = all || options->show_spec,
                                     .with_plan = all || options->show_plan,
                                     .with_events = all || options->show_events};
    if (result == 0 && call->style.json) {
        report_show_json(&show, &text);
    } else if (result == 0) {
        report_show_text(&show, &call->style, &text);
    }
    run_events_release(&events);
    run_release(&run);
    return result == 0 ? output_print(&text, err) : result;
}

static const char *const usage[] = {"show RUN [--spec|--plan|--events]", NULL};
static const struct option own_options[] = {
    {.name = "spec",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, show_spec),
     .help = "only the resolved job file, which 'start' reads"},
    {.name = "plan",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, show_plan),
     .help = "only the plan of the current attempt"},
    {.name = "events",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, show_events),
     .help = "only the events, oldest first"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] = "No node is contacted: use 'mtlaunch status RUN' for the current state. Secrets\n"
                            "are shown as ***. Command and environment are those of node 0. With --json the\n"
                            "object always holds spec, plan and events.\n"
                            "\n"
                            "'mtlaunch show RUN --spec >FILE.yaml' writes a job file that starts the same,\n"
                            "with profiles and options merged into it and the hosts that were used.\n";
const struct command command_show = {
    .name = "show",
    .summary = "show the recorded job file, plan and events of a run",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUN,
    .run = run_show,
};
