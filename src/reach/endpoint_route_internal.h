/* The route to a host: its jumps, and the client that is used. */
#ifndef MTLAUNCH_REACH_ENDPOINT_ROUTE_INTERNAL_H
#define MTLAUNCH_REACH_ENDPOINT_ROUTE_INTERNAL_H

#include "reach/endpoint_internal.h"

#define ENDPOINT_MAX_HOPS 8

/* The chain of hosts that are being resolved: the host behind this hop, the one behind that, and so on. */
struct endpoint_way {
    const struct endpoint_way *outer; /* NULL: this is the host itself */
    const struct endpoint *endpoint;
    const struct reach *options; /* the spec's */
};

/* The sources that all hosts are resolved from. */
struct endpoint_sources {
    const struct reach *options; /* may be NULL */
    const struct machine *machine;
    const struct ssh_config *config; /* may be NULL */
    struct strlist *notes;           /* may be NULL */
};

/* endpoint.c. outer: NULL for a host of the list, else the host that the hop leads to. */
int endpoint_resolve_hop(const struct host *host, const struct endpoint_sources *sources,
                         const struct endpoint_way *outer, struct endpoint *out, struct error *err);

/*
 * endpoint_route.c: fill jump, openssh and openssh_args of an endpoint whose other fields are known. Errors:
 * kind_ssh_config (a jump that leads to itself or cannot be parsed; the built-in client is requested and
 * cannot reach the host).
 */
int endpoint_find_route(const struct host *host, const struct endpoint_sources *sources,
                        const struct ssh_config_values *values, const struct endpoint_way *outer,
                        struct endpoint *out, struct error *err);

/* The text of the spec's jump, else of ssh_config's; NULL: none. */
const char *endpoint_find_jump(const struct reach *options, const struct ssh_config_values *values);

/* endpoint_client.c: a feature that the host needs and only OpenSSH's client has; NULL: none. The caller
 * frees. */
char *endpoint_needs_openssh(struct endpoint *endpoint, const struct ssh_config_values *values,
                             const struct machine *machine);

#endif
