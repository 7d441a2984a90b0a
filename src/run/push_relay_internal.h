/*
 * push --relay: hosts that lack the same files are a group, and pass its pieces on to each other
 * (model/relay.h decides which host serves which). The head tells each host where to fetch a piece and which
 * checksum it must have; pieces that no other host can give come from the head.
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
    struct push_host **members; /* one a member; NULL once it is over */
    size_t members_cap;
};

/* A host's part in it. */
struct push_relay_link {
    unsigned said;            /* of what it can do, so many frames */
    size_t admissions;        /* so many members it was asked to admit and has not */
    struct push_group *group; /* NULL: it has not joined one */
    size_t member;
    enum push_sum_kind sum_kind;
    char *key;                             /* by which it logs in to others; NULL: it cannot */
    char *address, *port, *user, *hostkey; /* where others log in; NULL: they cannot */
    char *why;                             /* why not, or why it did not get a piece from another host */
    size_t asked, admitted; /* the member that was asked to admit it, and the one that has, or RELAY_NONE */
    size_t connected;       /* the member it is connected to, or RELAY_NONE */
    size_t fetched_from;    /* the piece that comes, or came: from this member, or RELAY_NONE */
    uint64_t since_ms;      /* it waits; by the fleet's clock */
    struct str control;     /* calls that go to it between two pieces */
    struct push_piece_reader reader;
};

#define PUSH_RELAY_PORT 20000 /* the lowest that a host listens at */

/* push_relay.c */

/* Is it worth asking whether the host can pass on, or be passed, what it lacks? */
bool push_relay_is_wanted(const struct push_host *host);
/* Append the call that asks it. */
void push_relay_add_open(struct push_host *host, struct str *text);

/* It was asked: from now on it belongs to the group of the hosts that lack the same. */
void push_relay_join(struct push_host *host);
/* Of a host that has joined. */
struct relay_member *push_relay_member(const struct push_host *host);

/* The host is over. Why it got its files from the head although it was to get them from others: borrowed, or
 * NULL. */
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

/* Hosts that wait look again. */
void push_relay_tick(struct push *push);

/* push_relay_take.c */

/* A frame of the host; one that is not about pieces is left alone. Errors: kind_node_answer. */
int push_relay_take_frame(struct push_host *host, const char *key, const char *value, struct error *err);

#endif
