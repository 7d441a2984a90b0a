#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/commands_internal.h"
#include "cmd/runs_internal.h"
#include "report/output.h"
#include "report/status.h"

/* Load the runs of names into runs (room for all of them); returns how many could be. */
static size_t load_runs(struct session *session, const struct strlist *names, bool ask, struct run *runs)
{
    size_t loaded = 0;
    for (size_t i = 0; i < names->len; i++) {
        struct error one = ERROR_INIT;
        struct run *run = &runs[loaded];
        run_init(run);
        int result = ask ? run_status(&session->context, names->items[i], run, &one)
                         : run_store_load(&session->store, names->items[i], run, &one);
        if (result == 0) {
            loaded++;
            continue;
        }
        failures_add(&session->call->failures, NULL, &one);
        failure_print(&one, NULL, session->call->style.color_err);
        run_release(run);
    }
    return loaded;
}

int runs_print(struct session *session, bool ask, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    if (run_store_names(&session->store, &names, err) != 0)
        return -1;
    AUTO_FREE struct run *runs = xcalloc(names.len + 1, sizeof(runs[0]));
    AUTO_FREE struct report_run *views = xcalloc(names.len + 1, sizeof(views[0]));
    size_t count = load_runs(session, &names, ask, runs);
    for (size_t i = 0; i < count; i++)
        views[i].run = &runs[i];
    if (session->call->style.json)
        report_runs_json(views, count, &text);
    else if (count)
        report_runs_text(views, count, &session->call->style, &text);
    else
        msg_info("no runs");
    for (size_t i = 0; i < count; i++)
        run_release(&runs[i]);
    msg_make_room();
    if (output_print(&text, err) != 0)
        return -1;
    return failures_code(&session->call->failures);
}

static int run_list(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    if (session_open(&session, call, STDOUT_FILENO, err) != 0)
        return -1;
    return runs_print(&session, false, err);
}

static const char *const usage[] = {"list", NULL};
const struct command command_list = {
    .name = "list",
    .summary = "print the runs started from this machine, without asking a node",
    .usage = usage,
    .run = run_list,
};
