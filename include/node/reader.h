/*
 * Reads a node's output piece by piece and finds the frames in it: lines "@@NONCE text". Memory is bounded,
 * each byte is examined once, and the result does not depend on how the bytes are split into pieces. Pure;
 * bytes are hostile until parsed.
 */
#ifndef MTLAUNCH_NODE_READER_H
#define MTLAUNCH_NODE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define NODE_READER_LAST_MAX 2048 /* how many bytes of the last output are kept, for messages */

struct node_reader {
    const char *nonce; /* borrowed */
    size_t limit;      /* a line that begins like a frame is noise once it is longer than this */
    size_t taken;      /* bytes consumed since the start, or since the caller set it to 0 */
    bool ended;        /* line is a complete frame: the next call begins a new line */
    bool is_noise;     /* the current line is not a frame */
    struct str line;   /* the current line, while it may be a frame */
    struct str last;   /* at least the last NODE_READER_LAST_MAX bytes, at most twice as many */
};

void node_reader_release(struct node_reader *reader);

/*
 * Consume bytes up to the end of the next frame. True when a frame is complete: node_reader_frame returns its
 * text until the next call. used is set to the number of bytes consumed (all of them when there is no frame).
 */
bool node_reader_take(struct node_reader *reader, const char *bytes, size_t len, size_t *used);

/* The text after "@@NONCE " of the frame that was just completed; it may contain NUL bytes. */
const char *node_reader_frame(const struct node_reader *reader, size_t *len);

/* The last non-blank line of the bytes kept, at most its last 200 bytes; len 0: there is none. */
const char *node_reader_last_line(const struct node_reader *reader, size_t *len);

#endif
