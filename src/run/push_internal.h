/* Declarations shared by the files of push: a push, and the state of each host. */
#ifndef MTLAUNCH_RUN_PUSH_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_call_internal.h"
#include "copy_hosts_internal.h"
#include "push_archive_internal.h"
#include "push_relay_internal.h"
#include "push_source_internal.h"
#include "run/push.h"

/* The state of one entry on one host. */
struct push_state {
    unsigned char difference; /* enum tree_difference; TREE_ABSENT until a list says otherwise */
    bool there;               /* it exists on the host by now, if everything sent was received */
    bool locked;              /* a folder on the host that must be made writable first */
    bool touched;             /* a folder whose content is changed: its time is set again */
    bool same_size;           /* a file of the same size on the host: the checksum decides */
    bool set_time;            /* same content, different time */
    bool torn;                /* it changed on this machine while it was read */
};

/* The steps of a host, in this order. */
enum push_step {
    PUSH_PREPARE, /* create the folder, remove what is of another kind */
    PUSH_BATCH,   /* begin an archive of the next files */
    PUSH_FILES,   /* send its entries */
    PUSH_MOVE,    /* move them from the room into place; then the next batch */
    PUSH_JOIN,    /* instead of batches: a host that can pass pieces on joins a group */
    PUSH_PIECE,   /* choose where the next piece comes from */
    PUSH_SEND,    /* … from this machine */
    PUSH_FETCH,   /* … from another host: wait for it */
    PUSH_TAKE,    /* it has arrived: use it; then the next piece */
    PUSH_MODES,
    PUSH_REMOVE,
    PUSH_FOLDERS,
    PUSH_STAY, /* wait until no other host needs this one */
    PUSH_END,
    PUSH_OVER
};

struct push_host {
    struct push *push;
    struct copy_call call;
    bool asked_list, listed, asked_sums;
    bool missing;      /* the target folder does not exist */
    bool folders_kept; /* the warning that modes of some folders could not be set was given */
    size_t entries;    /* entries listed */
    size_t done_asked, done_told;
    bool decided;  /* it is known whether it joins a group */
    bool waits;    /* nothing to send until something happens */
    bool finished; /* the program has reported that everything is done */
    struct push_state *states;
    char *folder;      /* if --delete covers the whole target: its path as the host reports it; else NULL */
    struct tree extra; /* with --delete: what exists only on the host */
    bool *removable;   /* one per item of extra */

    size_t *sum_queue; /* entries whose checksums were requested */
    size_t sum_len, sum_at;
    struct strlist sums; /* of the current call */

    enum push_step step;
    size_t next; /* the first entry that was not considered for a batch yet */
    size_t *batch;
    size_t batch_len;
    bool *batch_torn; /* one per entry of the batch */
    struct push_archive archive;
    struct push_relay_link relay; /* with --relay */
    size_t sent_files;            /* moved into place by the calls sent so far */
    uint64_t sent_bytes;
    size_t torn;
    const char *first_torn;
    uint64_t wake_timer;
    struct run_copy_end end;
};

struct push {
    const struct run_copy_request *request;
    struct push_source source;
    struct copy_hosts hosts;
    struct push_host *items;   /* one per host; its members are allocated only while it is worked on */
    char **sums;               /* checksums of the source's files, computed when needed */
    struct push_group *groups; /* groups of hosts that lack the same files, the latest first */
    size_t undecided;          /* hosts that have begun and may still join a group */
    struct run_copy_progress progress;
};

/* push_compare.c */
int push_take_event(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err);
/* The list (with checksums) is complete: decide what to send. */
int push_plan(struct push_host *host, struct error *err);

bool push_is_needed(const struct push_state *state);

/*
 * push_feed.c: append the next input for the host, about PUSH_FEED bytes. Nothing is appended while it waits
 * (waits) or when everything is sent (step is PUSH_OVER).
 */
void push_fill(struct push_host *host, struct str *out);
/* Append calls that move entries from the room into place and report progress. */
void push_add_moves(struct push_host *host, const size_t *entries, size_t count, struct str *text);
/* Format a time as CCYYMMDDhhmm.SS in UTC, for touch. */
void push_stamp(const struct tree_entry *entry, char stamp[64]);

/* push.c: send the host its next input, once the previous one has been sent. */
void push_go_on(struct push_host *host);
/* The same a little later, from the loop. */
void push_wake(struct push_host *host);
/* Record that it has joined a group, or will not join one. */
void push_decide(struct push_host *host);

#endif
