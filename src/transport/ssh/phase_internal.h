/*
 * The phases of a link, from the look-up of its name to its end: one enum, and one table that says how long
 * each phase may last and what the error says when it lasts longer. To add a phase: one value, one row;
 * tests/unit/transport/test_phase.c fails when a row lacks a part.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_PHASE_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_PHASE_INTERNAL_H

#include "base/error.h"

enum ssh_phase {
    SSH_PHASE_LOOKUP,       /* the name is being resolved */
    SSH_PHASE_SLOT,         /* it waits for a login slot, or for room on its jump host */
    SSH_PHASE_PASSAGE,      /* the jump host connects to the host */
    SSH_PHASE_CONNECT,      /* it connects to one address */
    SSH_PHASE_GREETING,     /* until the first byte of the server */
    SSH_PHASE_VERSION,      /* until its version line */
    SSH_PHASE_KEY_EXCHANGE, /* until its host key is there */
    SSH_PHASE_HOST_KEY,     /* the host key is looked up in the known hosts */
    SSH_PHASE_LOGIN,        /* the server has to answer */
    SSH_PHASE_AGENT,        /* the ssh agent has to answer */
    SSH_PHASE_RETRY,        /* the pause after a connection that the server dropped */
    SSH_PHASE_OPEN,         /* logged in */
    SSH_PHASE_BROKEN,       /* never opened, or lost */
    /* Of each command on an open link: */
    SSH_PHASE_CHANNEL, /* until the server has opened a channel */
    SSH_PHASE_COMMAND, /* until it has confirmed the command */
    SSH_PHASES
};

/* Which time limit applies in a phase. */
enum ssh_limit {
    SSH_LIMIT_NONE,    /* none: what is left of the connect time does not change */
    SSH_LIMIT_CONNECT, /* what is left of the connect time for look-up, connect and login together */
    SSH_LIMIT_ADDRESS, /* the share of it for one of several addresses */
    SSH_LIMIT_PAUSE,   /* the pause itself, which is taken from the connect time */
    SSH_LIMIT_ANSWER   /* how long a server may take to answer after the login */
};

struct ssh_phase_row {
    const char *name;
    enum ssh_limit limit;
    const struct error_kind *kind; /* of the error when the time is up; NULL: no error, or it cannot happen */
    const char *words;             /* text of that error: what has not happened */
};

const struct ssh_phase_row *ssh_phase_row(enum ssh_phase phase);

/* Set the error of a phase whose time is up: "WHERE: WORDS within N s", and a hint. where NULL: left out. */
void ssh_phase_time_out(enum ssh_phase phase, const char *where, unsigned limit_ms, struct error *err);

#endif
