/*
 * A server for a few small texts over HTTP/1.1, such as metrics: GET and HEAD, one request per connection.
 *
 * It is written here rather than taken from a library, because it needs so little: it reads one request line
 * and one header, keeps no connection, takes no body, and runs on libuv, which the program uses anyway. A
 * library would bring its own event loop, and a package that every head has to install.
 *
 * It is bounded: HTTP_CLIENTS_MAX connections at once (further ones are closed), HTTP_HEAD_MAX bytes of a
 * request, HTTP_DEADLINE_MS for a client to send it, and again to receive the answer.
 */
#ifndef MTLAUNCH_TRANSPORT_HTTP_H
#define MTLAUNCH_TRANSPORT_HTTP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

#define HTTP_CLIENTS_MAX 32
#define HTTP_HEAD_MAX    8192
#define HTTP_DEADLINE_MS 5000

#define HTTP_PATH_MAX   256
#define HTTP_ACCEPT_MAX 1024

struct http_request {
    bool head;                    /* HEAD: the answer has no text */
    char path[HTTP_PATH_MAX];     /* without '?' and what follows it */
    char accept[HTTP_ACCEPT_MAX]; /* the header Accept, cut to size; "": none */
};

/* The answer to send. status is 200 or 404; the caller sets type and text. */
struct http_answer {
    int status;
    const char *type; /* of the text: "text/plain" */
    struct str text;  /* owned, released by the server */
};

struct http_server {
    const char *address; /* a numeric address of this machine */
    unsigned port;       /* 0: any free port */
    void *ctx;
    /* Called when connections are accepted; port is the actual one. */
    void (*listening)(void *ctx, const char *address, unsigned port);
    /* Fill out, which is zeroed. */
    void (*answer)(void *ctx, const struct http_request *request, struct http_answer *out);
};

/*
 * Serve until a signal ends it. Always returns -1, with kind_interrupted or kind_terminated after a signal,
 * kind_usage when the address is not valid, or kind_local when it is not possible to listen on it.
 */
int http_serve(const struct http_server *server, struct error *err);

#endif
