/*
 * The openssh transport: runs the system's ssh, one process for each command, for hosts whose configuration
 * needs what the built-in client cannot do. It never prompts (BatchMode). Forwardings, terminals, commands
 * and variables of its configuration have no effect. Facts about OpenSSH's client 8.0 to 9.2, from its
 * source:
 *
 * - Its own messages go to the file of -E, apart from the command's stderr. It closes all descriptors from 3
 *   on when it starts, so that file is our end of a pipe under /proc. At LogLevel DEBUG1 a line says when the
 *   server has opened the session ("Sending command") and when a status has come ("rtype exit-status").
 * - It does not report which signal ended a command, and before it reports a status it waits until the
 *   streams are closed. So a shell around the command prints the status on stderr, in a line that is removed
 *   again.
 * - The server's banner goes to stderr before the session is opened, and so do errors in options.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "transport/openssh/openssh_internal.h"

#define SAID_BYTES    8192 /* bytes kept of ssh's own messages */
#define STATUS_DIGITS 3
#define SERVER_KEY    "debug1: Server host key: "
#define GREETING      "_exchange_identification: banner line "

static void start(struct openssh_command *command);

static bool openssh_serves(const struct endpoint *endpoint)
{
    return endpoint->openssh && !endpoint->local;
}

/* Three pipes, and both ends of the one for ssh's own messages. */
static size_t openssh_files(const struct endpoint *endpoint)
{
    (void)endpoint;
    return 5;
}

static struct openssh_command *command_of(struct child *child)
{
    return (struct openssh_command *)(void *)child; /* its first member */
}

static struct deadlines *deadlines_of(const struct openssh_command *command)
{
    return command->child.link->shared->setup.deadlines;
}

/* Keep ssh's lines without their CR. One byte may become three in the copy. */
static void keep(struct str *said, const char *bytes, size_t len)
{
    const char *end = bytes + len;

    while (bytes < end && said->len < SAID_BYTES) {
        const char *stop = memchr(bytes, '\r', (size_t)(end - bytes));
        size_t part = (size_t)((stop ? stop : end) - bytes), room = SAID_BYTES - said->len;
        text_add_safe(said, bytes, part < room ? part : room);
        bytes += part + (stop ? 1 : 0);
    }
}

/* --- ssh's own messages --- */

static void note_started(struct openssh_command *command)
{
    const struct child_link *link = command->child.link;

    if (command->started) {
        return;
    }
    command->started = true;
    deadline_clear(deadlines_of(command), &command->login);
    login_limit_leave(&command->slot);
    link->events->started(link->owner, command->child.job);
    child_release_input(&command->child);
}

static void take_line(struct openssh_command *command, const char *line, size_t len)
{
    AUTO_FREE char *text = xstrndup(line, len);

    if (!text_starts(text, "debug1: ")) {
        keep(&command->said, line, len);
        keep(&command->said, "\n", 1);
    } else if (strstr(text, "Sending command") || strstr(text, "master session id")) {
        note_started(command);
    } else if (text_starts(text, SERVER_KEY) && !command->host_key) {
        command->host_key = xstrdup(text + strlen(SERVER_KEY));
    } else if (strstr(text, GREETING)) { /* "debug1: kex_exchange_identification: banner line 0: TEXT" */
        const char *number = strstr(text, GREETING) + strlen(GREETING), *colon = strstr(number, ": ");
        if (colon && command->greeting.len < SAID_BYTES) {
            str_addf(&command->greeting, "%s\n", colon + 2);
        }
    } else if (strstr(text, "rtype exit-status")) {
        command->status_came = true;
    } else if (strstr(text, "rtype exit-signal")) {
        command->signal_came = true;
    }
}

/* Read what is available, without waiting. */
static void read_log(struct openssh_command *command)
{
    char buffer[4096];
    ssize_t got;

    while (command->log_open && (got = read(command->log_fd, buffer, sizeof(buffer))) > 0) {
        size_t from = 0;
        str_add_mem(&command->log_rest, buffer, (size_t)got);
        for (size_t i = 0; i < command->log_rest.len; i++) {
            const char *data = str_text(&command->log_rest);
            if (data[i] != '\n') {
                continue;
            }
            take_line(command, data + from, i - from - (i > from && data[i - 1] == '\r' ? 1 : 0));
            from = i + 1;
        }
        str_consume(&command->log_rest, from);
        if (command->log_rest.len > SAID_BYTES) {
            str_reset(&command->log_rest);
        }
    }
}

static void on_log(uv_poll_t *poll, int status, int events)
{
    struct openssh_command *command = poll->data;

    (void)status;
    (void)events;
    if (command->child.link) {
        read_log(command);
    }
}

/* --- output of the command --- */

static void hand_on(struct openssh_command *command, int stream, const char *bytes, size_t len)
{
    const struct child_link *link = command->child.link;

    if (len > 0) {
        link->events->data(link->owner, command->child.job, stream, bytes, len);
    }
}

/* How many bytes at the end of the text may be the beginning of the mark? */
static size_t count_held(const struct str *text, const char *mark)
{
    size_t mark_len = strlen(mark), most = text->len < mark_len ? text->len : mark_len - 1;

    for (size_t len = most; len > 0; len--) {
        if (memcmp(text->data + text->len - len, mark, len) == 0) {
            return len;
        }
    }
    return 0;
}

static void release_held(struct openssh_command *command, size_t len)
{
    hand_on(command, 2, str_text(&command->held), len);
    str_consume(&command->held, len);
}

/* The text begins with the mark. Returns the length of the line with the status; 0: the line is not complete;
 * -1: it has no status, because others can see the mark in a process list and print it. */
static int read_status(const struct openssh_command *command, int *status)
{
    const char *text = str_text(&command->held);
    size_t at = strlen(command->mark), from = at;

    for (*status = 0;
         at < command->held.len && at - from < STATUS_DIGITS && text[at] >= '0' && text[at] <= '9'; at++) {
        *status = 10 * *status + (text[at] - '0');
    }
    if (at == command->held.len) {
        return 0;
    }
    return text[at] == '\n' && at > from && *status <= 255 ? (int)at + 1 : -1;
}

/* Remove the line with the status, and hold back what may become such a line. */
static void take_stderr(struct openssh_command *command, const char *bytes, size_t len)
{
    struct str *held = &command->held;
    size_t mark_len = strlen(command->mark);

    str_add_mem(held, bytes, len);
    while (!command->ended) {
        const char *found = memmem(str_text(held), held->len, command->mark, mark_len);
        release_held(command,
                     found ? (size_t)(found - held->data) : held->len - count_held(held, command->mark));
        int line = found ? read_status(command, &command->status) : 0;
        if (line == 0) {
            return;
        }
        if (line < 0) {
            release_held(command, mark_len);
            continue;
        }
        command->ended = true;
        str_consume(held, (size_t)line);
        child_note_end(&command->child);
    }
    release_held(command, held->len);
}

static void openssh_data(struct child *child, int stream, const char *bytes, size_t len)
{
    struct openssh_command *command = command_of(child);

    read_log(command);
    if (stream == 1) {
        hand_on(command, 1, bytes, len);
    } else if (command->started) {
        take_stderr(command, bytes, len);
    } else {
        keep(&command->aside, bytes, len);
    }
}

/* --- the end --- */

static bool may_try_again(const struct openssh_command *command)
{
    return openssh_is_early(command) && login_pause_after(command->tries, str_text(&command->greeting)) > 0;
}

static void enter(struct openssh_command *command)
{
    const struct child_link *link = command->child.link;

    if (login_limit_enter_by_name(link->shared->setup.login_limits, NULL, link->endpoint->hostname,
                                  link->endpoint->port, &command->slot)) {
        start(command);
    }
}

static void on_retry(void *ctx)
{
    enter(ctx);
}

static struct openssh_command *make_command(struct child_link *link, struct transport_job *job);

/* A busy server drops connections before the key exchange: a new process tries again. */
static void try_again(struct openssh_command *command)
{
    struct child_link *link = command->child.link;
    struct transport_job *job = command->child.job;
    struct openssh_command *next;
    unsigned tries = command->tries + 1;
    uint64_t pause = login_pause_after(command->tries, str_text(&command->greeting));

    child_discard(&command->child);
    next = make_command(link, job);
    next->tries = tries;
    deadline_set(deadlines_of(next), &next->retry, pause);
}

static bool openssh_finishing(struct child *child)
{
    struct openssh_command *command = command_of(child);
    struct exec_result *result = &child->result;

    read_log(command);
    if (!command->started) {
        if (may_try_again(command)) {
            try_again(command);
            return false;
        }
        openssh_explain(command, &result->error);
        result->exit_status = -1;
        return true;
    }
    hand_on(command, 2, str_text(&command->held), command->held.len);
    if (command->ended) {
        result->exit_status = command->status;
        result->signal[0] = '\0';
    } else if (result->exit_status == 255 && command->signal_came) {
        transport_set_signal(result, "unknown");
    } else if (result->exit_status == 255 && !command->status_came && command->said.len > 0) {
        openssh_explain_loss(command, &result->error);
        result->exit_status = -1;
    }
    return true;
}

static void openssh_leaving(struct child *child)
{
    struct openssh_command *command = command_of(child);

    deadline_clear(deadlines_of(command), &command->login);
    deadline_clear(deadlines_of(command), &command->retry);
    login_limit_leave(&command->slot);
    if (!command->log_open) {
        return;
    }
    command->log_open = false;
    uv_poll_stop(&command->log);
    uv_close((uv_handle_t *)&command->log, child_on_closed);
    close(command->log_fd);
    close(command->log_write);
}

static void openssh_release(struct child *child)
{
    struct openssh_command *command = command_of(child);

    str_release(&command->said);
    str_release(&command->aside);
    str_release(&command->greeting);
    free(command->host_key);
    str_release(&command->held);
    str_release(&command->log_rest);
    free(command);
}

static const struct child_kind openssh_kind = {.data = openssh_data,
                                               .finishing = openssh_finishing,
                                               .leaving = openssh_leaving,
                                               .release = openssh_release};

static void on_login(void *ctx)
{
    struct openssh_command *command = ctx;
    const struct child_link *link = command->child.link;
    unsigned ms = transport_connect_ms(&link->shared->setup, link->endpoint);
    AUTO_FREE char *text = NULL;

    read_log(command);
    if (command->started) {
        return;
    }
    text = xasprintf("ssh: no login within %g s", ms / 1000.0);
    child_fail(&command->child, &kind_timed_out, text,
               "check that the host is up and reachable from here; --connect-timeout gives it more time");
}

/* --- the beginning --- */

/* The pipe for ssh's own messages. */
static int open_log(struct openssh_command *command)
{
    int ends[2], failed;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -errno;
    }
    failed = uv_poll_init(command->child.link->shared->setup.loop, &command->log, ends[0]);
    if (failed != 0) {
        close(ends[0]);
        close(ends[1]);
        return failed;
    }
    command->log.data = command;
    command->log_fd = ends[0];
    command->log_write = ends[1];
    command->log_open = true;
    child_hold(&command->child);
    uv_poll_start(&command->log, UV_READABLE, on_log);
    return 0;
}

static void start(struct openssh_command *command)
{
    struct child_link *link = command->child.link;
    const struct transport_setup *setup = &link->shared->setup;
    AUTO_STRLIST struct strlist words = STRLIST_INIT, variables = STRLIST_INIT;
    struct child_program program = {.folder = "/"};
    int failed = open_log(command);

    if (failed == 0) {
        openssh_make_words(link->endpoint, setup, command->log_write, command->child.job->command,
                           command->mark, &words);
        openssh_make_environment(&variables);
        program.argv = words.items;
        program.env = variables.items;
        deadline_set(setup->deadlines, &command->login, transport_connect_ms(setup, link->endpoint));
        failed = child_spawn(&command->child, &program);
    }
    if (failed != 0) {
        AUTO_FREE char *text = xasprintf("ssh cannot be started: %s", uv_strerror(failed));
        child_fail(&command->child, &kind_local, text,
                   "install the system's ssh client, or set ssh.client to builtin");
        return;
    }
    child_start_streams(&command->child);
}

static void on_granted(void *ctx)
{
    start(ctx);
}

static struct openssh_command *make_command(struct child_link *link, struct transport_job *job)
{
    struct openssh_command *command = xcalloc(1, sizeof(*command));

    command->child.kind = &openssh_kind;
    command->login.fire = on_login;
    command->login.ctx = command;
    command->retry.fire = on_retry;
    command->retry.ctx = command;
    command->slot.granted = on_granted;
    command->slot.ctx = command;
    openssh_make_mark(command->mark);
    command->child.input_held = true; /* until the session is open, because another try needs all of it */
    child_attach(&command->child, link, job);
    return command;
}

static void openssh_run(void *arg, struct transport_job *job)
{
    enter(make_command(arg, job));
}

const struct transport_ops transport_openssh = {
    .name = "openssh",
    .serves = openssh_serves,
    .connects_late = true,
    .files = openssh_files,
    .begin = child_begin,
    .end = child_end,
    .open = child_open,
    .run = openssh_run,
    .input = child_input,
    .pause = child_pause,
    .cancel = child_cancel,
    .close = child_close,
};
