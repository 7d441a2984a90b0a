/* What the files of pull share. */
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
    struct copy_call call; /* the list, then one a batch */
    bool begun, over;
    bool asked_list, finished;

    /* what the host has */
    struct tree tree;
    size_t source; /* that is listed now */
    bool found_any, missing;
    size_t entries; /* that it listed, of all sources; then of a batch */
    size_t others;

    struct push_source here;    /* what its folder here has */
    unsigned char *differences; /* enum tree_difference, one an entry of tree */
    bool *keep, *removable;     /* one an entry of here */
    size_t *sum_queue;          /* entries whose sums were asked for */
    size_t sum_len, sum_at;
    struct strlist sums; /* of the present call */
    struct pull_store store;

    /* the batch that is fetched */
    size_t next;
    size_t *batch;
    size_t batch_len;
    size_t at;         /* the file that comes now */
    uint64_t offset;   /* in it */
    uint64_t began_at; /* of a large one: what was here already */
    bool large;
    bool fed;
    int *fds;   /* one per file of the batch; -1: not begun */
    bool *same; /* it is there as it was before it was read */
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
void pull_fetch(struct pull_host *host); /* the batch that was chosen */
void pull_host_release(struct pull_host *host);

#endif
