/* Works on several runs one after the other, and combines the outcomes. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/choose_internal.h"
#include "cmd/each_internal.h"
#include "cmd/session_internal.h"
#include "model/kind.h"
#include "report/output.h"
#include "run/supervisor.h"

/*
 * The record of a run without a supervisor says that the run is live until its nodes are asked. Commands on
 * ended runs ask them.
 */
static int observe_again(struct session *session, const char *name, struct run *run, struct error *err)
{
    struct run_supervisor supervisor;
    run_supervisor_find(&session->store, name, &supervisor);
    bool alive = supervisor.alive;
    run_supervisor_release(&supervisor);
    if (alive || !run_state_is_live(run->state)) {
        return 0;
    }
    run_release(run);
    run_init(run);
    return run_status(&session->context, name, run, err);
}

static bool is_wanted(const struct each_work *work, const struct run *run)
{
    if (run_state_is_live(run->state) != work->live) {
        return false;
    }
    return work->until == 0 || run->ended_ms <= work->until;
}

/* Add the runs that match to names. Returns how many match; records that cannot be read are reported. */
static long add_matching(struct session *session, const struct each_work *work, const char *pattern,
                         struct strlist *names, struct error *err)
{
    AUTO_STRLIST struct strlist all = STRLIST_INIT;
    long found = 0;
    if (run_store_names(&session->store, &all, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < all.len; i++) {
        struct run run;
        struct error one = ERROR_INIT;
        const char *name = all.items[i];
        if (fnmatch(pattern, name, FNM_NOESCAPE) != 0) {
            continue;
        }
        int result = run_store_load(&session->store, name, &run, &one);
        if (result == 0 && !work->live) {
            result = observe_again(session, name, &run, &one);
        }
        bool wanted = result == 0 && is_wanted(work, &run);
        run_release(&run);
        if (error_is_interruption(&one)) {
            *err = one;
            return -1;
        }
        if (result != 0) {
            failures_add(&session->call->failures, NULL, &one);
            failure_print(&one, NULL, session->call->style.color_err);
        }
        found += wanted ? 1 : 0;
        if (wanted && !strlist_has(names, name)) {
            strlist_add(names, name);
        }
    }
    return found;
}

static void report_no_match(struct session *session, const struct each_work *work, const char *pattern,
                            struct error *none)
{
    error_set(none, &kind_no_such_run, "no %s run matches '%s'", work->live ? "live" : "ended", pattern);
    error_hint(none, "`mtlaunch list --state %s` shows what there is", work->live ? "live" : "ended");
    failures_add(&session->call->failures, NULL, none);
    failure_print(none, NULL, session->call->style.color_err);
}

/*
 * Add the names of the runs to work on, each once, in the order of the operands. none is set for a pattern
 * without a match.
 */
static int choose(struct cmd_call *call, const struct each_work *work, struct strlist *names,
                  struct error *none, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    if (session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    if (work->all) {
        return add_matching(&session, work, "*", names, err) < 0 ? -1 : 0;
    }
    for (size_t i = 0; i < call->operands.len; i++) {
        const char *word = call->operands.items[i];
        long found = 1;
        if (choose_is_pattern(word)) {
            found = add_matching(&session, work, word, names, err);
        } else if (!strlist_has(names, word)) {
            strlist_add(names, word);
        }
        if (found < 0) {
            return -1;
        }
        if (found == 0) {
            report_no_match(&session, work, word, none);
        }
    }
    return 0;
}

/* Work on one of several runs. Its failure is reported here, and the others are still processed. */
static int work_on(struct cmd_call *call, const struct each_work *work, const char *name,
                   struct report_many *many, struct error *err)
{
    int code = work->one(call, name, many, err);
    if (code >= 0) {
        return code;
    }
    if (!failures_has(&call->failures, err)) {
        failure_print(err, NULL, call->style.color_err);
    }
    if (many && !report_many_has(many, name)) {
        report_many_add_failed(many, name, work->survivors, err);
    }
    return err->kind->exit_code;
}

/* An interruption ends the whole command: report the runs that were not worked on. */
static void report_rest(const struct each_work *work, const struct strlist *names, size_t from,
                        const struct error_kind *kind, struct report_many *many)
{
    AUTO_STRLIST struct strlist rest = STRLIST_INIT;
    for (size_t i = from; i < names->len; i++) {
        struct error err = ERROR_INIT;
        error_set(&err, kind, "interrupted before anything was done for it");
        report_many_add_failed(many, names->items[i], work->survivors, &err);
        strlist_add(&rest, names->items[i]);
    }
    AUTO_FREE char *list = strlist_join(&rest, ", ");
    if (rest.len > 0) {
        msg_warn("interrupted before anything was done for %s", list);
    }
}

static int print_many(struct cmd_call *call, struct report_many *many, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (!call->style.json) {
        return 0;
    }
    report_many_json(many, &text);
    call->answered = true;
    return output_print(&text, err);
}

static int work_on_all(struct cmd_call *call, const struct each_work *work, const struct strlist *names,
                       const struct error *none, struct error *err)
{
    struct error output = ERROR_INIT;
    struct report_many *many = report_many_new();
    int code = failures_code(&call->failures); /* of records that could not be read, patterns without a run */
    bool stopped = false;
    for (size_t i = 0; i < names->len && !stopped; i++) {
        struct error one = ERROR_INIT;
        failures_release(&call->failures);
        code = kind_worse_code(code, work_on(call, work, names->items[i], many, &one));
        stopped = one.kind && (error_is_interruption(&one) || one.kind == &kind_output_closed);
        if (stopped) {
            code = one.kind->exit_code;
        }
        if (stopped && error_is_interruption(&one)) {
            report_rest(work, names, i + 1, one.kind, many);
        }
    }
    if (none->kind) {
        report_many_set_error(many, none);
    }
    if (print_many(call, many, &output) != 0 && code == 0) {
        *err = output;
        code = -1;
    }
    report_many_free(many);
    return code;
}

int each_run(struct cmd_call *call, const struct each_work *work, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    struct error none = ERROR_INIT;
    if (choose_check_words(&call->operands, err) != 0) {
        return -1;
    }
    if (call->operands.len == 1 && !choose_is_pattern(call->operands.items[0])) {
        return work->one(call, call->operands.items[0], NULL, err);
    }
    if (choose(call, work, &names, &none, err) != 0) {
        return -1;
    }
    if (work->all && names.len == 0 && call->failures.len == 0) {
        msg_info("no run has ended%s", work->until ? " that long ago" : "");
    }
    return work_on_all(call, work, &names, &none, err);
}
