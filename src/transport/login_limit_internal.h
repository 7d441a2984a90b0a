/*
 * Login limit: a server refuses connections when more than its MaxStartups have not logged in yet (OpenSSH
 * begins to drop them at 10). So at most 8 logins run at once to one address and port by one route; the
 * others wait for a slot. All of 127/8 counts as one address: it is one machine, and usually one sshd. Also
 * computes the pauses before a refused login is tried again.
 */
#ifndef MTLAUNCH_TRANSPORT_LOGIN_LIMIT_INTERNAL_H
#define MTLAUNCH_TRANSPORT_LOGIN_LIMIT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/list.h"

#define LOGIN_LIMIT     8
#define LOGIN_MAX_TRIES 7 /* to a server that drops connections before the key exchange */
/*
 * To a server that says that it penalises this machine, or that it has no room (OpenSSH from 9.8 on uses the
 * same words for both): few tries, with long pauses from the first one on.
 */
#define LOGIN_MAX_TRIES_PUNISHED 5

struct login_limit;

/* All limits of a fleet. Zero is empty. It is empty again once every slot was given back. */
struct login_limits {
    struct list limits;
};

/* Embedded in the object that logs in; zero is "neither waiting nor inside". granted and ctx are filled by
 * the owner.
 */
struct login_slot {
    void (*granted)(void *ctx);
    void *ctx;
    struct login_limit *limit;
    bool inside;
    struct list_link link; /* while it waits */
};

/*
 * True: the slot is granted at once. False: granted is called later, from another slot's login_limit_leave.
 */
bool login_limit_enter(struct login_limits *limits, const struct sockaddr *address, struct login_slot *slot);
/*
 * The same for a host whose name is not resolved on this machine. via: the key of its jump hosts; NULL: none.
 */
bool login_limit_enter_by_name(struct login_limits *limits, const char *via, const char *host, unsigned port,
                               struct login_slot *slot);
/*
 * Give the slot back, or leave the queue; does nothing when it has neither. May call granted of the next
 * slot.
 */
void login_limit_leave(struct login_slot *slot);

/*
 * How long to wait before the next try. Half of it is random, so that logins that were dropped together do
 * not come back together.
 */
uint64_t login_pause_ms(unsigned tries);
/* The same for a server that sent these words instead of its version; 0: do not try again. tries: so far. */
uint64_t login_pause_after(unsigned tries, const char *greeting);

#endif
