/*
 * Decides which host passes the pieces of a push on to which other host. Members get the pieces of one list
 * in order, each piece from another member that has it or from the head. Members form a chain, or a binary
 * tree if there are fewer pieces than members. The head sends to the first member, and to every member that
 * cannot fetch from another. Pure.
 *
 * tests/unit/model/test_relay.c simulates random failures: every member that is alive gets all pieces.
 */
#ifndef MTLAUNCH_MODEL_RELAY_H
#define MTLAUNCH_MODEL_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELAY_NONE SIZE_MAX
#define RELAY_KEPT 32 /* the most pieces that a member keeps for others */

struct relay_member {
    bool serves;  /* others may fetch from it */
    bool fetches; /* it may fetch from others */
    bool gone;
    size_t next;      /* the pieces before this one have arrived, or are on their way from the head */
    size_t have;      /* the pieces before this one have arrived */
    size_t kept;      /* of these, the ones from here on are still kept for others */
    size_t source;    /* the member it fetches from, or RELAY_NONE */
    size_t fetched;   /* pieces it got from others */
    size_t served;    /* pieces others got from it */
    unsigned failed;  /* its attempts to fetch that failed */
    unsigned refused; /* failed attempts to fetch from it since the last successful one */
    size_t *avoided;  /* members it does not try again */
    size_t avoided_len, avoided_cap;
};

struct relay {
    struct relay_member *members;
    size_t len, cap;
    size_t pieces;
    size_t expected; /* estimate of the number of members in the end */
    bool open;       /* more members may join; they will need all pieces */
};

enum relay_from {
    RELAY_HEAD,   /* the head sends the next piece */
    RELAY_MEMBER, /* another member has it */
    RELAY_WAIT    /* another member is about to have it */
};

void relay_release(struct relay *relay);

/* Returns the new member's index. */
size_t relay_join(struct relay *relay, bool serves, bool fetches);
void relay_leave(struct relay *relay, size_t member);

/*
 * Choose where the next piece of a member comes from. The member lacks at least one piece. With RELAY_MEMBER
 * and RELAY_WAIT, its field source is the other member. impatient: it has waited for a long time, so prefer a
 * member that has the piece now.
 */
enum relay_from relay_choose(struct relay *relay, size_t member, bool impatient);

/* The head has begun to send the next piece to the member. */
void relay_sent(struct relay *relay, size_t member);
/* A piece has arrived. from: a member, or RELAY_NONE: the head, which had sent it. */
void relay_arrived(struct relay *relay, size_t member, size_t from);

/* The member could not fetch from its source. damaged: the piece arrived damaged, so nobody fetches from that
 * source again. */
void relay_failed(struct relay *relay, size_t member, bool damaged);

/* The first piece that the member has to keep from now on; stored as kept. */
size_t relay_forget(struct relay *relay, size_t member);

/* Does another member still fetch from it? */
bool relay_is_needed(const struct relay *relay, size_t member);

#endif
