/*
 * Cuts a stream of bytes into lines without ever holding more than LINES_PIECE_MAX bytes. A longer line comes
 * in pieces. The result does not depend on the chunks in which the bytes arrived.
 */
#ifndef MTLAUNCH_INSIGHT_LINES_H
#define MTLAUNCH_INSIGHT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define LINES_PIECE_MAX ((size_t)64 * 1024)

/* A line, or a part of one. bytes are borrowed for the call and contain no line end. */
struct line_piece {
    const char *bytes;
    size_t len;
    bool ends;      /* the line ends with this piece */
    bool continued; /* an earlier piece of the same line was handed out */
};

typedef void lines_sink(void *ctx, const struct line_piece *piece);

struct lines {
    struct str part; /* the beginning of a line whose end has not arrived */
    bool continued;  /* its first piece was handed out */
};

void lines_init(struct lines *lines);
void lines_release(struct lines *lines);

/* Take bytes and hand out every line that they complete. */
void lines_feed(struct lines *lines, const char *bytes, size_t len, lines_sink *sink, void *ctx);

/* Hand out what is held of an unfinished line, except the first bytes of an incomplete UTF-8 character. */
void lines_flush(struct lines *lines, lines_sink *sink, void *ctx);

/*
 * The stream has ended: hand out what is held. ends: hand it out as a whole line, although no line end came.
 */
void lines_end(struct lines *lines, bool ends, lines_sink *sink, void *ctx);

#endif
