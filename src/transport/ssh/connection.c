/*
 * A connection is one socket with one libssh session: watched by the loop, stepped through login and
 * commands, kept alive, closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <libssh/server.h> /* ssh_send_keepalive */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/login_words.h"
#include "transport/ssh/ssh_internal.h"

#define LIBSSH_READ_BYTES 4096 /* MAX_BUF_SIZE of its socket.c */
#define READS_AT_ONCE     32
#define USER_TIMEOUT_MS   30000 /* for data that is sent but not acknowledged */
#define LINGER_MS         200   /* for a kill request to arrive: an immediate reset would discard it */
#define CARRY_MS          600   /* for connections that pass through to end, with their kill requests */

static void on_ready(uv_poll_t *poll, int status, int events);
static void on_keepalive(void *ctx);
static void go_on_closing(struct ssh_connection *connection);

static int set_connect_error(struct ssh_link *link, int code, struct error *err)
{
    AUTO_STR struct str where = STR_INIT;
    const struct error_kind *kind = code == ECONNREFUSED ? &kind_refused
                                    : code == ETIMEDOUT  ? &kind_timed_out
                                                         : &kind_unreachable;

    ssh_link_where(link, &where);
    if (kind == &kind_refused) {
        error_set(err, kind, "connection to %s is refused", str_text(&where));
        return error_hint(err, "check that sshd runs there, and on that port");
    }
    error_set(err, kind, "no connection to %s: %s", str_text(&where), strerror(code));
    return error_hint(err, "check that the host is up and reachable from here");
}

/* Start to connect to the address. Returns the socket, or -1. */
static int start_connect(struct ssh_link *link, const struct addrinfo *address, struct error *err)
{
    int one = 1, user_timeout = USER_TIMEOUT_MS;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        error_set(err, &kind_local, "no more files can be opened: %s", strerror(errno));
        return error_hint(err, "raise the limit (ulimit -n), or use fewer hosts at once");
    }
    if (fd < 0) {
        return set_connect_error(link, errno, err);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, sizeof(user_timeout));
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
        int code = errno;
        close(fd);
        return set_connect_error(link, code, err);
    }
    return fd;
}

static int make_poll(struct ssh_connection *connection, int fd, struct error *err)
{
    uv_poll_t *poll = xcalloc(1, sizeof(*poll));
    int failed = uv_poll_init(connection->loop, poll, fd);

    if (failed != 0) {
        free(poll);
        return error_set(err, &kind_local, "the connection cannot be watched: %s", uv_strerror(failed));
    }
    poll->data = connection;
    connection->poll = poll;
    connection->watched = 0;
    return 0;
}

/* A change costs system calls, and is rarely needed. */
static void watch_for(struct ssh_connection *connection, int events)
{
    if (connection->watched != events) {
        uv_poll_start(connection->poll, events, on_ready);
    }
    connection->watched = events;
}

static void on_poll_closed(uv_handle_t *poll)
{
    free(poll);
}

/* Has to be called before the number of the descriptor can be reused: see the header. */
static void drop_poll(struct ssh_connection *connection)
{
    if (connection->poll) {
        uv_close((uv_handle_t *)connection->poll, on_poll_closed);
    }
    connection->poll = NULL;
}

static struct ssh_connection *make_connection(struct ssh_link *link, int fd, struct error *err)
{
    struct ssh_connection *connection = xcalloc(1, sizeof(*connection));

    connection->link = link;
    connection->fd = fd;
    connection->loop = link->shared->setup.loop;
    connection->deadlines = link->shared->setup.deadlines;
    connection->keepalive.fire = on_keepalive;
    connection->keepalive.ctx = connection;
    if (make_poll(connection, fd, err) != 0) {
        close(fd);
        free(connection);
        return NULL;
    }
    watch_for(connection, UV_WRITABLE);
    return connection;
}

struct ssh_connection *ssh_connection_open(struct ssh_link *link, const struct addrinfo *address,
                                           struct error *err)
{
    int fd = start_connect(link, address, err);

    return fd >= 0 ? make_connection(link, fd, err) : NULL;
}

struct ssh_connection *ssh_connection_adopt(struct ssh_link *link, int fd, struct error *err)
{
    return make_connection(link, fd, err); /* the socket is connected, so it is writable at once */
}

void ssh_connection_reason(const struct ssh_connection *connection, struct str *out)
{
    const char *text = ssh_get_error(connection->session);
    size_t len = strcspn(text, "\r\n");

    text_add_line(out, text, len < 300 ? len : 300);
}

/* Does the session exist, with its keys not exchanged yet? */
static bool is_in_handshake(const struct ssh_connection *connection)
{
    return connection->link && connection->link->phase >= SSH_PHASE_GREETING &&
           connection->link->phase <= SSH_PHASE_KEY_EXCHANGE;
}

static bool is_in_login(const struct ssh_connection *connection)
{
    return connection->link->phase == SSH_PHASE_LOGIN || connection->link->phase == SSH_PHASE_AGENT;
}

static bool is_open(const struct ssh_connection *connection)
{
    return connection->link && connection->link->phase == SSH_PHASE_OPEN;
}

void ssh_connection_peek(struct ssh_connection *connection)
{
    int fd = connection->fd >= 0 ? connection->fd : ssh_get_fd(connection->session);
    ssize_t got;

    if (!is_in_handshake(connection) || fd < 0 || ssh_get_serverbanner(connection->session)) {
        return;
    }
    got = recv(fd, connection->greeting, sizeof(connection->greeting) - 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) {
        connection->greeting[got] = '\0';
    }
}

void ssh_connection_add_banner(const struct ssh_connection *connection, struct error *err)
{
    char *banner = ssh_get_issue_banner(connection->session);

    if (banner) {
        login_words_explain(err, "the server says", banner, strlen(banner));
    }
    ssh_string_free_char(banner);
}

bool ssh_connection_is_alive(const struct ssh_connection *connection)
{
    return !connection->failed && ssh_get_fd(connection->session) >= 0 &&
           (ssh_get_status(connection->session) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

void ssh_connection_fail(struct ssh_connection *connection, enum ssh_failure failure, const struct error *err)
{
    if (connection->failed) {
        return;
    }
    connection->failed = true;
    drop_poll(connection);
    deadline_clear(connection->deadlines, &connection->keepalive);
    ssh_command_lose_all(connection, err);
    ssh_forward_lose_all(connection, err);
    ssh_link_on_failure(connection->link, failure, err);
}

static void fail_lost(struct ssh_connection *connection)
{
    struct error err = ERROR_INIT;
    AUTO_STR struct str reason = STR_INIT;

    ssh_connection_reason(connection, &reason);
    error_set(&err, &kind_connection_lost, "connection lost: %s",
              reason.len > 0 ? str_text(&reason) : "closed by the host");
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

/* Must output wait? It then stays in the socket. Not on a connection that others pass through. */
static bool is_paused(const struct ssh_connection *connection)
{
    return is_open(connection) && list_is_empty(&connection->forwards) &&
           *connection->link->shared->setup.paused;
}

/*
 * Wait for what libssh waits for. While output is paused, wait for nothing: libssh would read when it
 * continues writing.
 */
void ssh_connection_watch(struct ssh_connection *connection)
{
    int events = UV_READABLE;

    if (connection->failed || !connection->poll) {
        return;
    }
    if ((ssh_get_poll_flags(connection->session) & SSH_WRITE_PENDING) != 0) {
        events |= UV_WRITABLE;
    }
    watch_for(connection, is_paused(connection) ? 0 : events);
}

static void finish_connect(struct ssh_connection *connection)
{
    struct error err = ERROR_INIT;
    int code = 0;
    socklen_t len = sizeof(code);

    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &code, &len) != 0) {
        code = errno;
    }
    if (code != 0) {
        set_connect_error(connection->link, code, &err);
        ssh_connection_fail(connection, SSH_FAILURE_ADDRESS, &err);
        return;
    }
    if (ssh_login_start(connection) < 0) {
        return;
    }
    ssh_link_enter(connection->link, SSH_PHASE_GREETING);
    ssh_connection_step(connection);
}

static unsigned keepalive_ms(const struct ssh_connection *connection)
{
    return transport_keepalive_ms(&connection->link->shared->setup, connection->link->endpoint);
}

static void enter_open(struct ssh_connection *connection)
{
    ssh_agent_close(connection);
    connection->heard = connection->bytes.in_bytes;
    deadline_set(connection->deadlines, &connection->keepalive, keepalive_ms(connection));
    ssh_link_on_open(connection->link);
}

/* Step all commands until a pass has read nothing more: see the header. */
static void step_open(struct ssh_connection *connection)
{
    uint64_t before;

    do {
        before = connection->bytes.in_bytes;
        ssh_command_step_all(connection);
        if (!connection->failed) {
            ssh_forward_step_all(connection);
        }
        if (connection->failed) {
            return;
        }
        if (!ssh_connection_is_alive(connection)) {
            fail_lost(connection);
            return;
        }
    } while (connection->bytes.in_bytes != before);
}

void ssh_connection_step(struct ssh_connection *connection)
{
    if (connection->failed) {
        return;
    }
    if (connection->closing) {
        go_on_closing(connection);
        return;
    }
    if (is_in_handshake(connection) && ssh_login_handshake(connection) > 0) {
        ssh_link_enter(connection->link, SSH_PHASE_LOGIN);
    }
    if (!connection->failed && is_in_login(connection) && ssh_login_authenticate(connection) > 0) {
        enter_open(connection);
    }
    if (!connection->failed && is_open(connection)) {
        step_open(connection);
    }
    ssh_connection_watch(connection);
}

static void release(struct ssh_connection *connection);

static void go_on_closing(struct ssh_connection *connection)
{
    bool carried = !list_is_empty(&connection->forwards);

    ssh_forward_step_all(connection);
    if (ssh_connection_is_alive(connection) && (!carried || !list_is_empty(&connection->forwards))) {
        ssh_connection_watch(connection);
    } else {
        release(connection);
    }
}

/*
 * libssh reads 4 KiB per call. When more data is likely there, read it without another turn of the loop, but
 * only so much, because other connections wait.
 */
static void read_some(struct ssh_connection *connection)
{
    uint64_t before;
    unsigned left = READS_AT_ONCE;

    do {
        before = connection->bytes.in_bytes;
        ssh_event_dopoll(connection->event, 0);
    } while (--left > 0 && connection->bytes.in_bytes - before >= LIBSSH_READ_BYTES && is_open(connection) &&
             !is_paused(connection) && ssh_connection_is_alive(connection));
}

/* libuv turns POLLERR into a status and stops the handle: the step finds the cause. */
static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct ssh_connection *connection = poll->data;

    (void)events;
    if (status != 0) {
        connection->watched = 0;
    }
    if (connection->failed) {
        return;
    }
    if (!connection->closing && connection->link->phase == SSH_PHASE_CONNECT) {
        finish_connect(connection);
        return;
    }
    ssh_connection_peek(connection);
    if (connection->event) {
        read_some(connection);
    }
    if (connection->closing) {
        go_on_closing(connection);
    } else {
        ssh_connection_step(connection);
    }
}

/*
 * TCP never notices a stopped sshd, and notices a cut cable only when something is sent. Only an unanswered
 * question proves that the host is gone.
 */
static void on_keepalive(void *ctx)
{
    struct ssh_connection *connection = ctx;
    struct error err = ERROR_INIT;

    if (connection->closing) {
        release(connection);
        return;
    }
    if (connection->bytes.in_bytes != connection->heard || is_paused(connection)) {
        connection->silent_ticks = 0;
    } else if (++connection->silent_ticks >= transport_max_silent(connection->link->endpoint)) {
        error_set(&err, &kind_connection_lost, "connection lost: no sign of life for %g s",
                  connection->silent_ticks * (keepalive_ms(connection) / 1000.0));
        ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
        return;
    }
    connection->heard = connection->bytes.in_bytes;
    if (connection->silent_ticks > 0) {
        /* In non-blocking mode the first call sends the question, and the second one collects its answer. */
        ssh_send_keepalive(connection->session);
        ssh_send_keepalive(connection->session);
    }
    deadline_set(connection->deadlines, &connection->keepalive, keepalive_ms(connection));
    ssh_connection_step(connection);
}

static void free_connection(struct ssh_connection *connection)
{
    if (connection->event) {
        ssh_event_remove_session(connection->event, connection->session);
        ssh_event_free(connection->event);
    }
    ssh_free(connection->session);
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    str_release(&connection->tried);
    free(connection->offers);
    free(connection);
}

static void on_ended(uv_handle_t *handle)
{
    free_connection(handle->data);
}

static void release(struct ssh_connection *connection)
{
    ssh_forward_drop_all(connection);
    connection->failed = true;
    deadline_clear(connection->deadlines, &connection->keepalive);
    ssh_agent_close(connection);
    drop_poll(connection);
    connection->released = true;
    if (connection->lent) {
        return;
    }
    uv_idle_init(connection->loop, &connection->end);
    connection->end.data = connection;
    uv_close((uv_handle_t *)&connection->end, on_ended);
}

void ssh_connection_lend(struct ssh_connection *connection)
{
    drop_poll(connection);
    connection->lent = true;
}

void ssh_connection_take_back(struct ssh_connection *connection)
{
    struct error err = ERROR_INIT;
    int fd = ssh_get_fd(connection->session);

    connection->lent = false;
    if (connection->released) {
        free_connection(connection);
        return;
    }
    if (fd >= 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    if (fd >= 0 && make_poll(connection, fd, &err) != 0) {
        ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
    } else {
        ssh_connection_step(connection);
    }
}

void ssh_connection_close(struct ssh_connection *connection)
{
    ssh_command_drop_all(connection);
    ssh_forward_orphan_all(connection);
    connection->link = NULL;
    if (!list_is_empty(&connection->forwards) && ssh_connection_is_alive(connection)) {
        connection->closing = true;
        deadline_set(connection->deadlines, &connection->keepalive, CARRY_MS);
        ssh_connection_watch(connection);
    } else if (connection->killed_ms != 0 && clock_mono_ms() - connection->killed_ms < LINGER_MS &&
               ssh_connection_is_alive(connection)) {
        connection->closing = true;
        deadline_set(connection->deadlines, &connection->keepalive, LINGER_MS);
        ssh_connection_watch(connection);
    } else {
        release(connection);
    }
}
