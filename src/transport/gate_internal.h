/*
 * Turns for handshakes: a server refuses more unauthenticated connections than its MaxStartups (OpenSSH's
 * default starts dropping at 10), so at most 8 may be on their way to one address and port by one way. All of
 * 127/8 counts as one address: it is one machine, and usually one sshd.
 */
#ifndef MTLAUNCH_TRANSPORT_GATE_INTERNAL_H
#define MTLAUNCH_TRANSPORT_GATE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define GATE_WIDTH     8
#define GATE_MAX_TRIES 7 /* of a server that drops connections before the key exchange */
/* Of one that says it punishes this machine, or has no room (OpenSSH from 9.8 on has the same words for
 * both): a few, with long pauses from the first on. */
#define GATE_MAX_TRIES_PUNISHED 5

struct gate;

struct gates {
    struct gate *first;
};

/* Embedded in whoever wants a turn; zero is "neither waiting nor inside". */
struct gate_turn {
    void (*granted)(void *ctx);
    void *ctx;
    struct gate *gate;
    bool inside;
    struct gate_turn *next; /* waiting, in order */
};

/* True: inside at once. False: granted is called later, from another's gate_leave. */
bool gate_enter(struct gates *gates, const struct sockaddr *address, struct gate_turn *turn);
/* The same for a host that is not looked up here. via: the jumps on the way, NULL: none. */
bool gate_enter_by_name(struct gates *gates, const char *via, const char *host, unsigned port,
                        struct gate_turn *turn);
/* Gives the turn back, or the place in the queue; nothing when neither. */
void gate_leave(struct gates *gates, struct gate_turn *turn);

/* How long to wait before the next try. Half of it is left to chance, so that many who were dropped together
 * do not come back together. */
uint64_t gate_pause_ms(unsigned tries);
/* The same where the server has said these words in place of its version; 0: it is to be left alone. tries:
 * before this one. */
uint64_t gate_pause_after(unsigned tries, const char *greeting);

#endif
