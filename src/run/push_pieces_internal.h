/*
 * The files that the hosts of a group lack, cut into pieces that can be passed on: archives of small files,
 * and parts of large ones. A piece has the same bytes whenever it is read, unless the files change, which its
 * checksum shows.
 */
#ifndef MTLAUNCH_RUN_PUSH_PIECES_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_PIECES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "push_archive_internal.h"
#include "push_source_internal.h"
#include "push_sum_internal.h"

struct push_piece {
    size_t first, count; /* its entries in the list of entries */
    bool is_part;        /* a part of one file: the bytes from offset on */
    bool is_last;        /* the last part of this file */
    uint64_t offset;
    uint64_t bytes;  /* bytes of file contents */
    uint64_t length; /* of the piece, a multiple of NODE_COPY_RECORD */
    char *sums[PUSH_SUM_KINDS];
};

struct push_pieces {
    struct push_source *source;
    size_t *entries; /* the missing entries, as indexes of the source's tree; a folder before its content */
    size_t entries_len;
    bool *torn; /* one per entry: it changed while it was read */
    struct push_piece *items;
    size_t len, cap;
};

/* entries is taken over. source is borrowed. */
void push_pieces_init(struct push_pieces *pieces, struct push_source *source, size_t *entries, size_t len);
void push_pieces_release(struct push_pieces *pieces);

/* The checksum of a piece; the first call computes it. Borrowed. */
const char *push_pieces_sum(struct push_pieces *pieces, size_t index, enum push_sum_kind kind);

/* Reads a piece. All zero: no reading in progress. */
struct push_piece_reader {
    struct push_pieces *pieces;
    size_t index;
    struct push_archive archive;
    uint64_t done; /* bytes of a part read so far */
};

void push_piece_begin(struct push_piece_reader *reader, struct push_pieces *pieces, size_t index);
/* Append until out holds about PUSH_FEED. false: the piece is complete. */
bool push_piece_fill(struct push_piece_reader *reader, struct str *out);
void push_piece_release(struct push_piece_reader *reader);

#endif
