/* Runs a command as a child process and moves its input and output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "transport/child_internal.h"

static struct deadlines *deadlines_of(const struct child *child)
{
    return child->link->shared->setup.deadlines;
}

void *child_begin(const struct transport_setup *setup, struct error *err)
{
    struct child_shared *shared = xcalloc(1, sizeof(*shared));

    (void)err; /* nothing can fail */
    shared->setup = *setup;
    return shared;
}

void child_end(void *shared)
{
    free(shared);
}

static void on_opening(void *ctx)
{
    struct child_link *link = ctx;

    link->events->opened(link->owner);
}

void *child_open(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                 void *owner)
{
    struct child_link *link = xcalloc(1, sizeof(*link));

    link->shared = shared;
    link->endpoint = endpoint;
    link->events = events;
    link->owner = owner;
    link->opening.fire = on_opening;
    link->opening.ctx = link;
    deadline_set(link->shared->setup.deadlines, &link->opening, 0);
    return link;
}

void child_hold(struct child *child)
{
    child->handles++;
}

void child_on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    if (--child->handles == 0) {
        child->kind->release(child);
    }
}

static void close_stream(struct child_stream *stream)
{
    if (!stream->open) {
        return;
    }
    stream->open = false;
    uv_close((uv_handle_t *)&stream->pipe, child_on_closed);
}

/* A killed process keeps its handle until it is reaped. */
void child_discard(struct child *child)
{
    list_remove(&child->link_item);
    deadline_clear(deadlines_of(child), &child->quiet);
    if (child->kind->leaving) {
        child->kind->leaving(child);
    }
    child->link = NULL;
    for (int i = 0; i < 3; i++) {
        close_stream(&child->streams[i]);
    }
    if (child->spawned && !child->reaped && child->process.pid > 0) {
        kill(-child->process.pid, SIGKILL);
    } else if (child->spawned) {
        uv_close((uv_handle_t *)&child->process, child_on_closed);
    } else if (child->handles == 0) {
        child->kind->release(child);
    }
}

static void finish(struct child *child)
{
    struct child_link *link = child->link;
    struct transport_job *job = child->job;

    if (child->kind->finishing && !child->kind->finishing(child)) {
        return;
    }
    job->running = NULL;
    link->events->ended(link->owner, job, &child->result);
    child_discard(child);
}

static void finish_if_done(struct child *child)
{
    if (child->reaped && child->streams[1].ended && child->streams[2].ended) {
        finish(child);
    }
}

static void wait_for_quiet(struct child *child);

/* While the output is paused nothing is read, so silence proves nothing. */
static void on_quiet(void *ctx)
{
    struct child *child = ctx;

    if (!*child->link->shared->setup.paused) {
        finish(child);
        return;
    }
    child->ended_ms = deadlines_now(deadlines_of(child));
    wait_for_quiet(child);
}

/* A background process may hold the streams open forever: wait for more output, but not for long. */
static void wait_for_quiet(struct child *child)
{
    int64_t left = child->ended_ms + TRANSPORT_DRAIN_MS - deadlines_now(deadlines_of(child));

    if (left > TRANSPORT_QUIET_MS) {
        left = TRANSPORT_QUIET_MS;
    }
    deadline_set(deadlines_of(child), &child->quiet, left > 0 ? (uint64_t)left : 0);
}

void child_note_end(struct child *child)
{
    if (child->ended_ms == 0) {
        child->ended_ms = deadlines_now(deadlines_of(child));
    }
    wait_for_quiet(child);
}

static void on_exit_process(uv_process_t *process, int64_t exit_status, int signal_number)
{
    struct child *child = process->data;

    child->reaped = true;
    if (!child->link) {
        uv_close((uv_handle_t *)process, child_on_closed);
        return;
    }
    child->result.exit_status = (int)exit_status;
    if (signal_number != 0) {
        const char *name = transport_signal_name(signal_number);
        transport_set_signal(&child->result, name ? name : "unknown");
        child->result.exit_status = 128 + signal_number;
    }
    child_note_end(child);
    finish_if_done(child);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct child *child = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(child->link->shared->buffer, CHILD_READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    struct child *child = stream->data;
    int number = (uv_handle_t *)stream == (uv_handle_t *)&child->streams[1].pipe ? 1 : 2;

    if (!child->link || len == 0) {
        return;
    }
    if (len > 0) {
        child->kind->data(child, number, buffer->base, (size_t)len);
        if (child->ended_ms != 0) {
            wait_for_quiet(child);
        }
        return;
    }
    child->streams[number].ended = true;
    close_stream(&child->streams[number]);
    finish_if_done(child);
}

static void send_input(struct child *child);

/* All input is written, or nothing reads it. */
static void on_written(uv_write_t *write, int status)
{
    struct child *child = write->data;

    child->writing = false;
    if (!child->link) {
        return;
    }
    if (status != 0) {
        close_stream(&child->streams[0]);
    }
    send_input(child);
}

/* Write the input of the job; then close it, or tell the owner that it may give more. */
static void send_input(struct child *child)
{
    struct transport_job *job = child->job;
    struct child_stream *stream = &child->streams[0];

    if (child->writing || child->input_held) {
        return;
    }
    if (stream->open && job->input_len > 0) {
        /* libuv does not modify the buffer. */
        uv_buf_t buffer = {.base = (char *)(uintptr_t)job->input, .len = job->input_len};
        child->write.data = child;
        job->input_len = 0;
        child->writing = uv_write(&child->write, (uv_stream_t *)&stream->pipe, &buffer, 1, on_written) == 0;
        if (child->writing) {
            return;
        }
        close_stream(stream);
    }
    if (job->hold_input) {
        child->link->events->drained(child->link->owner, job);
    } else {
        close_stream(stream);
    }
}

/* Make one pipe; our end is non-blocking. Returns the child's end, or -1. */
static int make_stream(struct child *child, int number)
{
    struct child_stream *stream = &child->streams[number];
    uv_loop_t *loop = child->link->shared->setup.loop;
    int ends[2], ours, theirs;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    ours = number == 0 ? ends[1] : ends[0];
    theirs = number == 0 ? ends[0] : ends[1];
    uv_pipe_init(loop, &stream->pipe, 0);
    stream->pipe.data = child;
    stream->open = true;
    child_hold(child);
    if (fcntl(ours, F_SETFL, O_NONBLOCK) != 0 || uv_pipe_open(&stream->pipe, ours) != 0) {
        close(ours);
        close(theirs);
        return -1;
    }
    return theirs;
}

static int start_process(struct child *child, const struct child_program *program, const int child_ends[3])
{
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {.exit_cb = on_exit_process,
                                    .file = program->argv[0],
                                    .args = program->argv,
                                    .env = program->env,
                                    .cwd = access(program->folder, X_OK) == 0 ? program->folder : "/",
                                    .flags = UV_PROCESS_DETACHED, /* setsid */
                                    .stdio_count = 3,
                                    .stdio = stdio};

    for (int i = 0; i < 3; i++) {
        stdio[i].flags = child_ends[i] >= 0 ? UV_INHERIT_FD : UV_IGNORE; /* ignored: /dev/null */
        stdio[i].data.fd = child_ends[i];
    }
    child->spawned = true; /* uv_spawn creates the handle even when it fails */
    child_hold(child);
    return uv_spawn(child->link->shared->setup.loop, &child->process, &options);
}

int child_spawn(struct child *child, const struct child_program *program)
{
    int child_ends[3] = {-1, -1, -1}, failed = 0;

    for (int i = child->job->input_len > 0 || child->job->hold_input ? 0 : 1; i < 3 && failed == 0; i++) {
        child_ends[i] = make_stream(child, i);
        failed = child_ends[i] < 0 ? -errno : 0;
    }
    if (failed == 0) {
        failed = start_process(child, program, child_ends);
    }
    for (int i = 0; i < 3; i++) {
        if (child_ends[i] >= 0) {
            close(child_ends[i]);
        }
    }
    return failed;
}

/* Read output, or stop while the fleet is paused. */
static void read_output(struct child *child)
{
    for (int i = 1; i < 3; i++) {
        struct child_stream *stream = &child->streams[i];
        if (stream->open && *child->link->shared->setup.paused) {
            uv_read_stop((uv_stream_t *)&stream->pipe);
        } else if (stream->open) {
            uv_read_start((uv_stream_t *)&stream->pipe, on_alloc, on_read);
        }
    }
}

void child_start_streams(struct child *child)
{
    read_output(child);
    send_input(child);
}

void child_release_input(struct child *child)
{
    child->input_held = false;
    send_input(child);
}

void child_fail(struct child *child, const struct error_kind *kind, const char *text, const char *hint)
{
    struct child_link *link = child->link;
    struct transport_job *job = child->job;

    error_set(&child->result.error, kind, "%s", text);
    if (hint) {
        error_hint(&child->result.error, "%s", hint);
    }
    child->result.exit_status = -1;
    job->running = NULL;
    link->events->ended(link->owner, job, &child->result);
    child_discard(child);
}

void child_attach(struct child *child, struct child_link *link, struct transport_job *job)
{
    child->link = link;
    child->job = job;
    list_prepend(&link->children, &child->link_item);
    job->running = child;
    child->quiet.fire = on_quiet;
    child->quiet.ctx = child;
    child->process.data = child;
}

void child_input(void *arg, struct transport_job *job)
{
    (void)arg;
    if (job->running) {
        send_input(job->running);
    }
}

void child_pause(void *arg)
{
    struct child_link *link = arg;

    LIST_EACH(&link->children, struct child, link_item, child) {
        read_output(child);
    }
}

void child_cancel(void *arg, struct transport_job *job)
{
    struct child *child = job->running;

    (void)arg;
    if (!child) {
        return;
    }
    job->running = NULL;
    child_discard(child);
}

void child_close(void *arg)
{
    struct child_link *link = arg;

    deadline_clear(link->shared->setup.deadlines, &link->opening);
    LIST_EACH(&link->children, struct child, link_item, child) {
        child_cancel(link, child->job);
    }
    free(link);
}
