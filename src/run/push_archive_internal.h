/* Writes entries of a source as one archive, part by part. */
#ifndef MTLAUNCH_RUN_PUSH_ARCHIVE_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_ARCHIVE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "push_source_internal.h"
#include "push_tar_internal.h"

#define PUSH_FEED (256u << 10) /* about this many bytes are made at a time */

/* All zero: no archive is being written. */
struct push_archive {
    struct push_source *source;
    const size_t *entries; /* of the source's tree; borrowed */
    size_t count;
    bool *torn; /* one per entry: it changed while it was read; borrowed */
    size_t at;
    uint64_t offset;   /* in the current file */
    uint64_t contents; /* bytes of file contents so far */
    struct push_tar *tar;
};

void push_archive_begin(struct push_archive *archive, struct push_source *source, const size_t *entries,
                        size_t count, bool *torn);

/* Append until out holds about PUSH_FEED. false: the archive is complete; the caller releases it. */
bool push_archive_fill(struct push_archive *archive, struct str *out);

void push_archive_release(struct push_archive *archive);

#endif
