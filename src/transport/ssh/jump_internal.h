/*
 * Jump hosts: all hosts behind one share its sessions (jump.c); each way through is a direct-tcpip
 * channel of such a session (forward.c), and a stream socket to whoever goes through it. No process, no
 * port here.
 *
 * Facts about libssh 0.10 and OpenSSH's server, read and measured: such channels do not count against
 * MaxSessions; a refusal (error 1) and a failed connection (error 2) are told apart by the text of the error
 * alone; data that a channel's callback does not take stays in its buffer and holds the window shut.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_JUMP_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_JUMP_INTERNAL_H

#include "base/error.h"
#include "reach/endpoint.h"

struct ssh_shared;
struct ssh_connection;
struct ssh_jump;
struct ssh_jump_session;
struct ssh_forward;

struct ssh_jumps {
    struct ssh_jump *first;
};

/* Whoever goes through. Embedded; callbacks and ctx are filled by the owner. None comes from inside start. */
struct ssh_passage {
    void (*begun)(void *ctx);          /* the jump is there and is asked now */
    void (*opened)(void *ctx, int fd); /* the way is open: fd, which does not block, is the callee's */
    void (*failed)(void *ctx, const struct error *err); /* it never opens, or the jump is lost */
    void *ctx;
    const char *host; /* as the jump resolves it; borrowed */
    unsigned port;
    struct ssh_jump *jump;       /* while waiting for a session */
    struct ssh_forward *forward; /* after that */
    struct ssh_passage *next;
};

void ssh_passage_start(struct ssh_shared *shared, const struct endpoint *jump, struct ssh_passage *passage);
/* No callback after this. A way that is open stays until its descriptor is closed. */
void ssh_passage_stop(struct ssh_passage *passage);

/*
 * What tells jumps apart: user, place, what proves each side to the other, and the jumps before. A session
 * that one way of trust has opened serves no other. Caller frees.
 */
char *ssh_jump_key(const struct endpoint *jump);
void ssh_jumps_close(struct ssh_shared *shared);

/* jump.c, for the forwards of a session: the server takes no more than it has; one has ended. */
void ssh_jump_on_refusal(struct ssh_jump_session *session, struct ssh_passage *passage, const char *reason);
void ssh_jump_on_end(struct ssh_jump_session *session);
void ssh_jump_explain_loss(const struct ssh_jump_session *session, struct error *err);

/* forward.c */
void ssh_forward_open(struct ssh_connection *connection, struct ssh_jump_session *session,
                      struct ssh_passage *passage);
void ssh_forward_leave(struct ssh_forward *forward); /* its passage is gone */
void ssh_forward_step_all(struct ssh_connection *connection);
/* The connection is lost: each passage is told. */
void ssh_forward_lose_all(struct ssh_connection *connection, const struct error *err);
void ssh_forward_drop_all(struct ssh_connection *connection);
/* The session is no more, the connection lives on a little. */
void ssh_forward_orphan_all(struct ssh_connection *connection);

#endif
