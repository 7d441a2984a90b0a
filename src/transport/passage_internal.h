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

/* Embedded in the link, which fills all members except request. passage_start itself calls no callback. */
struct passage {
    /*
     * asked true: the jump host is logged in and now connects; false: the passage has to wait for room there
     * again.
     */
    void (*asked)(void *ctx, bool asked);
    void (*opened)(void *ctx, int fd); /* a non-blocking stream socket, which the callee owns */
    void (*failed)(void *ctx, const struct error *err); /* it will not open, or the jump host was lost */
    void *ctx;
    const char *host; /* as the jump host resolves it; borrowed until the passage is stopped or has failed */
    unsigned port;
    struct fleet_exec *request; /* of the fleet; NULL: not started, stopped, failed or ended */
};

/* jump is copied. */
void passage_start(struct fleet *fleet, const struct endpoint *jump, struct passage *passage);
/* No callback comes after this. An open passage stays until its descriptor is closed. */
void passage_stop(struct passage *passage);

#endif
