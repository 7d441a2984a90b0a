/*
 * Name look-ups outside of the loop. Each runs in its own thread, which can be abandoned. getaddrinfo cannot
 * be interrupted, and neither a time limit nor the end of the process may wait for a dead name server.
 * (libuv's thread pool is joined at exit.) At most 32 look-ups run at a time; the others wait.
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
/*
 * Abandons running look-ups; the memory is freed when the loop has run the close callback. NULL accepted.
 */
void resolver_close(struct resolver *resolver);

/*
 * The address list (freeaddrinfo) of a numeric address, with or without an IPv6 zone. NULL: it is a name.
 * Never waits.
 */
struct addrinfo *lookup_numeric(const char *host, unsigned port);

/* code: 0, or an error of getaddrinfo. list: owned by the callee (freeaddrinfo). Called from the loop, never
 * inside lookup_start. */
typedef void (*lookup_callback)(void *ctx, int code, struct addrinfo *list);

struct lookup *lookup_start(struct resolver *resolver, const char *host, unsigned port,
                            lookup_callback callback, void *ctx);
/* No callback comes after this. */
void lookup_cancel(struct lookup *lookup);

#endif
