/* Cuts a stream of bytes into lines of bounded length. */
#include "insight/lines.h"

#include <string.h>

void lines_init(struct lines *lines)
{
    *lines = (struct lines){0};
}

void lines_release(struct lines *lines)
{
    str_release(&lines->part);
    *lines = (struct lines){0};
}

/* How many bytes at the end begin an incomplete UTF-8 character. */
static size_t unfinished_bytes(const char *bytes, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char byte = (unsigned char)bytes[len - back];
        if ((byte & 0xc0) == 0x80) {
            continue;
        }
        size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return needed > back ? back : 0;
    }
    return 0;
}

void lines_flush(struct lines *lines, lines_sink *sink, void *ctx)
{
    const char *text = str_text(&lines->part);
    size_t len = lines->part.len - unfinished_bytes(text, lines->part.len);
    if (len == 0) {
        return;
    }
    const struct line_piece piece = {.bytes = text, .len = len, .continued = lines->continued};
    sink(ctx, &piece);
    str_consume(&lines->part, len);
    lines->continued = true;
}

static void finish(struct lines *lines, const char *bytes, size_t len, bool ends, lines_sink *sink, void *ctx)
{
    const struct line_piece piece = {.bytes = bytes, .len = len, .ends = ends, .continued = lines->continued};
    sink(ctx, &piece);
    str_reset(&lines->part);
    lines->continued = false;
}

void lines_feed(struct lines *lines, const char *bytes, size_t len, lines_sink *sink, void *ctx)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t take = end ? (size_t)(end - bytes) : len;
        size_t room = LINES_PIECE_MAX - lines->part.len;
        if (end && lines->part.len == 0 && take <= room) {
            finish(lines, bytes, take, true, sink, ctx); /* the usual case: nothing is copied */
        } else if (end && take <= room) {
            str_add_mem(&lines->part, bytes, take);
            finish(lines, str_text(&lines->part), lines->part.len, true, sink, ctx);
        } else {
            take = take < room ? take : room;
            end = NULL;
            str_add_mem(&lines->part, bytes, take);
        }
        bytes += take + (end ? 1 : 0);
        len -= take + (end ? 1 : 0);
        if (lines->part.len == LINES_PIECE_MAX) {
            lines_flush(lines, sink, ctx);
        }
    }
}

void lines_end(struct lines *lines, bool ends, lines_sink *sink, void *ctx)
{
    if (lines->part.len > 0) {
        finish(lines, str_text(&lines->part), lines->part.len, ends, sink, ctx);
    }
    lines->continued = false;
}
