/*
 * The use cases of `push` and `pull`: files from here to the same place on many hosts, and back. Nothing
 * is recorded. Only what differs is sent; a file is replaced completely or not at all; memory stays bounded
 * however much is copied.
 */
#ifndef MTLAUNCH_RUN_PUSH_H
#define MTLAUNCH_RUN_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "node/request.h"
#include "reach/endpoint.h"

/* The outcome on one host. */
struct run_copy_end {
    const struct error *error; /* kind NULL: all of it is there */
    size_t files;              /* files and links of the source */
    size_t files_sent;         /* of these, how many differed and were sent (dry run: would be sent) */
    uint64_t bytes_sent;       /* their contents */
    uint64_t bytes_relayed;    /* of these, what came from other hosts */
    const char *not_relayed;   /* relay: why all came from here; NULL: it did not, or nothing was to come */
    size_t removed;            /* files and folders that --delete removed (dry run: would remove) */
    unsigned elapsed_ms;
};

/* So far, over all hosts. */
struct run_copy_progress {
    size_t hosts_done, hosts_total;
    uint64_t bytes_done, bytes_total; /* total grows until every host has been compared */
    bool compared;                    /* it does not grow any more */
};

/* Hosts are named by their index. None may be NULL. */
struct run_copy_observer {
    void *ctx;
    void (*progress)(void *ctx, const struct run_copy_progress *progress);
    /* Exactly once for each host. */
    void (*ended)(void *ctx, size_t host, const struct run_copy_end *end);
    /* Something worth a line: warning, or a path of a dry run (what: "send", "remove"). */
    void (*warn)(void *ctx, const char *text);
    void (*path)(void *ctx, size_t host, const char *what, const char *path);
};

/* All borrowed. */
struct run_copy_request {
    const struct endpoint *endpoints;
    const struct strlist *labels; /* one per host; for pull: the folders of what comes */
    size_t count;
    const struct strlist *sources; /* push: here; pull: there */
    const char *target;            /* push: a folder there; pull: a folder here */
    const char *const
        *bases; /* a host's folder that relative paths there are in; NULL, or an item: the login's */
    const struct place *container; /* of each host, to copy to or from; NULL: the host itself */
    const struct strlist *skip;    /* patterns, checked */
    const struct strlist *keep;    /* paths below target that are never removed; NULL: none */
    const char *git;               /* a work tree whose .gitignore names what is never removed; NULL: none */
    bool delete_;                  /* remove what is not in the source */
    bool checksum;                 /* contents are compared, not sizes and times */
    bool relay;                    /* push: hosts pass on to each other what they lack alike */
    const char *const *addresses; /* of hosts for each other; NULL, or an item: the one they are reached by */
    bool dry_run;
    unsigned fanout;             /* hosts at once */
    unsigned connect_timeout_ms; /* 0: ssh_config's, else 10 s */
    const struct run_copy_observer *observer;
};

/*
 * Errors: kind_usage (a source that is not there, two that meet at one path), kind_local (a source that
 * cannot be read): no host was contacted; interrupted, terminated. What happened on a host is reported only
 * to the observer.
 */
int run_push(const struct run_copy_request *request, struct error *err);

/*
 * From every host to target/HOST/. A large file resumes where an earlier call stopped. Errors: kind_usage
 * (labels that cannot be names of folders, or not of one host each), interrupted, terminated.
 */
int run_pull(const struct run_copy_request *request, struct error *err);

#endif
