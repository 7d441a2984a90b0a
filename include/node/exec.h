/*
 * A command on a node that does not belong to a run: what is sent, and where its own output begins. Pure.
 *
 * The call's standard input carries a nonce line, values and script as lines up to a second nonce line; a
 * shell reads it line by line, and so does not consume what may follow. The shell becomes the command: its
 * exit status or signal are those of the call, its streams are the call's own. Each stream begins with a line
 * that contains the nonce; anything before it was printed by the login's start-up files.
 *
 * A watchdog on the node ends the command's process group, and all that descends from it, when the call's
 * standard input ends or the limit passes. So the caller keeps standard input open until it wants the command
 * to end. With input, the watchdog acts when the connection ends or another call tells it to.
 */
#ifndef MTLAUNCH_NODE_EXEC_H
#define MTLAUNCH_NODE_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/facts.h"
#include "node/reader.h"
#include "node/request.h"

struct node_exec_options {
    const struct strlist *command; /* one word: a line for /bin/sh; several: an exact argv */
    bool input;            /* what follows on standard input is the command's; else it has /dev/null */
    unsigned long limit_s; /* the node ends the command after this time; 0: never */
    const char *mark; /* letters and digits: MTLAUNCH_EXEC of the command, by which what it starts is found */
};

/* As the requests of node/request.h. */
void node_request_exec(const struct node_exec_options *options, const char *nonce, struct node_call *out);

/* A call that tells the watchdog of the call with nonce target (one with input) to end its command. */
void node_request_exec_end(const char *target, const char *nonce, struct node_call *out);

/* One output stream of a call. */
struct node_exec_stream {
    const char *nonce;         /* borrowed */
    bool begun;                /* the command's own bytes have begun; nothing below is kept then */
    bool ended;                /* an answer in frames has ended: the container could not be entered */
    struct node_reader reader; /* of what comes before */
    struct facts facts;        /* of an answer in frames */
    char *said;                /* the first frame that is neither "runs" nor a field; NULL */
};

void node_exec_stream_release(struct node_exec_stream *stream);

/*
 * Take bytes of the stream. The part of them that is the command's own output (always the end) is returned
 * through bytes and len; len 0: nothing yet.
 */
void node_exec_stream_take(struct node_exec_stream *stream, const char **bytes, size_t *len);

/*
 * The call has ended and out (standard output) has not begun: the command never ran. Sets node_unsupported
 * (/proc or setsid are missing there) or node_answer (with the last of what came instead as the hint).
 * Returns -1.
 */
int node_exec_error(const struct node_exec_stream *out, int exit_status, struct error *err);

#endif
