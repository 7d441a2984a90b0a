/*
 * push --relay: hosts that lack the same files form a group and pass its pieces on to each other
 * (model/relay.h decides which host serves which). The head tells each host where to fetch a piece and which
 * checksum it must have; pieces that no other host can serve come from the head.
 */
#ifndef MTLAUNCH_RUN_PUSH_RELAY_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_RELAY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "model/relay.h"
#include "push_pieces_internal.h"

struct push;
struct push_host;

struct push_group {
    struct push_group *next;
    struct push_pieces pieces;
    struct relay relay;
    struct push_host **members; /* one per member; NULL once it is over */
    size_t members_cap;
};

/* The state of a host in a relay. */
struct push_relay_link {
    unsigned said;            /* number of frames received about its abilities */
    size_t admissions;        /* number of members that it was asked to admit and has not yet */
    struct push_group *group; /* NULL: it has not joined a group */
    size_t member;
    enum push_sum_kind sum_kind;
    char *key;                             /* with which it logs in to others; NULL: it cannot */
    char *address, *port, *user, *hostkey; /* for logins of others; NULL: impossible */
    char *why;              /* why it cannot, or why it did not get a piece from another host */
    size_t asked, admitted; /* the member asked to admit it, and the one that has; or RELAY_NONE */
    size_t connected;       /* the member it is connected to, or RELAY_NONE */
    size_t fetched_from;    /* the member that the current or last piece comes from, or RELAY_NONE */
    uint64_t since_ms;      /* when it began to wait, by the fleet's clock; 0: it does not wait */
    struct str control;     /* calls to send to it between two pieces */
    struct push_piece_reader reader;
};

#define PUSH_RELAY_PORT 20000 /* the lowest port that a host listens on */

/* push_relay.c */

/* Whether it is worth asking the host if it can take part in a relay. */
bool push_relay_is_wanted(const struct push_host *host);
/* Append the call that asks what it can do. */
void push_relay_add_open(struct push_host *host, struct str *text);

/* It has answered: from now on it belongs to the group of hosts that lack the same files. */
void push_relay_join(struct push_host *host);
/* The member that belongs to a host that has joined. */
struct relay_member *push_relay_member(const struct push_host *host);

/*
 * push_relay_leave: the host is over. push_relay_why: the reason why it got its files from the head instead
 * of other hosts; borrowed, or NULL.
 */
void push_relay_leave(struct push_host *host);
const char *push_relay_why(const struct push_host *host);
void push_relay_release_link(struct push_host *host);

void push_relay_release(struct push *push);

/* push_relay_feed.c: steps of push_feed.c */
void push_relay_add_control(struct push_host *host, struct str *out);
void push_relay_wait(struct push_host *host, struct str *out);
void push_relay_choose(struct push_host *host, struct str *out);
void push_relay_send(struct push_host *host, struct str *out);
void push_relay_take(struct push_host *host, struct str *out);
void push_relay_stay(struct push_host *host, struct str *out);

/* Let waiting hosts check again. */
void push_relay_tick(struct push *push);

/* push_relay_take.c */

/* Handle a frame of the host about pieces. Any other frame is an error: kind_node_answer. */
int push_relay_take_frame(struct push_host *host, const char *key, const char *value, struct error *err);

#endif
