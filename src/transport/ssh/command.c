/* Commands of the ssh transport: each is one channel of a session, from its opening to its exit status. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/ssh/ssh_internal.h"

#define PIECE_BYTES 32768 /* libssh buffers everything in memory until the socket accepts it */

/* One channel. When a command is cancelled while the channel is being opened, it stays without a job until it
 * can be closed.
 */
struct ssh_command {
    struct ssh_connection *connection;
    struct transport_job *job;
    struct list_link link;
    ssh_channel channel;
    struct ssh_channel_callbacks_struct callbacks;
    enum { COMMAND_OPENING, COMMAND_REQUESTING, COMMAND_RUNNING } state;
    size_t sent;      /* of the job's input */
    bool input_ended; /* end of file was sent, or nothing reads the input */
    bool drained;     /* with hold_input: the owner was notified that everything is sent */
    bool ended;       /* the status or signal was received and is in result */
    bool remote_eof, remote_closed;
    /*
     * After the exit status, but without an end of file, the server is asked a question, which it answers
     * only after all output that it has. If data came meanwhile, more may follow.
     */
    bool asking, asked, heard;
    int64_t ended_ms; /* or the time of the first answer */
    struct exec_result result;
    struct deadline quiet; /* before the command runs: the time limit for its start */
};

static struct deadlines *deadlines_of(const struct ssh_command *command)
{
    return command->connection->deadlines;
}

static const struct transport_events *events_of(const struct ssh_command *command)
{
    return command->connection->link->events;
}

/* Wait for output that comes after the exit status, but not forever. */
static void wait_for_quiet(struct ssh_command *command)
{
    int64_t left = command->ended_ms + TRANSPORT_DRAIN_MS - deadlines_now(deadlines_of(command));

    if (left > TRANSPORT_QUIET_MS) {
        left = TRANSPORT_QUIET_MS;
    }
    deadline_set(deadlines_of(command), &command->quiet, left > 0 ? (uint64_t)left : 0);
}

static int on_data(ssh_session session, ssh_channel channel, void *data, uint32_t len, int is_stderr,
                   void *userdata)
{
    struct ssh_command *command = userdata;

    (void)session;
    (void)channel;
    if (command->job) {
        events_of(command)->data(command->connection->link->owner, command->job, is_stderr ? 2 : 1, data,
                                 len);
    }
    command->heard = true;
    if (command->asked && !command->asking) {
        wait_for_quiet(command);
    }
    return (int)len;
}

static void on_eof(ssh_session session, ssh_channel channel, void *userdata)
{
    (void)session;
    (void)channel;
    ((struct ssh_command *)userdata)->remote_eof = true;
}

static void on_close(ssh_session session, ssh_channel channel, void *userdata)
{
    (void)session;
    (void)channel;
    ((struct ssh_command *)userdata)->remote_closed = true;
}

static void note_end(struct ssh_command *command)
{
    command->ended = true;
    command->ended_ms = deadlines_now(deadlines_of(command));
    deadline_set(deadlines_of(command), &command->quiet, TRANSPORT_QUIET_MS);
}

static void on_exit_status(ssh_session session, ssh_channel channel, int status, void *userdata)
{
    struct ssh_command *command = userdata;

    (void)session;
    (void)channel;
    command->result.exit_status = status & 0xff;
    note_end(command);
}

static void on_exit_signal(ssh_session session, ssh_channel channel, const char *name, int core,
                           const char *message, const char *language, void *userdata)
{
    struct ssh_command *command = userdata;

    (void)session;
    (void)channel;
    (void)core;
    (void)message;
    (void)language;
    transport_set_signal(&command->result, name);
    note_end(command);
}

/*
 * Forget the command. Its channel is closed once the server has it, and libssh frees it once both sides have
 * closed it.
 */
static void discard(struct ssh_command *command, bool close_channel)
{
    list_remove(&command->link);
    deadline_clear(deadlines_of(command), &command->quiet);
    ssh_remove_channel_callbacks(command->channel, &command->callbacks);
    if (close_channel) {
        ssh_channel_free(command->channel); /* sends "close" first if that was not sent */
    }
    free(command);
}

static void finish(struct ssh_command *command, bool close_channel)
{
    struct transport_job *job = command->job;

    if (job) {
        job->running = NULL;
        events_of(command)->ended(command->connection->link->owner, job, &command->result);
    }
    discard(command, close_channel);
}

static void finish_with(struct ssh_command *command, const struct error_kind *kind, const char *text)
{
    error_set(&command->result.error, kind, "%s", text);
    ssh_connection_add_banner(command->connection, &command->result.error);
    command->result.exit_status = -1;
    finish(command, true);
}

/* A server that is alive but does not answer is treated as lost. */
static void fail_unanswered(const struct ssh_command *command)
{
    struct ssh_connection *connection = command->connection;
    struct error err = ERROR_INIT;

    ssh_phase_time_out(command->state == COMMAND_OPENING ? SSH_PHASE_CHANNEL : SSH_PHASE_COMMAND, NULL,
                       transport_answer_ms(&connection->link->shared->setup), &err);
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

static void on_quiet(void *ctx)
{
    struct ssh_command *command = ctx;
    struct ssh_connection *connection = command->connection;

    if (command->state != COMMAND_RUNNING) {
        fail_unanswered(command);
        return;
    }
    if (*connection->link->shared->setup.paused) { /* nothing was read, so silence proves nothing */
        command->ended_ms = deadlines_now(deadlines_of(command));
        wait_for_quiet(command);
        return;
    }
    command->asking = true;
    command->heard = false;
    ssh_connection_step(connection);
}

/* Ask to set a variable that no server accepts, so that it has to refuse. True: no more output will come. */
static bool step_asking(struct ssh_command *command)
{
    bool first = !command->asked;

    if (ssh_channel_request_env(command->channel, "MTLAUNCH_END", "1") == SSH_AGAIN ||
        !ssh_connection_is_alive(command->connection)) {
        return false;
    }
    command->asking = false;
    command->asked = true;
    if (!command->heard ||
        (!first && deadlines_now(deadlines_of(command)) - command->ended_ms >= TRANSPORT_DRAIN_MS)) {
        return true;
    }
    if (first) {
        command->ended_ms = deadlines_now(deadlines_of(command));
    }
    wait_for_quiet(command);
    return false;
}

static void kill_channel(struct ssh_command *command)
{
    if (!command->ended && !command->remote_closed) {
        ssh_channel_request_send_signal(command->channel, "KILL");
    }
    command->connection->killed_ms = clock_mono_ms();
    discard(command, true);
}

/* True: go on to the next state. */
static bool step_opening(struct ssh_command *command)
{
    struct transport_job *job = command->job;
    int answer = ssh_channel_open_session(command->channel);

    if (answer == SSH_AGAIN || !ssh_connection_is_alive(command->connection)) {
        return false;
    }
    ssh_link_leave_login_limit(command->connection->link);
    if (answer == SSH_OK && job) {
        command->state = COMMAND_REQUESTING;
        events_of(command)->started(command->connection->link->owner, job);
        return true;
    }
    if (job) {
        job->running = NULL;
        events_of(command)->refused(command->connection->link->owner, job);
    }
    discard(command, true);
    return false;
}

static void send_input(struct ssh_command *command)
{
    struct transport_job *job = command->job;
    ssh_session session = command->connection->session;

    while (!command->input_ended && command->sent < job->input_len) {
        size_t piece = job->input_len - command->sent;
        uint32_t window = ssh_channel_window_size(command->channel);
        int written;

        if (window == 0 || (ssh_get_poll_flags(session) & SSH_WRITE_PENDING) != 0) {
            return;
        }
        if (piece > PIECE_BYTES) {
            piece = PIECE_BYTES;
        }
        if (piece > window) {
            piece = window;
        }
        written = ssh_channel_write(command->channel, job->input + command->sent, (uint32_t)piece);
        if (written == 0) {
            return;
        }
        if (written < 0) {
            command->input_ended = true; /* nothing reads the input any more: the exit status will follow */
        } else {
            command->sent += (size_t)written;
        }
    }
    if (job->hold_input && !command->drained) {
        command->drained = true;
        command->sent = job->input_len = 0;
        events_of(command)->drained(command->connection->link->owner, job);
    } else if (!job->hold_input && !command->input_ended) {
        ssh_channel_send_eof(command->channel);
        command->input_ended = true;
    }
}

static bool step_requesting(struct ssh_command *command)
{
    /* The first call has sent the command, and libssh ignores the argument after that: the job may be
     * cancelled by now. */
    int answer = ssh_channel_request_exec(command->channel, command->job ? command->job->command : "true");

    if (!ssh_connection_is_alive(command->connection)) {
        return false;
    }
    if (answer == SSH_AGAIN) {
        /* A server handles requests and data in order: the input does not have to wait for the answer. */
        if (command->job) {
            send_input(command);
        }
        return false;
    }
    if (!command->job) {
        command->state = COMMAND_RUNNING;
        kill_channel(command);
        return false;
    }
    if (answer != SSH_OK) {
        finish_with(command, &kind_node_unsupported, "the ssh server refuses to run a command");
        return false;
    }
    command->state = COMMAND_RUNNING;
    if (!command->ended) {
        deadline_clear(deadlines_of(command), &command->quiet);
    }
    return true;
}

static void step_running(struct ssh_command *command)
{
    if (command->ended) {
        bool nothing_left = command->asking && step_asking(command); /* this may read more */
        if (nothing_left || command->remote_eof || command->remote_closed) {
            finish(command, true);
        }
        return;
    }
    if (command->remote_closed) {
        finish_with(command, &kind_connection_lost,
                    "the ssh server closed the command without an exit status");
        return;
    }
    send_input(command);
}

static void step(struct ssh_command *command)
{
    if (command->state == COMMAND_OPENING && !step_opening(command)) {
        return;
    }
    if (command->state == COMMAND_REQUESTING && !step_requesting(command)) {
        return;
    }
    step_running(command);
}

void ssh_command_step_all(struct ssh_connection *connection)
{
    LIST_EACH(&connection->commands, struct ssh_command, link, at) { /* a step removes only its own item */
        if (!ssh_connection_is_alive(connection)) {
            return;
        }
        step(at);
    }
}

static void init_callbacks(struct ssh_command *command)
{
    command->callbacks.userdata = command;
    command->callbacks.channel_data_function = on_data;
    command->callbacks.channel_eof_function = on_eof;
    command->callbacks.channel_close_function = on_close;
    command->callbacks.channel_exit_status_function = on_exit_status;
    command->callbacks.channel_exit_signal_function = on_exit_signal;
    ssh_callbacks_init(&command->callbacks);
    ssh_set_channel_callbacks(command->channel, &command->callbacks);
}

void ssh_command_run(struct ssh_connection *connection, struct transport_job *job)
{
    struct ssh_command *command = xcalloc(1, sizeof(*command));

    command->connection = connection;
    command->job = job;
    command->quiet.fire = on_quiet;
    command->quiet.ctx = command;
    command->channel = ssh_channel_new(connection->session);
    if (!command->channel) {
        abort(); /* out of memory */
    }
    init_callbacks(command);
    list_append(&connection->commands, &command->link);
    job->running = command;
    deadline_set(connection->deadlines, &command->quiet,
                 transport_answer_ms(&connection->link->shared->setup));
    ssh_connection_step(connection);
}

void ssh_command_input(struct transport_job *job)
{
    struct ssh_command *command = job->running;

    if (!command) {
        return;
    }
    command->drained = false;
    ssh_connection_step(command->connection);
}

void ssh_command_cancel(struct transport_job *job)
{
    struct ssh_command *command = job->running;
    struct ssh_connection *connection;

    if (!command) {
        return;
    }
    connection = command->connection;
    job->running = NULL;
    command->job = NULL;
    if (command->state == COMMAND_RUNNING) {
        kill_channel(command);
    }
    ssh_connection_step(connection);
}

void ssh_command_lose_all(struct ssh_connection *connection, const struct error *err)
{
    LIST_EACH(&connection->commands, struct ssh_command, link, command) {
        if (!command->ended) {
            command->result.error = *err;
            command->result.exit_status = -1;
        }
        finish(command, false);
    }
}

void ssh_command_drop_all(struct ssh_connection *connection)
{
    LIST_EACH(&connection->commands, struct ssh_command, link, command) {
        if (command->job) {
            command->job->running = NULL;
        }
        command->job = NULL;
        if (command->state == COMMAND_RUNNING && ssh_connection_is_alive(connection)) {
            kill_channel(command);
        } else {
            discard(command, false);
        }
    }
}
