/*
 * A server of a few small texts over HTTP/1.1, such as metrics: GET and HEAD, one request per connection.
 *
 * Written here rather than taken from a library: it reads one request line and one header, keeps no
 * connection and takes no body, and it runs on the event loop that is there already. A library would bring a
 * loop of its own and a package that every head has to install.
 *
 * Bounded: HTTP_CLIENTS_MAX connections at once (further ones are closed), HTTP_HEAD_MAX bytes of a request,
 * HTTP_DEADLINE_MS for a client to send it, and again to receive the answer.
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
    bool head;                    /* HEAD: the text is left out */
    char path[HTTP_PATH_MAX];     /* without the part from '?' on */
    char accept[HTTP_ACCEPT_MAX]; /* the header Accept, cut; "": there is none */
};

/* What is sent back. type and text are the caller's; status 200 or 404. */
struct http_answer {
    int status;
    const char *type; /* of the text: "text/plain" */
    struct str text;  /* owned, released by the server */
};

struct http_server {
    const char *address; /* of this machine, in digits */
    unsigned port;       /* 0: one that is free */
    void *ctx;
    /* Connections are taken from now on; port is the one that was found. */
    void (*listening)(void *ctx, const char *address, unsigned port);
    /* Fill out, which is zeroed. */
    void (*answer)(void *ctx, const struct http_request *request, struct http_answer *out);
};

/*
 * Serve until a signal ends it: always -1, with kind_interrupted or kind_terminated, or kind_usage (no
 * address), kind_local (it cannot be listened on).
 */
int http_serve(const struct http_server *server, struct error *err);

#endif
