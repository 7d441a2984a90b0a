/*
 * A command on a node that does not belong to a run: builds the call, and finds where the command's own
 * output begins. Pure.
 *
 * The call's standard input carries a nonce line, then values and script as lines up to a second nonce line.
 * A shell reads it line by line, so it does not consume what may follow. The shell then becomes the command:
 * its exit status or signal is that of the call, and its streams are the call's own. Each stream begins with
 * a line that contains the nonce; anything before that line was printed by the login's start-up files.
 *
 * A watchdog on the node ends the command's process group and all its descendants when the call's standard
 * input ends or the time limit passes. So the caller keeps standard input open until it wants the command to
 * end. With input, the watchdog acts when the connection ends or when another call tells it to.
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
    bool input; /* the rest of standard input belongs to the command; else its input is /dev/null */
    unsigned long limit_s; /* the node ends the command after this time; 0: never */
    /* letters and digits: the command's MTLAUNCH_EXEC, by which its descendants are found */
    const char *mark;
};

/* Build the call, as the requests of node/request.h do. */
void node_request_exec(const struct node_exec_options *options, const char *nonce, struct node_call *out);

/*
 * Build a call that tells a watchdog to end its command. target is the nonce of that command's call, one with
 * input.
 */
void node_request_exec_end(const char *target, const char *nonce, struct node_call *out);

/* One output stream of a call. */
struct node_exec_stream {
    const char *nonce; /* borrowed */
    bool begun;        /* the command's own output has begun; the fields below are released then */
    bool ended;        /* a complete answer in frames has arrived: the container could not be entered */
    struct node_reader reader; /* of what precedes the command's output */
    struct facts facts;        /* of the answer in frames */
    char *said;                /* the first frame that is neither "runs" nor "key=value"; NULL: none */
};

void node_exec_stream_release(struct node_exec_stream *stream);

/*
 * Consume bytes of the stream. bytes and len are advanced to the command's own output among them, which is
 * always the last part; len 0: none yet.
 */
void node_exec_stream_take(struct node_exec_stream *stream, const char **bytes, size_t *len);

/*
 * Set the error of a call that has ended although out (standard output) has not begun, so the command never
 * ran: node_unsupported (/proc or setsid is missing on the node), node_answer (the hint quotes the last
 * output), or the error that an answer in frames reports. Returns -1.
 */
int node_exec_error(const struct node_exec_stream *out, int exit_status, struct error *err);

#endif
