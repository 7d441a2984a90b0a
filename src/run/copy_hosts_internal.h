/* The hosts of a copy: as many at once as the fan-out allows, and the end of all of them by a signal. */
#ifndef MTLAUNCH_RUN_COPY_HOSTS_INTERNAL_H
#define MTLAUNCH_RUN_COPY_HOSTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_call_internal.h"
#include "run/push.h"

struct copy_hosts {
    const struct run_copy_request *request; /* borrowed */
    void (*begin)(void *ctx, size_t host);  /* its work begins; copy_hosts_done is called when it is over */
    /* A signal came: end the work that has begun and is not over. */
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

/* The callbacks and request are set, all else is zero. Errors: kind_local. Released in any case. */
int copy_hosts_open(struct copy_hosts *hosts, struct error *err);
void copy_hosts_release(struct copy_hosts *hosts);

/* Work on all hosts. Errors: interrupted, terminated; hosts whose work did not begin, or is not over, are
 * left so. */
int copy_hosts_run(struct copy_hosts *hosts, struct error *err);

void copy_hosts_done(struct copy_hosts *hosts, size_t host);

/* What a call on that host needs. */
struct copy_call_place copy_hosts_place(const struct copy_hosts *hosts, size_t host);

/* "interrupted", or "terminated by SIGTERM", followed by more. Returns -1. */
int copy_hosts_set_signalled(const struct copy_hosts *hosts, const char *more, struct error *err);

#endif
