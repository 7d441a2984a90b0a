/* Declarations shared by the files of pull. */
#ifndef MTLAUNCH_RUN_PULL_INTERNAL_H
#define MTLAUNCH_RUN_PULL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_call_internal.h"
#include "copy_hosts_internal.h"
#include "pull_store_internal.h"
#include "push_source_internal.h"
#include "run/push.h"

struct pull;

struct pull_host {
    struct pull *pull;
    struct copy_call call; /* the call for the list, then one per batch */
    bool begun, over;
    bool asked_list, finished;

    /* the files of the host */
    struct tree tree;
    size_t source; /* the source that is being listed */
    bool found_any, missing;
    size_t entries; /* entries listed: of all sources, then of a batch */
    size_t others;

    struct push_source here;    /* the files in its local folder */
    unsigned char *differences; /* enum tree_difference, one per entry of tree */
    bool *keep, *removable;     /* one per entry of here */
    size_t *sum_queue;          /* entries whose checksums were requested */
    size_t sum_len, sum_at;
    struct strlist sums; /* of the current call */
    struct pull_store store;

    /* the batch that is being fetched */
    size_t next;
    size_t *batch;
    size_t batch_len;
    size_t at;         /* the file that is being received */
    uint64_t offset;   /* in this file */
    uint64_t began_at; /* of a large file: the bytes that were already here */
    bool large;
    bool fed;
    int *fds;   /* one per file of the batch; -1: not begun */
    bool *same; /* one per file of the batch: it did not change on the host while it was read */
    size_t changed;
    char *first_changed;
    struct run_copy_end end;
};

struct pull {
    const struct run_copy_request *request;
    struct copy_hosts hosts;
    struct pull_host *items;
    struct run_copy_progress progress;
};

/* pull.c */
void pull_next(struct pull_host *host); /* fetch the next batch, or end */
void pull_finish(struct pull_host *host, const struct error *error);
void pull_add_open(const struct pull_host *host, size_t source, struct str *text);

/* pull_fetch.c */
void pull_fetch(struct pull_host *host); /* the chosen batch */
void pull_host_release(struct pull_host *host);

#endif
