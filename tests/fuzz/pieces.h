/*
 * Streams for the fuzz targets: an input's bytes become a stream, and the stream comes in pieces of 1 byte to
 * 64 KiB. Byte 0 of an input chooses the pieces, byte 1 how much filler stands before the rest. In the rest
 * \x01 stands for the beginning of a frame, so that the fuzzer need not find the nonce.
 */
#ifndef MTLAUNCH_TESTS_PIECES_H
#define MTLAUNCH_TESTS_PIECES_H

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "fuzz.h"

#define NONCE "0123456789abcdef0123456789abcdef"

struct pieces {
    uint32_t state;
    uint32_t most;
};

/* A long stream comes in some thousand pieces at most: single bytes of it would only take time. */
static inline struct pieces pieces_begin(uint8_t choice, size_t len)
{
    uint32_t most = UINT32_C(1) << (choice % 17);
    uint32_t least = (uint32_t)(len >> 11);

    return (struct pieces){.state = choice + UINT32_C(1), .most = most > least ? most : least};
}

/* The size of the next piece, at most left; pieces NULL: all that is left. */
static inline size_t pieces_next(struct pieces *pieces, size_t left)
{
    if (!pieces)
        return left;
    pieces->state = pieces->state * UINT32_C(1664525) + UINT32_C(1013904223);
    size_t size = 1 + (pieces->state >> 8) % pieces->most;
    return size < left ? size : left;
}

/* A piece in memory of exactly its size: a sanitizer sees a read behind it, and a pointer kept into an
 * earlier one. Caller frees. */
static inline char *piece_copy(const char *from, size_t len)
{
    char *piece = xcalloc(len, 1);

    memcpy(piece, from, len);
    return piece;
}

static inline bool same_bytes(const struct str *a, const struct str *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static inline bool same_error(const struct error *a, const struct error *b)
{
    return a->kind == b->kind && strcmp(a->text, b->text) == 0 && strcmp(a->hint, b->hint) == 0;
}

/* False: the input is too short to be a stream. */
static inline bool stream_make(const uint8_t *data, size_t size, struct str *out)
{
    static const char filler[] = "0123456789abcdef0123456789abcdef\n@@0123456789abcdef0123456789abcde\n";

    if (size < 2)
        return false;
    size_t filled = data[1] < 224 ? data[1] * (size_t)2 : (data[1] - (size_t)223) * 10000;
    for (size_t left = filled, at = 0; left > 0; left -= at) {
        at = left < sizeof(filler) - 1 ? left : sizeof(filler) - 1;
        str_add_mem(out, filler, at);
    }
    for (size_t i = 2; i < size; i++) {
        if (data[i] == 1)
            str_add(out, "\n@@" NONCE " ");
        else
            str_add_mem(out, data + i, 1);
    }
    return true;
}

#endif
