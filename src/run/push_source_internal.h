/* What is pushed: the files here, as one tree, and their contents piece by piece, read once for all hosts. */
#ifndef MTLAUNCH_RUN_PUSH_SOURCE_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_SOURCE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/tree.h"

#define PUSH_BLOCK (256u << 10) /* bytes that are read at once */

struct push_block;

/* A file as it was when the tree was made: by this it is seen that it changed meanwhile. */
struct push_stamp {
    uint64_t inode;
    int64_t mtime_ns;
};

struct push_source {
    struct tree tree;          /* sorted; paths below the target */
    struct push_stamp *stamps; /* one an entry */
    size_t *parents;           /* one an entry: its folder's index, TREE_NONE at the top */
    struct strlist roots;      /* what is listed there: names at the top, "." for all */
    struct strlist warnings;
    size_t files; /* entries that are files or links */

    int *folders; /* one a source: where its paths begin */
    size_t folders_len;
    struct push_block *blocks; /* the last ones read */
    uint64_t clock;
    int fd; /* of the file that was read last; -1 */
    size_t fd_entry;
};

/*
 * Look at the sources. all: the whole target is listed, not only what has a name here. Errors: kind_usage,
 * kind_local. source is zero before, released by the caller in any case.
 */
int push_source_open(struct push_source *source, const struct strlist *sources, const struct strlist *skip,
                     bool all, struct error *err);
void push_source_release(struct push_source *source);

/*
 * Bytes of entry from offset on, at most PUSH_BLOCK: how many, 0 at its end or when it cannot be read. They
 * stay until the next call.
 */
size_t push_source_read(struct push_source *source, size_t entry, uint64_t offset, const char **bytes);

/* Is the file still what it was when the tree was made? One that only grew counts as that. */
bool push_source_is_unchanged(const struct push_source *source, size_t entry);

/* SHA-256 of the file, in hexadecimal digits. Errors: kind_local. */
int push_source_sum(struct push_source *source, size_t entry, char text[65], struct error *err);

#endif
