/*
 * The local transport: /bin/sh on this machine, in a session of its own and in the home folder, as a login
 * over ssh would be. Streams are plain pipes, so that /dev/stdin can be opened there as it can behind sshd.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/transport_internal.h"

#define READ_BYTES 65536

struct local_shared {
    struct transport_setup setup;
    char buffer[READ_BYTES]; /* read into and handed on at once: one serves all */
};

struct local_link {
    struct local_shared *shared;
    const struct endpoint *endpoint;
    const struct transport_events *events;
    void *owner;
    struct deadline opening;
    struct local_command *commands;
};

struct local_stream {
    uv_pipe_t pipe;
    bool open; /* the handle has to be closed */
    bool ended;
};

struct local_command {
    struct local_link *link; /* NULL once finished or cancelled */
    struct transport_job *job;
    struct local_command *next;
    uv_process_t process;
    struct local_stream streams[3]; /* 0: its input */
    uv_write_t write;
    bool writing; /* the job's input is on its way */
    bool spawned; /* the process handle has to be closed */
    bool reaped;  /* the pid is no longer ours to signal */
    int64_t ended_ms;
    struct exec_result result;
    struct deadline quiet;
    unsigned handles; /* open ones; the last close frees */
};

static void *local_begin(const struct transport_setup *setup, struct error *err)
{
    struct local_shared *shared = xcalloc(1, sizeof(*shared));

    (void)err;
    shared->setup = *setup;
    return shared;
}

static void local_end(void *shared)
{
    free(shared);
}

static bool local_serves(const struct endpoint *endpoint)
{
    return endpoint->local;
}

static void on_opening(void *ctx)
{
    struct local_link *link = ctx;

    link->events->opened(link->owner);
}

static void *local_open(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                        void *owner)
{
    struct local_link *link = xcalloc(1, sizeof(*link));

    link->shared = shared;
    link->endpoint = endpoint;
    link->events = events;
    link->owner = owner;
    link->opening.fire = on_opening;
    link->opening.ctx = link;
    deadline_set(link->shared->setup.deadlines, &link->opening, 0);
    return link;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct local_command *command = handle->data;

    if (--command->handles == 0)
        free(command);
}

static void close_stream(struct local_stream *stream)
{
    if (!stream->open)
        return;
    stream->open = false;
    uv_close((uv_handle_t *)&stream->pipe, on_handle_closed);
}

/*
 * Take the command out of its link and close all it has; memory goes with the last handle. A killed process
 * keeps its handle until it is reaped.
 */
static void discard(struct local_command *command)
{
    struct local_command **at = &command->link->commands;

    while (*at != command)
        at = &(*at)->next;
    *at = command->next;
    deadline_clear(command->link->shared->setup.deadlines, &command->quiet);
    command->link = NULL;
    for (int i = 0; i < 3; i++)
        close_stream(&command->streams[i]);
    if (command->spawned && (command->reaped || command->process.pid == 0))
        uv_close((uv_handle_t *)&command->process, on_handle_closed);
    else if (command->handles == 0)
        free(command);
}

static void finish(struct local_command *command)
{
    struct local_link *link = command->link;
    struct transport_job *job = command->job;

    job->running = NULL;
    link->events->ended(link->owner, job, &command->result);
    discard(command);
}

static void finish_if_done(struct local_command *command)
{
    if (command->reaped && command->streams[1].ended && command->streams[2].ended)
        finish(command);
}

static void wait_for_quiet(struct local_command *command);

/* Quiet is what was not listened to, too: a pause does not count. */
static void on_quiet(void *ctx)
{
    struct local_command *command = ctx;

    if (!*command->link->shared->setup.paused) {
        finish(command);
        return;
    }
    command->ended_ms = clock_mono_ms();
    wait_for_quiet(command);
}

/* A child in the background may hold the streams for ever: wait a little for more, not longer. */
static void wait_for_quiet(struct local_command *command)
{
    int64_t left = command->ended_ms + TRANSPORT_DRAIN_MS - clock_mono_ms();

    if (left > TRANSPORT_QUIET_MS)
        left = TRANSPORT_QUIET_MS;
    deadline_set(command->link->shared->setup.deadlines, &command->quiet, left > 0 ? (uint64_t)left : 0);
}

static void on_exit_process(uv_process_t *process, int64_t exit_status, int signal_number)
{
    struct local_command *command = process->data;

    command->reaped = true;
    if (command->link == NULL) {
        uv_close((uv_handle_t *)process, on_handle_closed);
        return;
    }
    command->ended_ms = clock_mono_ms();
    command->result.exit_status = (int)exit_status;
    if (signal_number != 0) {
        const char *name = transport_signal_name(signal_number);
        transport_set_signal(&command->result, name != NULL ? name : "unknown");
        command->result.exit_status = 128 + signal_number;
    }
    wait_for_quiet(command);
    finish_if_done(command);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct local_command *command = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(command->link->shared->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    struct local_command *command = stream->data;
    struct local_link *link = command->link;
    int number = (uv_handle_t *)stream == (uv_handle_t *)&command->streams[1].pipe ? 1 : 2;

    if (link == NULL || len == 0)
        return;
    if (len > 0) {
        link->events->data(link->owner, command->job, number, buffer->base, (size_t)len);
        if (command->reaped)
            wait_for_quiet(command);
        return;
    }
    command->streams[number].ended = true;
    close_stream(&command->streams[number]);
    finish_if_done(command);
}

static void send_input(struct local_command *command);

/* All is written, or nobody reads it. */
static void on_written(uv_write_t *write, int status)
{
    struct local_command *command = write->data;

    command->writing = false;
    if (command->link == NULL)
        return;
    if (status != 0)
        close_stream(&command->streams[0]);
    send_input(command);
}

/* Write what the job has, then close the input, or tell that it may have more. */
static void send_input(struct local_command *command)
{
    struct transport_job *job = command->job;
    struct local_stream *stream = &command->streams[0];

    if (command->writing)
        return;
    if (stream->open && job->input_len > 0) {
        /* libuv only reads from the buffer it is given. */
        uv_buf_t buffer = {.base = (char *)(uintptr_t)job->input, .len = job->input_len};
        command->write.data = command;
        job->input_len = 0;
        command->writing =
            uv_write(&command->write, (uv_stream_t *)&stream->pipe, &buffer, 1, on_written) == 0;
        if (command->writing)
            return;
        close_stream(stream);
    }
    if (job->hold_input)
        command->link->events->drained(command->link->owner, job);
    else
        close_stream(stream);
}

/* One pipe; ours does not block, the child's is handed on by uv_spawn. Returns the child's end or -1. */
static int make_stream(struct local_command *command, int number)
{
    struct local_stream *stream = &command->streams[number];
    uv_loop_t *loop = command->link->shared->setup.loop;
    int ends[2], ours, child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    ours = number == 0 ? ends[1] : ends[0];
    child = number == 0 ? ends[0] : ends[1];
    uv_pipe_init(loop, &stream->pipe, 0);
    stream->pipe.data = command;
    stream->open = true;
    command->handles++;
    if (fcntl(ours, F_SETFL, O_NONBLOCK) != 0 || uv_pipe_open(&stream->pipe, ours) != 0) {
        close(ours);
        close(child);
        return -1;
    }
    return child;
}

static int spawn(struct local_command *command, const int child_ends[3])
{
    const char *home = command->link->endpoint->home;
    char shell[] = "/bin/sh", option[] = "-c";
    AUTO_FREE char *line = xstrdup(command->job->command);
    char *argv[] = {shell, option, line, NULL};
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {.exit_cb = on_exit_process,
                                    .file = shell,
                                    .args = argv,
                                    .cwd = access(home, X_OK) == 0 ? home : "/",
                                    .flags = UV_PROCESS_DETACHED, /* setsid */
                                    .stdio_count = 3,
                                    .stdio = stdio};

    for (int i = 0; i < 3; i++) {
        stdio[i].flags = child_ends[i] >= 0 ? UV_INHERIT_FD : UV_IGNORE; /* ignored: /dev/null */
        stdio[i].data.fd = child_ends[i];
    }
    command->spawned = true; /* uv_spawn makes the handle whether it succeeds or not */
    command->handles++;
    return uv_spawn(command->link->shared->setup.loop, &command->process, &options);
}

/* Or stop reading it, while the fleet wants none. */
static void read_output(struct local_command *command)
{
    for (int i = 1; i < 3; i++) {
        struct local_stream *stream = &command->streams[i];
        if (stream->open && *command->link->shared->setup.paused)
            uv_read_stop((uv_stream_t *)&stream->pipe);
        else if (stream->open)
            uv_read_start((uv_stream_t *)&stream->pipe, on_alloc, on_read);
    }
}

static void start_streams(struct local_command *command)
{
    read_output(command);
    send_input(command);
}

static void fail_start(struct local_command *command, int code)
{
    error_set(&command->result.error, &kind_local, "/bin/sh cannot be started: %s", uv_strerror(code));
    command->result.exit_status = -1;
    finish(command);
}

static void local_run(void *arg, struct transport_job *job)
{
    struct local_link *link = arg;
    struct local_command *command = xcalloc(1, sizeof(*command));
    int child_ends[3] = {-1, -1, -1}, failed = 0;

    command->link = link;
    command->job = job;
    command->next = link->commands;
    link->commands = command;
    job->running = command;
    command->quiet.fire = on_quiet;
    command->quiet.ctx = command;
    command->process.data = command;
    for (int i = job->input_len > 0 || job->hold_input ? 0 : 1; i < 3 && failed == 0; i++) {
        child_ends[i] = make_stream(command, i);
        failed = child_ends[i] < 0 ? -errno : 0;
    }
    if (failed == 0)
        failed = spawn(command, child_ends);
    for (int i = 0; i < 3; i++) {
        if (child_ends[i] >= 0)
            close(child_ends[i]);
    }
    if (failed != 0) {
        fail_start(command, failed);
        return;
    }
    link->events->started(link->owner, job);
    start_streams(command);
}

static void local_input(void *arg, struct transport_job *job)
{
    (void)arg;
    if (job->running != NULL)
        send_input(job->running);
}

static void local_pause(void *arg)
{
    struct local_link *link = arg;

    for (struct local_command *command = link->commands; command != NULL; command = command->next)
        read_output(command);
}

static void local_cancel(void *arg, struct transport_job *job)
{
    struct local_command *command = job->running;

    (void)arg;
    if (command == NULL)
        return;
    job->running = NULL;
    if (!command->reaped)
        kill(-command->process.pid, SIGKILL);
    discard(command);
}

static void local_close(void *arg)
{
    struct local_link *link = arg;

    deadline_clear(link->shared->setup.deadlines, &link->opening);
    while (link->commands != NULL)
        local_cancel(link, link->commands->job);
    free(link);
}

const struct transport_ops transport_local = {
    .name = "local",
    .serves = local_serves,
    .begin = local_begin,
    .end = local_end,
    .open = local_open,
    .run = local_run,
    .input = local_input,
    .pause = local_pause,
    .cancel = local_cancel,
    .close = local_close,
};
