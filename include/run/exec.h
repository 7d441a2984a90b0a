/*
 * The use case of `exec`: one command on many hosts, independent of any run. Nothing is recorded, and no lock
 * is taken. Memory stays bounded however much the hosts print: output is passed on as it arrives, and is not
 * read while the observer can take no more; standard input is read in pieces, the next one once every host
 * has taken the previous one.
 */
#ifndef MTLAUNCH_RUN_EXEC_H
#define MTLAUNCH_RUN_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "node/request.h"
#include "reach/endpoint.h"

/* How the command ended on a host. */
struct run_exec_end {
    /*
     * kind NULL: it ran to its end. Else time_limit, interrupted, terminated, or why the host could not be
     * reached or was lost (exit code 3).
     */
    const struct error *error;
    int exit_status;     /* 0..255, 128 + n when a signal ended it; -1 with an error */
    const char *signal;  /* name without SIG, "" when none */
    unsigned elapsed_ms; /* 0: it never ran */
};

/* Hosts are named by their index. None may be NULL. */
struct run_exec_observer {
    void *ctx;
    /* Bytes of stream 1 or 2. false: output can no longer be written: end everything. */
    bool (*output)(void *ctx, size_t host, int stream, const char *bytes, size_t len);
    /* Called exactly once for each host, after all its output. */
    void (*ended)(void *ctx, size_t host, const struct run_exec_end *end);
    /* The descriptor that must become writable before more output can be taken; -1: more can be taken now. */
    int (*full)(void *ctx);
    bool (*writable)(void *ctx); /* that descriptor is writable. false: as for output */
    bool (*tick)(void *ctx);     /* about once a second. false: as for output */
};

/* All borrowed. */
struct run_exec_request {
    const struct endpoint *endpoints;
    size_t count;
    const struct strlist *command; /* one word: a line for /bin/sh; several: an exact argv */
    int input_fd;                  /* every host gets a copy of what is read from it; -1: /dev/null */
    const struct place *place;     /* of the command on each host; NULL: the host itself */
    unsigned long timeout_s;       /* per host, from the start of the command; 0: none */
    unsigned fanout;               /* hosts at a time; with an input, all hosts */
    unsigned connect_timeout_ms;   /* 0: ssh_config's, else 10 s */
    const struct run_exec_observer *observer;
};

/*
 * Run the command and wait until it has ended on every host. When it must end early (time limit, SIGINT,
 * SIGTERM, output cannot be written), each node ends it with all its descendants: TERM, then KILL two seconds
 * later. Returns 0, or -1 with err: interrupted or terminated (a second signal returns at once), local (the
 * event loop could not be created; no host was contacted).
 */
int run_exec(const struct run_exec_request *request, struct error *err);

#endif
