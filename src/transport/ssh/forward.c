/* Connections through a jump host: direct-tcpip channels of its session, each connected to a socket pair. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "transport/ssh/ssh_internal.h"

#define PIECE_BYTES 32768

/* One channel and one socket: data from either goes to the other, and waits when that accepts no more. */
struct ssh_forward {
    struct ssh_connection *connection;
    struct transport_job *job; /* NULL: no one has to be notified */
    struct list_link link;
    ssh_channel channel;
    struct ssh_channel_callbacks_struct callbacks;
    char *host;
    unsigned port;
    int fd; /* our end of the pair; -1: the channel is not open yet */
    uv_poll_t poll;
    int waits_for;         /* the events that poll is started with */
    bool channel_readable; /* the channel has unread data */
    bool channel_ended;
    bool fd_readable;
    struct str pending; /* read from the channel, not written to the socket yet */
};

static int on_data(ssh_session session, ssh_channel channel, void *data, uint32_t len, int is_stderr,
                   void *userdata)
{
    struct ssh_forward *forward = userdata;

    (void)session;
    (void)channel;
    (void)data;
    (void)len;
    (void)is_stderr;
    forward->channel_readable = true;
    return 0; /* leave it in the buffer of the channel */
}

static void on_end(ssh_session session, ssh_channel channel, void *userdata)
{
    struct ssh_forward *forward = userdata;

    (void)session;
    (void)channel;
    forward->channel_ended = true;
    forward->channel_readable = true;
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct ssh_forward *forward = handle->data;

    str_release(&forward->pending);
    free(forward->host);
    free(forward);
}

/* Leave the connection without an event. When the session is lost, libssh itself frees the channel. */
static void discard(struct ssh_forward *forward, bool alive)
{
    list_remove(&forward->link);
    ssh_remove_channel_callbacks(forward->channel, &forward->callbacks);
    if (alive) {
        ssh_channel_free(forward->channel);
    }
    if (forward->fd < 0) {
        str_release(&forward->pending);
        free(forward->host);
        free(forward);
        return;
    }
    uv_poll_stop(&forward->poll);
    close(forward->fd);
    uv_close((uv_handle_t *)&forward->poll, on_poll_closed);
}

/* End the job; err NULL: the connection was closed. */
static void finish(struct ssh_forward *forward, const struct error *err, bool alive)
{
    struct transport_job *job = forward->job;
    const struct ssh_link *link = forward->connection->link;
    struct exec_result result = {.exit_status = -1};

    forward->job = NULL;
    discard(forward, alive);
    if (!job) {
        return;
    }
    if (err) {
        result.error = *err;
    }
    job->running = NULL;
    link->events->ended(link->owner, job, &result);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct ssh_forward *forward = poll->data;

    forward->waits_for = status < 0 ? 0 : forward->waits_for; /* libuv has stopped the handle */
    if (status < 0 || (events & UV_READABLE) != 0) {
        forward->fd_readable = true;
    }
    ssh_connection_step(forward->connection);
}

/* --- opening --------- */

static const struct error_kind *classify(const char *reason)
{
    static const struct {
        const char *text;
        const struct error_kind *kind;
    } kinds[] = {
        {"refused", &kind_refused},
        {"timed out", &kind_timed_out},
        {"nknown host", &kind_name_not_resolved},
        {"Name or service", &kind_name_not_resolved},
        {"resolution", &kind_name_not_resolved},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strstr(reason, kinds[i].text)) {
            return kinds[i].kind;
        }
    }
    return &kind_unreachable;
}

/*
 * While other connections pass through, a refusal means that the server accepts no more. Otherwise it does
 * not forward at all.
 */
static void fail_refused(struct ssh_forward *forward, const char *reason)
{
    const struct ssh_link *link = forward->connection->link;
    struct transport_job *job = forward->job;
    struct error err = ERROR_INIT;

    if (forward->connection->forwards.first != forward->connection->forwards.last) {
        forward->job = NULL;
        discard(forward, true);
        job->running = NULL;
        link->events->refused(link->owner, job);
        return;
    }
    error_set(&err, &kind_jump_unreachable, "jump host '%s' does not forward: %s", link->endpoint->name,
              reason);
    error_hint(&err, "look at AllowTcpForwarding and PermitOpen in its sshd_config");
    finish(forward, &err, true);
}

/* "Channel opening failure: channel 43 error (2) Connection refused" */
static void fail_open(struct ssh_forward *forward)
{
    AUTO_STR struct str text = STR_INIT;
    const char *code, *reason;
    const struct error_kind *kind;
    struct error err = ERROR_INIT;

    ssh_connection_reason(forward->connection, &text);
    code = strstr(str_text(&text), "error (");
    reason = code && strchr(code, ')') ? strchr(code, ')') + 1 : str_text(&text);
    reason += strspn(reason, " ");
    if (!forward->job) {
        discard(forward, true);
        return;
    }
    if (!code || code[strlen("error (")] != '2') {
        fail_refused(forward, reason);
        return;
    }
    kind = classify(reason);
    error_set(&err, kind, "no connection from the jump host to '%s' port %u: %s", forward->host,
              forward->port, reason);
    error_hint(&err, kind == &kind_name_not_resolved
                         ? "the jump host resolves the name: check that it is known there"
                         : "check that the host is up, and that the jump host can reach its sshd");
    finish(forward, &err, true);
}

static int make_pair(struct ssh_forward *forward)
{
    int ends[2], failed;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    failed = uv_poll_init(forward->connection->loop, &forward->poll, ends[0]);
    if (failed != 0) {
        close(ends[0]);
        close(ends[1]);
        errno = -failed;
        return -1;
    }
    forward->fd = ends[0];
    forward->poll.data = forward;
    return ends[1];
}

/* Returns false on failure; forward is then freed. */
static bool enter_open(struct ssh_forward *forward)
{
    const struct ssh_link *link = forward->connection->link;
    struct error err = ERROR_INIT;
    int theirs = forward->job ? make_pair(forward) : -1;

    if (theirs >= 0) {
        link->events->connected(link->owner, forward->job, theirs);
        return true;
    }
    if (forward->job) {
        error_set_errno(&err, &kind_local, errno, "no more files can be opened");
        error_hint(&err, "raise the limit (ulimit -n), or use fewer hosts at once");
    }
    finish(forward, &err, true);
    return false;
}

/* True: it is open. */
static bool step_opening(struct ssh_forward *forward)
{
    struct ssh_connection *connection = forward->connection;
    int answer =
        ssh_channel_open_forward(forward->channel, forward->host, (int)forward->port, "127.0.0.1", 0);

    if (answer == SSH_AGAIN || !ssh_connection_is_alive(connection)) {
        return false;
    }
    if (connection->link) {
        ssh_link_leave_login_limit(connection->link);
    }
    if (answer == SSH_OK) {
        return enter_open(forward);
    }
    fail_open(forward);
    return false;
}

/* --- passing bytes ------ */

/* False: the socket accepts no more for now, or is closed. */
static bool flush(struct ssh_forward *forward)
{
    while (forward->pending.len > 0) {
        ssize_t sent =
            send(forward->fd, forward->pending.data, forward->pending.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0) {
            return false;
        }
        str_consume(&forward->pending, (size_t)sent);
    }
    return true;
}

/* Copy from the channel to the socket. False: the other side has ended, and everything was copied. */
static bool pass_in(struct ssh_forward *forward)
{
    char buffer[PIECE_BYTES];

    while (flush(forward) && forward->channel_readable) {
        int got = ssh_channel_read_nonblocking(forward->channel, buffer, sizeof(buffer), 0);
        if (!ssh_connection_is_alive(forward->connection)) {
            return true;
        }
        if (got > 0) {
            str_add_mem(&forward->pending, buffer, (size_t)got);
            continue;
        }
        if (got < 0 || forward->channel_ended) {
            return false;
        }
        forward->channel_readable = false;
    }
    return true;
}

static bool may_send(const struct ssh_forward *forward)
{
    return ssh_channel_window_size(forward->channel) > 0 &&
           (ssh_get_poll_flags(forward->connection->session) & SSH_WRITE_PENDING) == 0;
}

/* Copy from the socket to the channel. False: the inner connection was closed. */
static bool pass_out(struct ssh_forward *forward)
{
    char buffer[PIECE_BYTES];

    while (forward->fd_readable && may_send(forward)) {
        uint32_t window = ssh_channel_window_size(forward->channel);
        ssize_t got =
            recv(forward->fd, buffer, window < sizeof(buffer) ? window : sizeof(buffer), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            forward->fd_readable = false;
            return true;
        }
        if (got <= 0) {
            return false;
        }
        if (ssh_channel_write(forward->channel, buffer, (uint32_t)got) < 0) {
            return !ssh_connection_is_alive(forward->connection);
        }
    }
    return true;
}

static void wait_for_socket(struct ssh_forward *forward)
{
    int events = (forward->fd_readable ? 0 : UV_READABLE) | (forward->pending.len > 0 ? UV_WRITABLE : 0);

    if (events == forward->waits_for) {
        return;
    }
    forward->waits_for = events;
    uv_poll_start(&forward->poll, events, on_poll);
}

static void step(struct ssh_forward *forward)
{
    if (forward->fd < 0 && !step_opening(forward)) {
        return;
    }
    if (!pass_in(forward) || !pass_out(forward)) {
        if (ssh_connection_is_alive(forward->connection)) {
            finish(forward, NULL, true);
        }
        return;
    }
    wait_for_socket(forward);
}

void ssh_forward_step_all(struct ssh_connection *connection)
{
    LIST_EACH(&connection->forwards, struct ssh_forward, link, at) { /* a step removes only its own item */
        if (!ssh_connection_is_alive(connection)) {
            return;
        }
        step(at);
    }
}

/* --- from outside --- */

void ssh_forward_start(struct ssh_connection *connection, struct transport_job *job)
{
    struct ssh_forward *forward = xcalloc(1, sizeof(*forward));

    forward->connection = connection;
    forward->job = job;
    forward->host = xstrdup(job->host);
    forward->port = job->port;
    forward->fd = -1;
    job->running = forward;
    forward->channel = ssh_channel_new(connection->session);
    if (!forward->channel) {
        abort(); /* out of memory */
    }
    forward->callbacks.userdata = forward;
    forward->callbacks.channel_data_function = on_data;
    forward->callbacks.channel_eof_function = on_end;
    forward->callbacks.channel_close_function = on_end;
    ssh_callbacks_init(&forward->callbacks);
    ssh_set_channel_callbacks(forward->channel, &forward->callbacks);
    list_append(&connection->forwards, &forward->link);
    ssh_connection_step(connection);
}

void ssh_forward_stop(struct transport_job *job)
{
    struct ssh_forward *forward = job->running;

    if (forward) {
        job->running = NULL;
        forward->job = NULL;
    }
}

void ssh_forward_lose_all(struct ssh_connection *connection, const struct error *err)
{
    struct error told = *err;

    error_prefix(&told, "jump host '%s'", connection->link->endpoint->name);
    LIST_EACH(&connection->forwards, struct ssh_forward, link, forward) {
        finish(forward, &told, false);
    }
}

void ssh_forward_drop_all(struct ssh_connection *connection)
{
    LIST_EACH(&connection->forwards, struct ssh_forward, link, at) {
        discard(at, ssh_connection_is_alive(connection));
    }
}

void ssh_forward_orphan_all(struct ssh_connection *connection)
{
    LIST_EACH(&connection->forwards, struct ssh_forward, link, at) {
        if (at->job) {
            at->job->running = NULL;
        }
        at->job = NULL;
    }
}
