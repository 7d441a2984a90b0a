/*
 * Reads what a node prints, piece by piece, and finds the frames in it: lines "@@NONCE text". Memory is
 * bounded, each byte is looked at once, and the result does not depend on how the bytes were cut into pieces.
 * Pure; bytes are hostile until parsed.
 */
#ifndef MTLAUNCH_NODE_READER_H
#define MTLAUNCH_NODE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define NODE_READER_LAST_MAX 2048 /* bytes kept of the last output, for messages */

struct node_reader {
    const char *nonce; /* borrowed */
    size_t limit;      /* a line that begins as a frame is noise once it is longer than this */
    size_t taken;      /* bytes taken since the start, or since the caller set it to 0 */
    bool ended;        /* line is a whole frame: the next call begins a new one */
    bool is_noise;     /* the present line is not a frame */
    struct str line;   /* the present line, while it may be a frame */
    struct str last;   /* at least the last NODE_READER_LAST_MAX bytes, at most twice as many */
};

void node_reader_release(struct node_reader *reader);

/*
 * Take bytes up to the end of the next frame. True when one has ended: node_reader_frame gives its text until
 * the next call. used: how many bytes were taken (all of them when there is no frame).
 */
bool node_reader_take(struct node_reader *reader, const char *bytes, size_t len, size_t *used);

/* What follows "@@NONCE " in the frame that has just ended; it may hold NUL bytes. */
const char *node_reader_frame(const struct node_reader *reader, size_t *len);

/* The last line that is not blank among the last bytes taken, at most 200 bytes of it; len 0: there is none.
 */
const char *node_reader_last_line(const struct node_reader *reader, size_t *len);

#endif
