/*
 * The ssh transport's parts: a link (link.c, dial.c) finds an address and makes connections until one is
 * logged in; a connection (connection.c, handshake.c, login.c) is one socket with one libssh session; a
 * command (command.c) is one channel of it. Facts about libssh 0.10 that the code relies on, from its source:
 *
 * - ssh_connect makes the socket blocking (ssh_socket_set_blocking in ssh_socket_pollcallback): O_NONBLOCK is
 *   set again after each call. ssh_free closes it.
 * - open, exec, write and keepalive read the socket themselves, so data of another channel can arrive with no
 *   later wake-up: a pass over the commands is repeated while the byte counter grows.
 * - During a non-blocking login a lost connection gives AGAIN forever; its descriptor is then -1.
 * - Callbacks must be removed from a channel before it is freed, and a session must never be freed inside its
 *   own callback.
 * - A lost connection's descriptor is closed inside whichever call notices; the next socket of this process
 *   gets its number. uv_poll_stop and uv_close remove a number from epoll even if it belongs to another
 *   socket by then. So the poll handle is closed in the callback that made the call, before any other socket
 *   is watched; and there is no handle while another thread makes calls.
 * - libssh leaks the key list of an agent when the same session asks for another list.
 * - Channels to further hosts (direct-tcpip) do not count against the server's MaxSessions. A refusal (error
 *   1) and a failed connection (error 2) are distinguished only by the text of the error. Data that a
 *   channel's callback does not take stays in its buffer and keeps the window closed.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_SSH_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_SSH_INTERNAL_H

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include "base/list.h"
#include "base/str.h"
#include "reach/known_hosts.h"
#include "transport/login_limit_internal.h"
#include "transport/passage_internal.h"
#include "transport/ssh/key_internal.h"
#include "transport/ssh/lookup_internal.h"
#include "transport/ssh/phase_internal.h"
#include "transport/transport_internal.h"

/* What all links of a fleet share. */
struct ssh_shared {
    struct transport_setup setup;
    struct resolver *resolver;
    struct ssh_keys *keys;
    struct ssh_agents *agents; /* key lists of ssh agents */
    struct known_hosts *known;
};

#define SSH_GREETING_BYTES 256

struct ssh_link {
    struct ssh_shared *shared;
    const struct endpoint *endpoint;
    const struct transport_events *events;
    void *owner;
    struct lookup *lookup;
    struct addrinfo *addresses, *address; /* all of them, and the current one */
    struct login_slot slot;
    enum ssh_phase phase;     /* changed by ssh_link_enter alone */
    int64_t phase_began_ms;   /* of the loop's clock */
    uint64_t left_ms;         /* of the connect time, when the phase began */
    uint64_t pause_ms;        /* of SSH_PHASE_RETRY */
    struct deadline limit;    /* of the phase */
    struct deadline patience; /* until a silent server no longer occupies a login slot */
    unsigned tries;           /* connections that ended before the key exchange */
    struct error trouble;     /* of the address that got furthest */
    struct ssh_connection *connection;
    struct passage passage;            /* through the endpoint's jump */
    char *via;                         /* key of the jump, for the login limit; NULL: reached directly */
    bool exact_types;                  /* search hashed names for the types of known keys */
    char greeting[SSH_GREETING_BYTES]; /* what the server sent instead of its version; "": nothing */
    int64_t lost_ms;                   /* loop_clock_lost when the connection was begun */
};

struct ssh_connection {
    struct ssh_link *link; /* NULL once closed */
    bool closing;          /* the server gets a moment to read what was sent */
    bool failed;
    int fd; /* until libssh has taken it, then -1 */
    uv_loop_t *loop;
    uv_poll_t *poll; /* NULL once failed, and while the session is lent */
    int watched;     /* events that poll waits for; 0: none */
    ssh_session session;
    ssh_event event;
    struct ssh_counter_struct bytes, packets;
    const struct ssh_identity **offers; /* keys from files, in the order in which they are offered */
    size_t offers_len, offers_cap;
    size_t identity;               /* index of the offer that is being tried */
    size_t offered;                /* keys that the server has refused */
    size_t withheld;               /* keys that are not offered, because a server accepts no more */
    struct ssh_agent_login *agent; /* used after the key files; NULL: not started, or ended */
    bool lent;                     /* another thread uses the session */
    bool released;                 /* to be freed when that thread is done, or by end */
    uv_idle_t end; /* never started; its close callback frees the connection once no function uses it */
    struct error agent_trouble;        /* of the ssh agent */
    char greeting[SSH_GREETING_BYTES]; /* the first bytes that arrived, before libssh has read them */
    struct str tried;                  /* identities that the server refused, for the error */
    struct error key_trouble;          /* of the first identity that could not be used */
    struct list commands;              /* of ssh_command */
    struct list forwards;              /* of ssh_forward */
    struct deadlines *deadlines;
    int64_t killed_ms;         /* when the last command was killed, 0: never */
    struct deadline keepalive; /* while closing: the time until the end */
    uint64_t heard;            /* byte counter at the last tick */
    unsigned silent_ticks;
};

/* How a connection failed, which decides what the link can do. */
enum ssh_failure {
    SSH_FAILURE_ADDRESS, /* not connected: the next address may work */
    SSH_FAILURE_EARLY,   /* dropped before the key exchange: the server may be busy, try again */
    SSH_FAILURE_FINAL
};

/* link.c: "port 22", or "'10.0.0.7' port 22" when the host is reached under another name than the list's. */
void ssh_link_where(const struct ssh_link *link, struct str *out);

/*
 * dial.c: connect. The link is zero except for shared, endpoint, events and owner. The event opened or broken
 * follows.
 */
void ssh_link_dial(struct ssh_link *link);
void ssh_link_hang_up(struct ssh_link *link); /* no event after this */
/* Begin a phase, and its time limit. Does nothing when the link is already in that phase. */
void ssh_link_enter(struct ssh_link *link, enum ssh_phase phase);
void ssh_link_on_open(struct ssh_link *link);
void ssh_link_on_failure(struct ssh_link *link, enum ssh_failure failure, const struct error *err);
/* The server has confirmed a channel, so it no longer counts this login as in progress. */
void ssh_link_leave_login_limit(struct ssh_link *link);

/* connection.c */
struct ssh_connection *ssh_connection_open(struct ssh_link *link, const struct addrinfo *address,
                                           struct error *err);
/* The same with a socket that is connected already; the connection owns it. */
struct ssh_connection *ssh_connection_adopt(struct ssh_link *link, int fd, struct error *err);
void ssh_connection_close(struct ssh_connection *connection); /* no event after this; freed by the loop */
/* Go as far as possible without waiting; called whenever something may have changed. */
void ssh_connection_step(struct ssh_connection *connection);
/* Wait for what can be done next; a pause has begun or ended. */
void ssh_connection_watch(struct ssh_connection *connection);
bool ssh_connection_is_alive(const struct ssh_connection *connection);
/*
 * Let another thread use the session until it is taken back. take_back continues, or frees a closed
 * connection.
 */
void ssh_connection_lend(struct ssh_connection *connection);
void ssh_connection_take_back(struct ssh_connection *connection);
void ssh_connection_fail(struct ssh_connection *connection, enum ssh_failure failure,
                         const struct error *err);
/* Peek at the server's first bytes, because libssh does not report what came instead of a version line. */
void ssh_connection_peek(struct ssh_connection *connection);
/* libssh's last error, safe to print. */
void ssh_connection_reason(const struct ssh_connection *connection, struct str *out);

/* Append the server's banner (SSH_MSG_USERAUTH_BANNER, with which PAM says why it refuses logins) to the
 * message. */
void ssh_connection_add_banner(const struct ssh_connection *connection, struct error *err);

/*
 * hostkey.c. order returns 0, or -1 with err. check returns 0 when the key is the host's; otherwise the
 * connection has failed.
 */
int ssh_hostkey_order(struct ssh_connection *connection, struct error *err);
int ssh_hostkey_check(struct ssh_connection *connection);

/* handshake.c and login.c: each returns 1 when done, 0 when it has to wait, -1 when the connection has
 * failed. */
int ssh_login_start(struct ssh_connection *connection);
int ssh_login_handshake(struct ssh_connection *connection);
int ssh_login_authenticate(struct ssh_connection *connection);

/* How many keys a server with OpenSSH's defaults accepts before it closes the connection (MaxAuthTries 6). */
#define SSH_MAX_OFFERS 6

/* agent_login.c */
struct ssh_agents *ssh_agents_new(void);
void ssh_agents_free(struct ssh_agents *agents); /* NULL accepted */
/* Returns 1 when *answer is libssh's result; 0: it has to wait; -1: the agent has no key to offer. */
int ssh_agent_authenticate(struct ssh_connection *connection, int *answer);
void ssh_agent_close(struct ssh_connection *connection);

/* command.c */
void ssh_command_run(struct ssh_connection *connection, struct transport_job *job);
void ssh_command_input(struct transport_job *job); /* there is new input, or hold_input is no longer set */
void ssh_command_cancel(struct transport_job *job);
void ssh_command_step_all(struct ssh_connection *connection);
/* The connection is lost: end each command. */
void ssh_command_lose_all(struct ssh_connection *connection, const struct error *err);
/* The connection is closed: drop all commands without events. */
void ssh_command_drop_all(struct ssh_connection *connection);

/* forward.c: connections to further hosts, each with a channel of the session and a socket pair. */
void ssh_forward_start(struct ssh_connection *connection, struct transport_job *job);
void ssh_forward_stop(struct transport_job *job); /* an open connection stays until its socket is closed */
void ssh_forward_step_all(struct ssh_connection *connection);
/* The connection is lost: end each job. */
void ssh_forward_lose_all(struct ssh_connection *connection, const struct error *err);
void ssh_forward_drop_all(struct ssh_connection *connection);
/* The link is closed: no events; open connections continue for a moment. */
void ssh_forward_orphan_all(struct ssh_connection *connection);

#endif
