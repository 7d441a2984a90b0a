/* What the files of push share: a push, and what is known and done for each host. */
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

/* Of one entry on one host. */
struct push_state {
    unsigned char difference; /* enum tree_difference; TREE_ABSENT until a list says otherwise */
    bool there;               /* it is there by now, if everything sent was received */
    bool locked;              /* a folder there whose mode has to be widened before it is written in */
    bool touched;             /* a folder in which something was changed: its time is set again */
    bool same_size;           /* a file there of that size: its sum decides */
    bool set_time;            /* same content, other time */
    bool torn;                /* it changed here while it was read */
};

/* What a host is sent, in this order. */
enum push_step {
    PUSH_PREPARE, /* the folder, room for what is of another kind */
    PUSH_BATCH,   /* the beginning of an archive: files, until there are many */
    PUSH_FILES,   /* its entries */
    PUSH_MOVE,    /* from the room to their places; then the next batch */
    PUSH_JOIN,    /* in place of batches: a host that passes pieces on joins a group */
    PUSH_PIECE,   /* where the next piece comes from */
    PUSH_SEND,    /* … from here */
    PUSH_FETCH,   /* … from another host, which is waited for */
    PUSH_TAKE,    /* it has come; then the next piece */
    PUSH_MODES,
    PUSH_REMOVE,
    PUSH_FOLDERS,
    PUSH_STAY, /* until no other host needs it */
    PUSH_END,
    PUSH_OVER
};

struct push_host {
    struct push *push;
    struct copy_call call;
    bool asked_list, listed, asked_sums;
    bool missing;      /* the target lacks */
    bool folders_kept; /* that some folders could not be set was said */
    size_t entries;    /* that it listed */
    size_t done_asked, done_told;
    bool decided;  /* it is known whether it passes pieces on */
    bool waits;    /* there is nothing to send it until something happens */
    bool finished; /* the program has said that all is done */
    struct push_state *states;
    char *folder;      /* with --delete of all that is in it: the target as the host calls it; NULL */
    struct tree extra; /* with --delete: what is there and not here */
    bool *removable;   /* one per item of extra */

    size_t *sum_queue; /* entries whose sums were asked for */
    size_t sum_len, sum_at;
    struct strlist sums; /* of the present call */

    enum push_step step;
    size_t next; /* the first entry that was not looked at for a batch */
    size_t *batch;
    size_t batch_len;
    bool *batch_torn; /* one an entry of the batch */
    struct push_archive archive;
    struct push_relay_link relay; /* with --relay */
    size_t sent_files;            /* given to the program so far */
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
    struct push_host *items;   /* one per host; what is inside is there while it is worked on */
    char **sums;               /* of the source's files, made when needed */
    struct push_group *groups; /* hosts that lack the same; the last one made first */
    size_t undecided;          /* hosts that have begun and may join a group */
    struct run_copy_progress progress;
};

/* push_compare.c */
int push_take_event(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err);
/* All is listed (and summed): what has to be sent is known. */
int push_plan(struct push_host *host, struct error *err);

bool push_is_needed(const struct push_state *state);

/* push_feed.c: append what comes next for the host, about PUSH_FEED bytes. Nothing is appended when it waits
 * (waits) or when all is sent (step is PUSH_OVER). */
void push_fill(struct push_host *host, struct str *out);
/* Calls that move entries from the room to their places, and tell how far the host is. */
void push_add_moves(struct push_host *host, const size_t *entries, size_t count, struct str *text);
/* CCYYMMDDhhmm.SS in UTC, as touch takes it. */
void push_stamp(const struct tree_entry *entry, char stamp[64]);

/* push.c: give the host what comes next, when it has taken what came before. */
void push_go_on(struct push_host *host);
/* … a little later, from the loop. */
void push_wake(struct push_host *host);
/* It will join no group any more, or has. */
void push_decide(struct push_host *host);

#endif
