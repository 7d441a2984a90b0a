/* What the parts of the HTTP server share. */
#ifndef MTLAUNCH_TRANSPORT_HTTP_INTERNAL_H
#define MTLAUNCH_TRANSPORT_HTTP_INTERNAL_H

#include <stddef.h>

#include "transport/http.h"

/*
 * Read the head of a request (RFC 9112). Returns 0 when its end has not arrived; 200 when out is filled;
 * otherwise the error status to answer with. Bytes after the head are ignored.
 */
int http_request_read(const char *bytes, size_t len, struct http_request *out);

/* The reason phrase of a status: "Not Found". */
const char *http_status_text(int status);

/* Append the status line and headers of an answer with len bytes of text. */
void http_add_head(struct str *out, int status, const char *type, size_t len);

#endif
