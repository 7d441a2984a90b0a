/*
 * A passage: a connection to a host through its jump host. A link whose endpoint has a jump asks the fleet
 * for one. The fleet keeps a jump host like any other host, so that one login serves all who pass through it.
 */
#ifndef MTLAUNCH_TRANSPORT_PASSAGE_INTERNAL_H
#define MTLAUNCH_TRANSPORT_PASSAGE_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "reach/endpoint.h"

struct fleet;
struct fleet_exec;

/* Embedded in the link; all but request is filled by it. No callback comes from inside passage_start. */
struct passage {
    /* The jump host is logged in to and connects now; false: the passage has to wait for room there again. */
    void (*asked)(void *ctx, bool asked);
    void (*opened)(void *ctx, int fd); /* a non-blocking stream socket, the callee's from now on */
    void (*failed)(void *ctx, const struct error *err); /* it never opens, or the jump host is lost */
    void *ctx;
    const char *host; /* as the jump host resolves it; borrowed until the passage is stopped or has failed */
    unsigned port;
    struct fleet_exec *request; /* the fleet's own; NULL: not started, stopped, failed or ended */
};

/* jump is copied. */
void passage_start(struct fleet *fleet, const struct endpoint *jump, struct passage *passage);
/* No callback comes after this. An open passage stays until its descriptor is closed. */
void passage_stop(struct passage *passage);

#endif
