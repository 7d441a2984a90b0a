/*
 * Name look-ups beside the loop. Each runs in a thread of its own that may be abandoned: the C library's
 * getaddrinfo cannot be interrupted, and neither a deadline nor the end of the process may wait for a dead
 * name server (libuv's own pool is joined at exit). At most 32 run at once, the others wait their turn.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_LOOKUP_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_LOOKUP_INTERNAL_H

#include <netdb.h>
#include <stdbool.h>
#include <uv.h>

#include "base/error.h"

struct resolver;
struct lookup;

struct resolver *resolver_new(uv_loop_t *loop, struct error *err);
/* Abandons what runs; the memory goes when the loop has run the close callback. NULL accepted. */
void resolver_close(struct resolver *resolver);

/* An address in digits, IPv6 zones included: a list (freeaddrinfo), or NULL when it is a name. Never waits.
 */
struct addrinfo *lookup_numeric(const char *host, unsigned port);

/* code: 0 or of getaddrinfo; list: the callee's (freeaddrinfo). Called from the loop, never inside
 * lookup_start. */
typedef void (*lookup_callback)(void *ctx, int code, struct addrinfo *list);

struct lookup *lookup_start(struct resolver *resolver, const char *host, unsigned port,
                            lookup_callback callback, void *ctx);
/* No callback comes after this. */
void lookup_cancel(struct lookup *lookup);

#endif
