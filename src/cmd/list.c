/* The command `list`: prints the runs of this machine; also used by `status` without a name. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/commands_internal.h"
#include "cmd/runs_internal.h"
#include "model/kind.h"
#include "report/output.h"
#include "report/status.h"
#include "run/supervisor.h"

/* A run of a list. When it comes from a record, its nodes are not loaded, only their number. */
struct listed {
    struct run run;
    size_t node_count;
};

/* Load a run. ask: ask the nodes of a live run. */
static int load_run(struct session *session, const char *name, bool ask, struct listed *listed,
                    struct error *err)
{
    if (run_store_load_heading(&session->store, name, &listed->run, &listed->node_count, err) != 0) {
        return -1;
    }
    if (!ask || !run_state_is_live(listed->run.state)) {
        return 0;
    }
    run_release(&listed->run);
    run_init(&listed->run);
    int result = run_status(&session->context, name, &listed->run, err);
    listed->node_count = listed->run.nodes_len;
    if (result != 0) {
        run_release(&listed->run);
    }
    return result;
}

/* Do --state and --job of `list` select the run? Other commands do not have these options set. */
static bool is_wanted(const struct cmd_options *options, const struct run *run)
{
    const char *state = options->state;
    bool live = run_state_is_live(run->state);
    if (options->job && (!run->job || strcmp(options->job, run->job) != 0)) {
        return false;
    }
    if (!state || (strcmp(state, "live") == 0 && live) || (strcmp(state, "ended") == 0 && !live)) {
        return true;
    }
    return strcmp(state, run_state_name(run->state)) == 0;
}

/*
 * Load the runs of names into runs, which has room for all of them. *loaded: the number of runs loaded and
 * selected. Only an interruption is an error.
 */
static int load_runs(struct session *session, const struct strlist *names, bool ask, struct listed *runs,
                     size_t *loaded, struct error *err)
{
    for (size_t i = 0; i < names->len; i++) {
        struct error one = ERROR_INIT;
        if (load_run(session, names->items[i], ask, &runs[*loaded], &one) == 0) {
            if (is_wanted(&session->call->options, &runs[*loaded].run)) {
                ++*loaded;
            } else {
                run_release(&runs[*loaded].run);
            }
        } else if (error_is_interruption(&one)) {
            *err = one;
            return -1;
        } else {
            failures_add(&session->call->failures, NULL, &one);
            failure_print(&one, NULL, session->call->style.color_err);
        }
    }
    return 0;
}

static void add_runs(struct session *session, const struct listed *runs, size_t count, struct str *text)
{
    AUTO_FREE struct report_run *views = xcalloc(count + 1, sizeof(views[0]));
    AUTO_FREE struct run_supervisor *supervisors = xcalloc(count + 1, sizeof(supervisors[0]));
    for (size_t i = 0; i < count; i++) {
        run_supervisor_find(&session->store, runs[i].run.name, &supervisors[i]);
        views[i].run = &runs[i].run;
        views[i].node_count = runs[i].node_count;
        views[i].supervisor_host = supervisors[i].host;
        views[i].supervisor_pid = supervisors[i].pid;
        views[i].supervisor_alive = supervisors[i].alive;
    }
    if (session->call->style.json) {
        report_runs_json(views, count, text);
    } else if (count) {
        report_runs_text(views, count, &session->call->style, text);
    } else if (session->call->failures.len == 0) {
        msg_info(session->call->options.state || session->call->options.job ? "no such runs" : "no runs");
    }
    for (size_t i = 0; i < count; i++) {
        run_supervisor_release(&supervisors[i]);
    }
}

int runs_picture(struct session *session, bool ask, struct str *text, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    size_t count = 0;
    if (run_store_names(&session->store, &names, err) != 0) {
        return -1;
    }
    AUTO_FREE struct listed *runs = xcalloc(names.len + 1, sizeof(runs[0]));
    int result = load_runs(session, &names, ask, runs, &count, err);
    if (result == 0) {
        add_runs(session, runs, count, text);
    }
    for (size_t i = 0; i < count; i++) {
        run_release(&runs[i].run);
    }
    return result == 0 ? failures_code(&session->call->failures) : result;
}

int runs_print(struct session *session, bool ask, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    int code = runs_picture(session, ask, &text, err);
    msg_make_room();
    return output_print_last(&text, code, err);
}

static int run_list(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    if (session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    return runs_print(&session, false, err);
}

static const char *const usage[] = {"list [--state STATE] [--job NAME]", NULL};
static const char *const state_choices[] = {"starting", "running",  "degraded", "stopping", "lost", "failed",
                                            "stopped",  "finished", "live",     "ended",    NULL};
static const struct option own_options[] = {
    {.name = "state",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct cmd_options, state),
     .value = "STATE",
     .help = "only runs in this state; live and ended each cover several states",
     .choices = state_choices},
    {.name = "job",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, job),
     .value = "NAME",
     .help = "only runs of this job"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "STATE is starting, running, degraded, stopping, lost, failed, stopped or\n"
    "finished, as last recorded. 'live' is any of the first five, 'ended' any other.\n";
const struct command command_list = {
    .name = "list",
    .summary = "list the runs started from this machine, without contacting a node",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .run = run_list,
};
