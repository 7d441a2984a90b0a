/* Plans and runs the steps of a ladder. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/signals.h"
#include "cmd/ladder_run_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/sync_internal.h"
#include "model/kind.h"
#include "report/status.h"
#include "run/supervisor.h"

void ladder_release(struct ladder *ladder)
{
    for (size_t i = 0; i < ladder->len; i++) {
        struct ladder_item *item = &ladder->items[i];
        free(item->run);
        free(item->profiles);
        strlist_release(&item->changed);
        free(item->reason);
        if (item->has_record) {
            run_release(&item->record);
        }
        explanation_release(&item->explanation);
    }
    free(ladder->items);
    free(ladder->prefix);
    ladder_steps_release(&ladder->steps);
    compared_runs_release(&ladder->compared);
}

/* --- the call of a step ------------------------------------------------------------------------------- */

/* The ladder's own call with the options of the step; step_call_release releases it. */
static struct cmd_call make_step_call(const struct ladder *ladder, const struct ladder_step *step)
{
    struct cmd_call call = *ladder->call;
    call.failures = (struct failures){0};
    call.options.profiles = (struct strlist)STRLIST_INIT;
    strlist_copy(&call.options.profiles, &ladder->call->options.profiles);
    strlist_copy(&call.options.profiles, &step->profiles);
    if (step->nodes > 0) {
        call.options.nodes = (struct option_uint){.given = true, .value = step->nodes};
    }
    if (step->zero_stage) {
        call.options.zero_stage = step->zero_stage;
    }
    return call;
}

static void step_call_release(struct cmd_call *call)
{
    strlist_release(&call->options.profiles);
    failures_release(&call->failures);
}

/* Load the job and hosts of a step. Their warnings were already printed for the whole ladder. */
static int load_setup(struct setup *setup, const struct cmd_call *call, struct error *err)
{
    enum msg_level level = msg_get_level();
    msg_set_level(MSG_QUIET);
    int result = setup_load(setup, call, call->operands.items[0], err);
    if (result == 0) {
        result = setup_endpoints(setup, err);
    }
    msg_set_level(level);
    return result;
}

/* --- before -------------------------------------------------------------------------------------------- */

/* Has the run finished, or trained until its limit passed? Then it has measured what it should. */
static bool is_done(const struct run *run)
{
    return run->state == RUN_FINISHED ||
           (run->state == RUN_STOPPED && run->timed_out && run->progress.iteration > 0);
}

static int read_record(const struct run_store *store, struct ladder_item *item, struct error *err)
{
    if (item->has_record) {
        run_release(&item->record);
        item->has_record = false;
    }
    if (!run_store_has(store, item->run)) {
        return 0;
    }
    if (run_store_load(store, item->run, &item->record, err) != 0) {
        return -1;
    }
    item->has_record = true;
    item->done = is_done(&item->record);
    return 0;
}

static void warn_of_changes(const struct ladder_item *item)
{
    AUTO_FREE char *keys = strlist_join(&item->changed, ", ");
    if (item->changed.len > 0) {
        msg_warn(
            "run '%s' measured the job as it was: since then %s changed. To measure it again, remove the "
            "run (mtlaunch remove %s) or choose another PREFIX",
            item->run, keys, item->run);
    }
}

/*
 * Find out whether the run that counts as the step, done or live, was started from another version of the
 * job. Hosts do not count if spares may have taken their places.
 */
static void find_changes(struct ladder_item *item, const struct setup *setup)
{
    AUTO_STRLIST struct strlist keys = STRLIST_INIT;
    if (!item->done && !run_state_is_live(item->record.state)) {
        return; /* it will be started from this version */
    }
    json_t *now = jobfile_to_json(&setup->job, &setup->hosts);
    jobfile_changes(item->record.job_spec, now, &keys);
    json_decref(now);
    for (size_t i = 0; i < keys.len; i++) {
        if (setup->job.policy.spares.len == 0 || strcmp(keys.items[i], "hosts") != 0) {
            strlist_add(&item->changed, keys.items[i]);
        }
    }
    if (item->done) {
        warn_of_changes(item);
    }
}

static int check_record(struct ladder_item *item, const struct setup *setup, struct error *err)
{
    struct run_store store = {0};
    int result = run_store_open(&store, getenv("XDG_STATE_HOME"), setup->machine.home, err);
    if (result == 0) {
        result = read_record(&store, item, err);
    }
    run_store_release(&store);
    if (result != 0 || !item->has_record) {
        return result;
    }
    if (strcmp(item->record.job, setup->job.name) != 0) {
        error_set(err, &kind_run_exists, "run '%s' belongs to job '%s'", item->run, item->record.job);
        return error_hint(err, "choose another PREFIX");
    }
    find_changes(item, setup);
    return 0;
}

static int plan_step(const struct ladder_item *item, const struct setup *setup, struct error *err)
{
    struct plan plan;
    const struct plan_input input = {
        .job = &setup->job,
        .hosts = &setup->hosts,
        .host_facts = setup->facts,
        .run = item->run,
        .environ_ = (const char *const *)environ,
    };
    if (plan_make(&plan, &input, err) != 0) {
        return -1;
    }
    plan_release(&plan);
    return 0;
}

int ladder_check_item(const struct ladder *ladder, struct ladder_item *item, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    struct cmd_call call = make_step_call(ladder, item->step);
    int result = load_setup(&setup, &call, err);
    if (result == 0) {
        item->nodes = setup.hosts.len;
        item->profiles = item->step->profiles.len > 0 ? strlist_join(&item->step->profiles, "+") : NULL;
        result = plan_step(item, &setup, err);
    }
    if (result == 0) {
        result = check_record(item, &setup, err);
    }
    step_call_release(&call);
    return result == 0 ? 0 : error_prefix(err, "step '%s'", item->step->name);
}

/* --- a run --------------------------------------------------------------------------------------------- */

static int start_step(const struct ladder *ladder, const struct ladder_item *item, struct session *session,
                      struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    struct sync_display display = {.call = session->call};
    const struct run_start_sync sync = sync_show(&display);
    if (load_setup(&setup, session->call, err) != 0) {
        return -1;
    }
    unsigned long *limit_s = &setup.job.policy.time_limit_s;
    *limit_s = *limit_s > 0 && *limit_s < ladder->limit_s ? *limit_s : ladder->limit_s;
    const struct run_start_request request = {
        .run = item->run,
        .endpoints = setup.endpoints,
        .sync = session->call->options.no_sync ? NULL : &sync,
        .job = &setup.job,
        .hosts = &setup.hosts,
        .host_facts = setup.facts,
        .no_check = session->call->options.no_check,
        .watched = true,
        .asked = &setup.asked,
    };
    struct run run;
    run_init(&run);
    session_notify_job(session, &setup.job);
    int result = run_start(&session->context, &request, &run, err);
    run_release(&run);
    return result;
}

static bool is_supervised(const struct session *session, const char *name)
{
    struct run_supervisor supervisor;
    run_supervisor_find(&session->store, name, &supervisor);
    bool alive = supervisor.alive;
    run_supervisor_release(&supervisor);
    return alive;
}

/*
 * The record of a run without a supervisor says that the run is live until its nodes are asked. A ladder that
 * was killed leaves such runs. Find out whether there is still something to wait for.
 */
static int find_life(struct ladder_item *item, struct session *session, bool *lives, struct error *err)
{
    *lives = item->has_record && run_state_is_live(item->record.state);
    if (!*lives || is_supervised(session, item->run)) {
        return 0;
    }
    struct run run;
    run_init(&run);
    int result = run_status(&session->context, item->run, &run, err);
    run_release(&run);
    if (result == 0) {
        result = read_record(&session->store, item, err);
    }
    *lives = result == 0 && item->has_record && run_state_is_live(item->record.state);
    return result;
}

/* Wait for the end of the run. A signal stops the run, even if another process supervises it. */
static int wait_for_step(const struct ladder_item *item, struct session *session, struct error *err)
{
    const struct run_wait_request request = {
        .stop_on_signal = true,
        .end_on_hangup = signal_is_blocked(SIGHUP),
        .hand_over = true,
    };
    static const struct run_stop_request stop = {0};
    bool foreign = is_supervised(session, item->run);
    struct run run;
    run_init(&run);
    int result = run_wait(&session->context, item->run, &request, &run, err);
    run_release(&run);
    if (result != 0 && error_is_interruption(err) && foreign) {
        struct run_stop_result stopped = {0};
        struct error worse = ERROR_INIT;
        run_init(&run);
        if (run_stop(&session->context, item->run, &stop, &run, &stopped, &worse) != 0) {
            *err = worse;
        }
        run_stop_result_release(&stopped);
        run_release(&run);
    }
    return result;
}

/* --- after --------------------------------------------------------------------------------------------- */

static void tell_figures(const struct ladder_item *item)
{
    AUTO_STR struct str text = STR_INIT;
    report_progress_text(&item->record.progress, false, &text);
    msg_info("%s: %s%s%s", item->run, run_state_name(item->record.state), text.len > 0 ? ", " : "",
             str_text(&text));
}

/* Fail because the step showed no iteration until its limit passed. */
static int no_step_seen(const struct ladder_item *item, struct error *err)
{
    error_set(err, &kind_time_limit, "run '%s' was stopped after %lu s, and its logs show no iteration",
              item->run, item->record.timed_out_after_s);
    return error_hint(err,
                      "give it more time with --limit, or set 'progress' in the job file if it did train");
}

/*
 * The reason of a failure in one line; if some hosts were not ready for the start, with the error of the
 * first. The caller frees.
 */
static char *reason_of(const struct ladder_item *item, const struct cmd_call *call, const struct error *err)
{
    AUTO_STR struct str folded = STR_INIT;
    if (item->has_record && item->record.reason && err->kind == &kind_run_failed) {
        return xstrdup(item->record.reason);
    }
    if (call->failures.len == 0) {
        return xstrdup(err->text);
    }
    const struct failure *first = &call->failures.items[0];
    hostlist_fold_names(first->hosts.items, first->hosts.len, &folded);
    return xasprintf("%s: %s%s%s", err->text, str_text(&folded), folded.len > 0 ? ": " : "",
                     first->error.text);
}

static void diagnose(struct ladder_item *item, struct session *session)
{
    struct error ignored = ERROR_INIT;
    if (item->record.state == RUN_FAILED && !item->record.unstarted &&
        run_diagnose(&session->context, item->run, 0, &item->explanation, &ignored) == 0) {
        item->explained = true;
    }
}

static int finish_item(struct ladder_item *item, struct session *session, int result, struct error *err)
{
    struct error one = ERROR_INIT;
    item->done = false;
    if (read_record(&session->store, item, &one) != 0 && result == 0) {
        *err = one;
        result = -1;
    }
    if (item->done) {
        tell_figures(item);
        return 0;
    }
    if (result == 0 || err->kind == &kind_hung_up || error_is_interruption(err)) {
        return result == 0 ? error_set(err, &kind_run_failed, "run '%s' is gone", item->run) : -1;
    }
    if (item->has_record && err->kind == &kind_time_limit) {
        no_step_seen(item, err);
    }
    item->reason = reason_of(item, session->call, err);
    if (item->has_record) {
        diagnose(item, session);
    }
    return -1;
}

int ladder_run_item(const struct ladder *ladder, struct ladder_item *item, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    struct cmd_call call = make_step_call(ladder, item->step);
    bool lives = false;
    int result = session_open(&session, &call, STDOUT_FILENO, err);
    if (result == 0) {
        result = find_life(item, &session, &lives, err);
    }
    if (result == 0 && lives) {
        msg_info("run '%s' is already live: waiting for it", item->run);
        warn_of_changes(item);
    } else if (result == 0 && !item->done) {
        strlist_release(&item->changed);
        result = start_step(ladder, item, &session, err);
    }
    if (result == 0 && !item->done) {
        result = wait_for_step(item, &session, err);
    }
    if (session.call) {
        result = finish_item(item, &session, result, err);
    }
    session_close(&session);
    step_call_release(&call);
    return result;
}
