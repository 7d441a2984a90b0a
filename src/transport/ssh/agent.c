/* The client of the ssh agent: asks one question per connection and parses the list of keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "transport/ssh/agent_internal.h"
#include "transport/ssh/wire_internal.h"

#define MAX_ANSWER ((size_t)256 << 10) /* as in OpenSSH */
#define MAX_KEYS   1024

struct agent_question {
    uv_poll_t poll;
    int fd; /* -1: there is none */
    struct deadlines *deadlines;
    struct deadline deadline;
    unsigned timeout_ms;
    int no_socket; /* errno; 0: there is a socket */
    char *path;
    struct str out, in;
    agent_answer answer; /* NULL once answered or dropped */
    void *ctx;
};

static void free_question(struct agent_question *question)
{
    if (question->fd >= 0) {
        close(question->fd);
    }
    str_release(&question->out);
    str_release(&question->in);
    free(question->path);
    free(question);
}

static void on_closed(uv_handle_t *handle)
{
    free_question(handle->data);
}

static void end_question(struct agent_question *question)
{
    question->answer = NULL;
    deadline_clear(question->deadlines, &question->deadline);
    if (question->fd < 0) {
        free_question(question);
        return;
    }
    uv_poll_stop(&question->poll);
    uv_close((uv_handle_t *)&question->poll, on_closed);
}

void agent_drop(struct agent_question *question)
{
    if (question) {
        end_question(question);
    }
}

static void finish(struct agent_question *question, const struct str *answer, const struct error *err)
{
    agent_answer callback = question->answer;

    callback(question->ctx, answer, err);
    end_question(question);
}

static void fail(struct agent_question *question, const char *what)
{
    struct error err = ERROR_INIT;

    error_set(&err, &kind_auth_failed, "ssh agent '%s' %s", question->path, what);
    error_hint(&err, "check that it is running (ssh-add -l), or name a key file");
    finish(question, NULL, &err);
}

void agent_out_of_files(int code, struct error *err)
{
    error_set_errno(err, &kind_local, code, "the ssh agent cannot be asked");
    error_hint(err, "raise the limit of open files (ulimit -n), or use fewer hosts at once");
}

static void on_deadline(void *ctx)
{
    struct agent_question *question = ctx;
    AUTO_FREE char *what = xasprintf("has not answered within %g s", question->timeout_ms / 1000.0);

    fail(question, what);
}

/* Both return true while the question continues; otherwise it was answered and must not be touched. */
static bool on_writable(struct agent_question *question)
{
    ssize_t n = send(question->fd, str_text(&question->out), question->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (n < 0) {
        fail(question, "is not running");
        return false;
    }
    str_consume(&question->out, (size_t)n);
    return true;
}

static bool on_readable(struct agent_question *question)
{
    char buffer[4096];
    ssize_t n = recv(question->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (n <= 0) {
        fail(question, "has closed the connection");
        return false;
    }
    str_add_mem(&question->in, buffer, (size_t)n);
    if (question->in.len < 4) {
        return true;
    }
    size_t wanted = ssh_wire_uint32(str_text(&question->in));
    if (wanted == 0 || wanted > MAX_ANSWER) {
        fail(question, "does not speak the agent's protocol");
        return false;
    }
    if (question->in.len < wanted + 4) {
        return true;
    }
    str_consume(&question->in, 4);
    str_truncate(&question->in, wanted);
    finish(question, &question->in, NULL);
    return false;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct agent_question *question = poll->data;

    (void)status;
    (void)events;
    if (!question->answer) {
        return;
    }
    bool lives = question->out.len == 0 || on_writable(question);
    if (lives && question->out.len == 0) {
        lives = on_readable(question);
    }
    if (lives) {
        uv_poll_start(&question->poll, question->out.len > 0 ? UV_WRITABLE : UV_READABLE, on_ready);
    }
}

/* The answer callback has to come from the loop, even when there is no socket. */
static void on_away(void *ctx)
{
    struct agent_question *question = ctx;
    struct error err = ERROR_INIT;

    if (question->no_socket == 0) {
        fail(question, "is not running");
        return;
    }
    agent_out_of_files(question->no_socket, &err);
    finish(question, NULL, &err);
}

static bool connect_agent(uv_loop_t *loop, struct agent_question *question)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    question->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    question->no_socket = question->fd < 0 ? errno : -uv_poll_init(loop, &question->poll, question->fd);
    if (question->fd >= 0 && question->no_socket != 0) {
        close(question->fd);
        question->fd = -1;
    }
    if (question->fd < 0 || strlen(question->path) >= sizeof(address.sun_path)) {
        return false;
    }
    memcpy(address.sun_path, question->path, strlen(question->path) + 1);
    return connect(question->fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

struct agent_question *agent_ask(uv_loop_t *loop, struct deadlines *deadlines, const char *path,
                                 const void *message, size_t len, unsigned timeout_ms, agent_answer answer,
                                 void *ctx)
{
    struct agent_question *question = xcalloc(1, sizeof(*question));
    const unsigned char head[4] = {(unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                   (unsigned char)(len >> 8), (unsigned char)len};
    bool connected;

    question->poll.data = question;
    question->deadlines = deadlines;
    question->timeout_ms = timeout_ms;
    question->path = xstrdup(path);
    question->answer = answer;
    question->ctx = ctx;
    question->deadline.ctx = question;
    str_add_mem(&question->out, head, 4);
    str_add_mem(&question->out, message, len);
    connected = connect_agent(loop, question);
    question->deadline.fire = connected ? on_deadline : on_away;
    deadline_set(deadlines, &question->deadline, connected ? timeout_ms : 0);
    if (connected) {
        uv_poll_start(&question->poll, UV_WRITABLE, on_ready);
    }
    return question;
}

static char *encode_base64(const char *bytes, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct str out = STR_INIT;

    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = 0;
        for (size_t j = i; j < i + 3; j++) {
            group = group << 8 | (j < len ? (unsigned char)bytes[j] : 0U);
        }
        for (size_t j = 0; j < 4; j++) {
            str_add_char(&out, i + j <= len ? letters[group >> (18 - 6 * j) & 63] : '=');
        }
    }
    return str_detach(&out);
}

/* Take a string of the wire format: its length, then its bytes. False: it does not fit. */
static bool take_string(const struct str *answer, size_t *at, const char **bytes, size_t *len)
{
    const char *p = str_text(answer) + *at;

    if (answer->len - *at < 4) {
        return false;
    }
    *len = ssh_wire_uint32(p);
    if (answer->len - *at - 4 < *len) {
        return false;
    }
    *bytes = p + 4;
    *at += 4 + *len;
    return true;
}

static void add_key(struct agent_list *list, const char *blob, size_t blob_len, const char *comment,
                    size_t comment_len)
{
    AUTO_STR struct str safe = STR_INIT;
    struct agent_key *key;

    list->keys = xgrow(list->keys, list->len, &list->cap, sizeof(*list->keys));
    key = &list->keys[list->len++];
    *key = (struct agent_key){.blob = xcalloc(1, blob_len + 1), .blob_len = blob_len};
    memcpy(key->blob, blob, blob_len);
    key->base64 = encode_base64(blob, blob_len);
    text_add_line(&safe, comment, comment_len < 200 ? comment_len : 200);
    key->comment = xstrdup(str_text(&safe));
}

int agent_list_parse(const char *path, const struct str *answer, struct agent_list *list, struct error *err)
{
    const char *head = str_text(answer);
    size_t at = 5, count;

    if (answer->len < 5 || head[0] != SSH_AGENT_LISTED) {
        return error_set(err, &kind_auth_failed, "ssh agent '%s' does not list its keys", path);
    }
    count = ssh_wire_uint32(head + 1);
    for (size_t i = 0; i < count && i < MAX_KEYS; i++) {
        const char *blob = NULL, *comment = NULL;
        size_t blob_len = 0, comment_len = 0;
        if (!take_string(answer, &at, &blob, &blob_len) ||
            !take_string(answer, &at, &comment, &comment_len)) {
            agent_list_release(list);
            return error_set(err, &kind_auth_failed, "ssh agent '%s' sends a broken list of keys", path);
        }
        add_key(list, blob, blob_len, comment, comment_len);
    }
    return 0;
}

void agent_list_release(struct agent_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        free(list->keys[i].blob);
        free(list->keys[i].base64);
        free(list->keys[i].comment);
    }
    free(list->keys);
    *list = (struct agent_list){0};
}
