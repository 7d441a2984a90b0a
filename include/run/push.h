/*
 * The use cases of `push` and `pull`: copy files from this machine to the same place on many hosts, and back.
 * Nothing is recorded. Only what differs is sent; a file is replaced completely or not at all; memory stays
 * bounded however much is copied.
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
    const struct error *error; /* kind NULL: everything was copied */
    size_t files;              /* files and links of the source */
    size_t files_sent;         /* of these, how many differed and were sent (dry run: would be sent) */
    uint64_t bytes_sent;       /* size of their contents */
    uint64_t bytes_relayed;    /* of these, how many came from other hosts */
    /* relay: why all came from this machine; NULL: it did not, or nothing had to be sent */
    const char *not_relayed;
    size_t removed; /* files and folders that --delete removed (dry run: would remove) */
    unsigned elapsed_ms;
};

/* Progress so far, over all hosts. */
struct run_copy_progress {
    size_t hosts_done, hosts_total;
    uint64_t bytes_done, bytes_total; /* total grows until every host has been compared */
    bool compared;                    /* total does not grow any more */
};

/* Hosts are named by their index. None may be NULL. */
struct run_copy_observer {
    void *ctx;
    void (*progress)(void *ctx, const struct run_copy_progress *progress);
    /* Called exactly once for each host. */
    void (*ended)(void *ctx, size_t host, const struct run_copy_end *end);
    /* A warning, or a path of a dry run (what: "send", "remove"). */
    void (*warn)(void *ctx, const char *text);
    void (*path)(void *ctx, size_t host, const char *what, const char *path);
};

/* All borrowed. */
struct run_copy_request {
    const struct endpoint *endpoints;
    const struct strlist *labels; /* one per host; for pull: names of the folders that are filled */
    size_t count;
    const struct strlist *sources; /* push: on this machine; pull: on the hosts */
    const char *target;            /* push: a folder on the hosts; pull: a folder on this machine */
    /* per host, the folder that relative paths are resolved against; NULL, or an item: the login folder */
    const char *const *bases;
    const struct place *container; /* of each host, to copy to or from; NULL: the host itself */
    const struct strlist *skip;    /* patterns, already checked */
    const struct strlist *keep;    /* paths below target that are never removed; NULL: none */
    const char *git;               /* a work tree whose .gitignore names what is never removed; NULL: none */
    bool delete_;                  /* remove what is not in the source */
    bool checksum;                 /* compare contents instead of sizes and times */
    bool relay;                    /* push: hosts pass on to each other the files that several of them lack */
    /* of the hosts, as seen from each other; NULL, or an item: the one used from here */
    const char *const *addresses;
    bool dry_run;
    unsigned fanout;             /* hosts at a time */
    unsigned connect_timeout_ms; /* 0: ssh_config's, else 10 s */
    const struct run_copy_observer *observer;
};

/*
 * Errors: kind_usage (a source does not exist, two have the same destination) and kind_local (a source cannot
 * be read), both before any host is contacted; interrupted, terminated. Results of hosts are reported only to
 * the observer.
 */
int run_push(const struct run_copy_request *request, struct error *err);

/*
 * Copy from every host to target/HOST/. A large file resumes where an earlier call stopped. Errors:
 * kind_usage (labels that cannot be folder names, or are not unique), interrupted, terminated.
 */
int run_pull(const struct run_copy_request *request, struct error *err);

#endif
