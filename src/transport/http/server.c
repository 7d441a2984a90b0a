/* The HTTP server: runs its own event loop, with a deadline for each connection. */
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/http/http_internal.h"

#define BACKLOG    64
#define TEXT_PLAIN "text/plain; charset=utf-8"

struct serving {
    const struct http_server *server;
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_signal_t signals[2];
    size_t clients;
    int signal; /* the one that ended the server */
};

struct client {
    struct serving *serving;
    uv_tcp_t socket;
    uv_timer_t deadline;
    unsigned handles; /* how many of these two are open */
    char head[HTTP_HEAD_MAX];
    size_t len;
    bool answered;
    uv_write_t write;
    struct str out;
};

/* --- a client ------------------------------------------------------------------------------------------ */

static void on_client_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    if (--client->handles == 0) {
        client->serving->clients--;
        str_release(&client->out);
        free(client);
    }
}

static void client_close(struct client *client)
{
    if (!uv_is_closing((uv_handle_t *)&client->socket)) {
        uv_close((uv_handle_t *)&client->socket, on_client_closed);
        uv_close((uv_handle_t *)&client->deadline, on_client_closed);
    }
}

static void on_deadline(uv_timer_t *timer)
{
    client_close(timer->data);
}

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    client_close(write->data);
}

static void client_answer(struct client *client, int status, const struct http_request *request)
{
    const struct http_server *server = client->serving->server;
    struct http_answer answer = {.status = status, .type = TEXT_PLAIN};
    client->answered = true;
    if (status == 200) {
        server->answer(server->ctx, request, &answer);
    } else {
        str_addf(&answer.text, "%d %s\n", status, http_status_text(status));
    }
    http_add_head(&client->out, answer.status, answer.type, answer.text.len);
    if (!request->head) {
        str_add_mem(&client->out, str_text(&answer.text), answer.text.len);
    }
    str_release(&answer.text);
    uv_buf_t buffer = uv_buf_init(client->out.data, (unsigned)client->out.len);
    client->write.data = client;
    uv_timer_start(&client->deadline, on_deadline, HTTP_DEADLINE_MS, 0);
    if (uv_write(&client->write, (uv_stream_t *)&client->socket, &buffer, 1, on_written) != 0) {
        client_close(client);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct client *client = handle->data;
    (void)suggested;
    *buffer = uv_buf_init(client->head + client->len, (unsigned)(sizeof(client->head) - client->len));
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    struct client *client = stream->data;
    struct http_request request;
    (void)buffer;
    if (len < 0) { /* the client left before its request was complete, or during the answer */
        if (!client->answered) {
            client_close(client);
        }
        return;
    }
    client->len += (size_t)len;
    int status = http_request_read(client->head, client->len, &request);
    if (status != 0) {
        uv_read_stop(stream);
        client_answer(client, status, &request);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct serving *serving = listener->data;
    if (status != 0) {
        return;
    }
    struct client *client = xcalloc(1, sizeof(*client));
    client->serving = serving;
    client->handles = 2;
    client->socket.data = client->deadline.data = client;
    serving->clients++;
    uv_tcp_init(&serving->loop, &client->socket);
    uv_timer_init(&serving->loop, &client->deadline);
    if (uv_accept(listener, (uv_stream_t *)&client->socket) != 0 || serving->clients > HTTP_CLIENTS_MAX ||
        uv_read_start((uv_stream_t *)&client->socket, on_alloc, on_read) != 0) {
        client_close(client);
        return;
    }
    uv_timer_start(&client->deadline, on_deadline, HTTP_DEADLINE_MS, 0);
}

/* --- the server ---------------------------------------------------------------------------------------- */

static void close_handle(uv_handle_t *handle, void *ctx)
{
    struct serving *serving = ctx;
    bool is_client = handle->type == UV_TIMER || (handle->type == UV_TCP && handle->data != serving);
    if (is_client) {
        client_close(handle->data);
    } else if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct serving *serving = handle->data;
    serving->signal = number;
    uv_walk(&serving->loop, close_handle, serving);
}

static int parse_address(const struct http_server *server, struct sockaddr_storage *out, struct error *err)
{
    bool known = uv_ip4_addr(server->address, (int)server->port, (struct sockaddr_in *)out) == 0 ||
                 uv_ip6_addr(server->address, (int)server->port, (struct sockaddr_in6 *)out) == 0;
    if (!known) {
        error_set(err, &kind_usage, "'%s' is not an address", server->address);
        return error_hint(err, "give an address of this machine in digits, such as 127.0.0.1 or [::1]");
    }
    return 0;
}

/* The port that the server listens on. */
static unsigned bound_port(const struct serving *serving)
{
    struct sockaddr_storage address;
    int len = sizeof(address);
    char port[8] = "0";
    if (uv_tcp_getsockname(&serving->listener, (struct sockaddr *)&address, &len) == 0) {
        getnameinfo((struct sockaddr *)&address, (socklen_t)len, NULL, 0, port, sizeof(port), NI_NUMERICSERV);
    }
    return (unsigned)strtoul(port, NULL, 10);
}

static int listen_on(struct serving *serving, struct error *err)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    const struct http_server *server = serving->server;
    struct sockaddr_storage address = {0};
    if (parse_address(server, &address, err) != 0) {
        return -1;
    }
    uv_tcp_init(&serving->loop, &serving->listener);
    serving->listener.data = serving;
    int failed = uv_tcp_bind(&serving->listener, (const struct sockaddr *)&address, 0);
    if (failed == 0) {
        failed = uv_listen((uv_stream_t *)&serving->listener, BACKLOG, on_connection);
    }
    if (failed != 0) {
        error_set(err, &kind_local, "cannot listen on port %u of %s: %s", server->port, server->address,
                  uv_strerror(failed));
        return error_hint(err, "%s",
                          failed == UV_EADDRNOTAVAIL ? "`ip address` shows the addresses of this machine"
                                                     : "choose another port, or 0 for one that is free");
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(&serving->loop, &serving->signals[i]);
        serving->signals[i].data = serving;
        uv_signal_start(&serving->signals[i], on_signal, numbers[i]);
    }
    server->listening(server->ctx, server->address, bound_port(serving));
    return 0;
}

int http_serve(const struct http_server *server, struct error *err)
{
    struct serving serving = {.server = server};
    int failed = uv_loop_init(&serving.loop);
    if (failed != 0) {
        return error_set(err, &kind_local, "cannot create the event loop: %s", uv_strerror(failed));
    }
    signal(SIGPIPE, SIG_IGN);
    if (listen_on(&serving, err) == 0) {
        uv_run(&serving.loop, UV_RUN_DEFAULT);
        const bool interrupted = serving.signal == SIGINT;
        error_set(err, interrupted ? &kind_interrupted : &kind_terminated, "ended by %s",
                  interrupted ? "SIGINT" : "SIGTERM");
    } else {
        uv_walk(&serving.loop, close_handle, &serving);
        uv_run(&serving.loop, UV_RUN_DEFAULT);
    }
    uv_loop_close(&serving.loop);
    return -1;
}
