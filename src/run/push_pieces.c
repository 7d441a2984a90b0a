/* Cuts the files that hosts lack into pieces, and reads them. */
#include <stdlib.h>

#include "base/alloc.h"
#include "node/copy.h"
#include "push_pieces_internal.h"

/* small, because a chain of hosts waits for one piece; smaller ones would cost too much on a host */
#define PIECE_BYTES (8u << 20)
#define PIECE_FILES 2000

static uint64_t whole_records(uint64_t bytes)
{
    return (bytes + NODE_COPY_RECORD - 1) / NODE_COPY_RECORD * NODE_COPY_RECORD;
}

static void add_piece(struct push_pieces *pieces, const struct push_piece *piece)
{
    pieces->items = xgrow(pieces->items, pieces->len, &pieces->cap, sizeof(*pieces->items));
    pieces->items[pieces->len++] = *piece;
}

static void add_parts(struct push_pieces *pieces, size_t at, uint64_t size)
{
    for (uint64_t offset = 0; offset < size; offset += PIECE_BYTES) {
        const uint64_t left = size - offset;
        const uint64_t bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        add_piece(pieces, &(struct push_piece){.first = at,
                                               .count = 1,
                                               .is_part = true,
                                               .is_last = bytes == left,
                                               .offset = offset,
                                               .bytes = bytes,
                                               .length = whole_records(bytes)});
    }
}

/* Add a piece with the files from first on, up to a large one. */
static size_t add_archive(struct push_pieces *pieces, size_t first)
{
    const struct tree *tree = &pieces->source->tree;
    struct push_piece piece = {.first = first};

    for (size_t at = first; at < pieces->entries_len && piece.count < PIECE_FILES; at++) {
        const uint64_t size = tree->items[pieces->entries[at]].size;
        if (size > PIECE_BYTES || piece.bytes + size > PIECE_BYTES) {
            break;
        }
        piece.bytes += size;
        piece.count++;
    }
    piece.length = push_tar_size(tree, &pieces->entries[first], piece.count);
    add_piece(pieces, &piece);
    return piece.count;
}

void push_pieces_init(struct push_pieces *pieces, struct push_source *source, size_t *entries, size_t len)
{
    *pieces = (struct push_pieces){.source = source, .entries = entries, .entries_len = len};
    pieces->torn = xcalloc(len, sizeof(*pieces->torn));
    for (size_t at = 0; at < len;) {
        const uint64_t size = source->tree.items[entries[at]].size;
        if (size > PIECE_BYTES) {
            add_parts(pieces, at++, size);
        } else {
            at += add_archive(pieces, at);
        }
    }
}

void push_pieces_release(struct push_pieces *pieces)
{
    for (size_t i = 0; i < pieces->len; i++) {
        for (size_t k = 0; k < PUSH_SUM_KINDS; k++) {
            free(pieces->items[i].sums[k]);
        }
    }
    free(pieces->items);
    free(pieces->entries);
    free(pieces->torn);
    *pieces = (struct push_pieces){0};
}

const char *push_pieces_sum(struct push_pieces *pieces, size_t index, enum push_sum_kind kind)
{
    struct push_piece *piece = &pieces->items[index];
    struct push_piece_reader reader;
    AUTO_STR struct str bytes = STR_INIT;
    char text[65];
    bool more = true;

    if (piece->sums[kind]) {
        return piece->sums[kind];
    }
    struct push_sum *sum = push_sum_new(kind);
    push_piece_begin(&reader, pieces, index);
    while (more) {
        str_reset(&bytes);
        more = push_piece_fill(&reader, &bytes);
        push_sum_add(sum, bytes.data, bytes.len);
    }
    push_piece_release(&reader);
    push_sum_end(sum, text);
    piece->sums[kind] = xstrdup(text);
    return piece->sums[kind];
}

void push_piece_begin(struct push_piece_reader *reader, struct push_pieces *pieces, size_t index)
{
    const struct push_piece *piece = &pieces->items[index];

    *reader = (struct push_piece_reader){.pieces = pieces, .index = index};
    if (!piece->is_part) {
        push_archive_begin(&reader->archive, pieces->source, &pieces->entries[piece->first], piece->count,
                           &pieces->torn[piece->first]);
    }
}

/*
 * Zeros after the file's bytes fill the last record, and stand for the missing bytes of a file that shrank.
 */
static bool fill_part(struct push_piece_reader *reader, struct str *out)
{
    static const char zeros[4096];
    struct push_pieces *pieces = reader->pieces;
    const struct push_piece *piece = &pieces->items[reader->index];
    const size_t entry = pieces->entries[piece->first];

    while (reader->done < piece->length && out->len < PUSH_FEED) {
        const uint64_t left = reader->done < piece->bytes ? piece->bytes - reader->done : 0;
        const char *bytes = NULL;
        size_t len =
            left > 0 ? push_source_read(pieces->source, entry, piece->offset + reader->done, &bytes) : 0;
        if (len > left) {
            len = (size_t)left;
        }
        if (len == 0) {
            pieces->torn[piece->first] |= left > 0;
            bytes = zeros;
            len = sizeof(zeros);
            if (piece->length - reader->done < len) {
                len = (size_t)(piece->length - reader->done);
            }
        }
        str_add_mem(out, bytes, len);
        reader->done += len;
    }
    if (reader->done < piece->length) {
        return true;
    }
    pieces->torn[piece->first] |= !push_source_is_unchanged(pieces->source, entry);
    return false;
}

bool push_piece_fill(struct push_piece_reader *reader, struct str *out)
{
    return reader->pieces->items[reader->index].is_part ? fill_part(reader, out)
                                                        : push_archive_fill(&reader->archive, out);
}

void push_piece_release(struct push_piece_reader *reader)
{
    push_archive_release(&reader->archive);
    *reader = (struct push_piece_reader){0};
}
