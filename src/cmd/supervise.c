/* The command `supervise`, and the supervisor that `start` leaves behind. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/msg.h"
#include "cmd/commands_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/supervise_internal.h"
#include "model/kind.h"
#include "run/supervisor.h"

#define COME_UP_MS 10000 /* limit for a new supervisor to show up */

/* --- the command -------------------------------------------------------------------------------- */

static int run_supervise_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    session_oversee(call);
    if (job_check_run_name(name, err) != 0 || session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    signal(SIGHUP, SIG_IGN); /* the terminal may be closed */
    session_notify_run(&session, name);
    struct run run;
    run_init(&run);
    int result = run_supervise(&session.context, name, call->options.take_over, &run, err);
    if (run.name && call->style.json) {
        result = session_answer(&session, &run, NULL, result, err);
    }
    run_release(&run);
    return result;
}

static const char *const usage[] = {"supervise RUN [--take-over]", NULL};
static const struct option own_options[] = {
    {.name = "take-over",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, take_over),
     .help = "if another process supervises the run, wait and take over when it ends"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "'start' leaves a supervisor on this machine. Use this command for a run that has\n"
    "lost it, for example after a reboot. It stays until the run has ended. A run has\n"
    "one supervisor at a time. If a signal ends the supervisor, the run continues.\n";
const struct command command_supervise = {
    .name = "supervise",
    .summary = "supervise a run: watch it and act on failures",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUN,
    .run = run_supervise_command,
};

/* --- leaving a supervisor behind ---------------------------------------------------------------- */

/* In the child process: begin a new session without the terminal, and become `mtlaunch supervise RUN`. */
static void become_supervisor(const struct session *session, const char *name, const char *log,
                              bool take_over)
{
    /*
     * Like a keeper's value: run id, attempt, rank. A word replaces the digits of the id, so that no scan
     * takes the process for one of its own.
     */
    AUTO_FREE char *keeps = xasprintf("%s-overseer.0.0", name);
    AUTO_FREE char *fanout = xasprintf("%u", session->context.fanout);
    AUTO_FREE char *connect = xasprintf("%u", session->context.connect_timeout_ms / 1000);
    bool asked = session->context.connect_timeout_ms != 0;
    const char *argv[11] = {"mtlaunch", "supervise", name, "-v", "--fanout", fanout};
    size_t count = 6;
    if (take_over) {
        argv[count++] = "--take-over";
    }
    if (asked) {
        argv[count++] = "--connect-timeout";
        argv[count] = connect;
    }
    const char *die_at = getenv("MTLAUNCH_TEST_SUPERVISOR_DIE_AT");
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (null < 0 || out < 0 || setsid() < 0) {
        _exit(kind_local.exit_code);
    }
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
        close(fd);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    /* If it is started inside a job, it is not one of that job's processes. */
    unsetenv("MTLAUNCH_MARK");
    setenv("MTLAUNCH_KEEPS", keeps, 1);
    unsetenv("MTLAUNCH_TEST_DIE_AT");
    if (die_at) {
        setenv("MTLAUNCH_TEST_DIE_AT", die_at, 1);
    }
    execv("/proc/self/exe", (char *const *)(const void *)argv);
    _exit(kind_local.exit_code);
}

/* Has the supervisor come up? A run that has ended meanwhile needs none. */
static bool is_there(const struct session *session, const char *name, pid_t child)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    int64_t until = clock_mono_ms() + COME_UP_MS;
    while (clock_mono_ms() < until) {
        struct run_supervisor found;
        int status;
        run_supervisor_find(&session->store, name, &found);
        bool up = found.alive && found.pid == child;
        run_supervisor_release(&found);
        if (up) {
            return true;
        }
        if (waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) && WEXITSTATUS(status) != kind_local.exit_code;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The supervisor of an earlier attempt ends within a second or two of the start of the new one. */
static void wait_for_the_old_one(const struct session *session, const char *name)
{
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    int64_t until = clock_mono_ms() + COME_UP_MS;
    bool alive = true;
    while (alive && clock_mono_ms() < until) {
        struct run_supervisor found;
        run_supervisor_find(&session->store, name, &found);
        alive = found.alive;
        run_supervisor_release(&found);
        if (alive) {
            nanosleep(&pause, NULL);
        }
    }
}

void supervise_leave_behind(const struct session *session, const char *name)
{
    AUTO_FREE char *log = xasprintf("%s/%s/supervisor.log", session->store.root, name);
    wait_for_the_old_one(session, name);
    pid_t child = fork();
    if (child == 0) {
        become_supervisor(session, name, log, false);
    }
    if (child < 0) {
        msg_warn("cannot start a supervisor: %s; `mtlaunch supervise %s` starts one", strerror(errno), name);
    } else if (!is_there(session, name, child)) {
        msg_warn("no supervisor came up (see '%s'); `mtlaunch supervise %s` starts one", log, name);
    }
}

void supervise_leave_stand_in(void *ctx, const char *name)
{
    const struct session *session = ctx;
    AUTO_FREE char *log = xasprintf("%s/%s/supervisor.log", session->store.root, name);
    pid_t child = fork();

    if (child == 0) {
        become_supervisor(session, name, log, true);
    }
    if (child < 0) {
        msg_warn("cannot start a process that continues when this one ends: %s", strerror(errno));
    }
}
