/*
 * Works through the hosts of a copy, as many at a time as the fan-out allows, and ends all of them on a
 * signal.
 */
#ifndef MTLAUNCH_RUN_COPY_HOSTS_INTERNAL_H
#define MTLAUNCH_RUN_COPY_HOSTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_call_internal.h"
#include "run/push.h"

struct copy_hosts {
    const struct run_copy_request *request; /* borrowed */
    /* begin the work on a host; it calls copy_hosts_done when it is over */
    void (*begin)(void *ctx, size_t host);
    /* A signal arrived: end the work in progress. */
    void (*stop)(void *ctx, const struct error *error);
    void (*tick)(void *ctx); /* a few times a second */
    void *ctx;

    struct fleet *fleet;
    char mark[NODE_NONCE_LEN + 1];
    size_t next, open;
    uint64_t timer;
    int signal_number;
    unsigned signals;
};

/*
 * The caller sets the callbacks and request, and the rest to zero. Errors: kind_local. Release it in any
 * case.
 */
int copy_hosts_open(struct copy_hosts *hosts, struct error *err);
void copy_hosts_release(struct copy_hosts *hosts);

/*
 * Work on all hosts. Errors: interrupted, terminated; then the work on some hosts may not have begun, or not
 * be over.
 */
int copy_hosts_run(struct copy_hosts *hosts, struct error *err);

void copy_hosts_done(struct copy_hosts *hosts, size_t host);

/* The options of a call on this host. */
struct copy_call_place copy_hosts_place(const struct copy_hosts *hosts, size_t host);

/* Set the error "interrupted", or "terminated by SIGTERM", followed by more. Returns -1. */
int copy_hosts_set_signalled(const struct copy_hosts *hosts, const char *more, struct error *err);

#endif
