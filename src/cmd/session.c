/* Opens the store and the observer for commands about runs, and prints the view of a run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cmd/notify_internal.h"
#include "cmd/session_internal.h"
#include "cmd/supervise_internal.h"
#include "model/kind.h"
#include "report/output.h"
#include "report/status.h"
#include "run/samples.h"
#include "run/supervisor.h"

#define EVENTS_SHOWN_MAX 1000

/* Test hook: MTLAUNCH_TEST_DIE_AT=N kills the process at its N-th crash point; 0 only counts them. */
static void arm_test_hook(struct run_context *context)
{
    const char *text = getenv("MTLAUNCH_TEST_DIE_AT");
    uint64_t step = 0;
    context->die_armed = text && text_to_uint(text, 0, 1000000, &step);
    context->die_at = (unsigned long)step;
}

/*
 * A value of the form that a keeper's has, but with a word that is no run's id. A process with it belongs to
 * no job.
 */
#define OVERSEER "-overseer.0.0"

/*
 * A command may be called inside another run's job. What it starts on this machine for its own run (a watch,
 * the stop of a local node) is not one of that job's processes.
 */
static bool leave_job(void)
{
    if (!getenv("MTLAUNCH_MARK")) {
        return false;
    }
    unsetenv("MTLAUNCH_MARK");
    setenv("MTLAUNCH_KEEPS", OVERSEER, 1);
    return true;
}

void session_oversee(const struct cmd_call *call)
{
    /* The kernel shows the environment with which a program was started, so start the program again. */
    if (leave_job()) {
        execv("/proc/self/exe", call->argv);
    }
}

int session_open(struct session *session, struct cmd_call *call, int log_fd, struct error *err)
{
    leave_job();
    session->call = call;
    console_init(&session->console, &call->style, &call->failures, log_fd);
    session->console.logs.json = call->style.json && log_fd == STDOUT_FILENO;
    session->console.logs.color = log_fd == STDOUT_FILENO ? call->style.color : call->style.color_err;
    if (machine_read(&session->machine, getenv("HOME"), err) != 0 ||
        run_store_open(&session->store, getenv("XDG_STATE_HOME"), session->machine.home, err) != 0) {
        return -1;
    }
    session->context = (struct run_context){
        .store = &session->store,
        .observer = &session->console.observer,
        .environ_ = (const char *const *)environ,
        .home = session->machine.home,
        .fanout = cmd_fanout(call),
        .connect_timeout_ms = cmd_connect_timeout_ms(call),
    };
    session->context.leave_stand_in = supervise_leave_stand_in;
    session->context.stand_in_ctx = session;
    arm_test_hook(&session->context);
    return 0;
}

void session_close(struct session *session)
{
    if (!session->call) {
        return;
    }
    if (session->context.die_armed) {
        msg_verbose("steps passed: %lu", session->context.steps);
    }
    session_notify_end(session);
    console_release(&session->console);
    run_context_release(&session->context);
    run_store_release(&session->store);
    machine_release(&session->machine);
    *session = (struct session){0};
}

/* Does the view of the run already show this error, by its state, exit status or survivors? */
static bool is_in_the_picture(const struct error *err, bool stopping)
{
    return err->kind == &kind_run_failed || err->kind == &kind_run_stopped || err->kind == &kind_run_lost ||
           (stopping && err->kind == &kind_not_proven);
}

static void render(struct session *session, const struct report_run *view, const struct run_stop_result *stop,
                   const struct error *failure, struct str *text)
{
    struct cmd_call *call = session->call;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    if (call->style.json) {
        failures_hosts(&call->failures, &hosts);
        if (session->many) {
            report_many_add(session->many, view, failure, &hosts);
            return;
        }
        report_run_json(view, failure, &hosts, text);
        call->answered = true;
        return;
    }
    report_run_text(view, &call->style, text);
    for (size_t i = 0; stop && i < stop->cleaned.len; i++) {
        text_add_line(text, stop->cleaned.items[i], strlen(stop->cleaned.items[i]));
        str_add_char(text, '\n');
    }
}

/* The view of a run and what it borrows. A history that cannot be read does not hide the run. */
struct picture {
    struct report_run view;
    struct run_events events;
    struct run_supervisor supervisor;
    struct report_trend trend;
};

static void picture_make(struct picture *picture, const struct session *session, const struct run *run)
{
    struct error ignored = ERROR_INIT;
    struct samples samples;
    *picture = (struct picture){.view.run = run};
    if (run_store_events(&session->store, run->name, EVENTS_SHOWN_MAX, &picture->events, &ignored) == 0) {
        picture->view.events = &picture->events;
    }
    if (run_samples_load(&session->store, run->name, SAMPLES_TRAINING, &samples, &ignored) == 0) {
        report_trend_init(&picture->trend, &samples);
        picture->view.trend = &picture->trend;
    }
    samples_release(&samples);
    run_supervisor_find(&session->store, run->name, &picture->supervisor);
    picture->view.supervisor_host = picture->supervisor.host;
    picture->view.supervisor_pid = picture->supervisor.pid;
    picture->view.supervisor_alive = picture->supervisor.alive;
}

static void picture_release(struct picture *picture)
{
    report_trend_release(&picture->trend);
    run_events_release(&picture->events);
    run_supervisor_release(&picture->supervisor);
}

void session_picture(struct session *session, const struct run *run, struct str *text)
{
    struct picture picture;
    picture_make(&picture, session, run);
    report_run_text(&picture.view, &session->call->style, text);
    picture_release(&picture);
}

int session_answer(struct session *session, const struct run *run, const struct run_stop_result *stop,
                   int result, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct picture picture;
    picture_make(&picture, session, run);
    if (stop) {
        picture.view.with_survivors = true;
        picture.view.survivors = stop->survivors;
        picture.view.survivors_len = stop->survivors_len;
    }
    const struct error *failure = result == 0 || is_in_the_picture(err, stop) ? NULL : err;
    render(session, &picture.view, stop, failure, &text);
    picture_release(&picture);
    msg_make_room();
    return output_print_last(&text, result, err);
}
