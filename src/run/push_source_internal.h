/*
 * The source of a push: the local files as one tree, and their contents, read in pieces once for all hosts.
 */
#ifndef MTLAUNCH_RUN_PUSH_SOURCE_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_SOURCE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/tree.h"

#define PUSH_BLOCK (256u << 10) /* bytes read at a time */

struct push_block;

/* Identifies a file's state when the tree was made, to notice later changes. */
struct push_stamp {
    uint64_t inode;
    int64_t mtime_ns;
};

struct push_source {
    struct tree tree;          /* sorted; paths below the target */
    struct push_stamp *stamps; /* one per entry */
    size_t *parents;           /* one per entry: the index of its folder; TREE_NONE at the top */
    struct strlist roots;      /* what a host must list: names at the top, "." for everything */
    struct strlist warnings;
    size_t files; /* entries that are files or links */

    int *folders; /* one per source: the folder where its paths begin */
    size_t folders_len;
    struct push_block *blocks; /* the blocks read last */
    uint64_t clock;
    int fd; /* of the file read last; -1: none */
    size_t fd_entry;
};

/*
 * List the sources. all: hosts list the whole target, not only the names that the sources have. Errors:
 * kind_usage, kind_local. The caller sets source to zero before, and releases it in any case.
 */
int push_source_open(struct push_source *source, const struct strlist *sources, const struct strlist *skip,
                     bool all, struct error *err);
void push_source_release(struct push_source *source);

/*
 * Read bytes of entry from offset on, at most PUSH_BLOCK. Returns how many; 0 at its end or when it cannot be
 * read. They are valid until the next call.
 */
size_t push_source_read(struct push_source *source, size_t entry, uint64_t offset, const char **bytes);

/* Whether the file is unchanged since the tree was made. A file that has grown counts as unchanged. */
bool push_source_is_unchanged(const struct push_source *source, size_t entry);

/* SHA-256 of the file, in hexadecimal digits. Errors: kind_local. */
int push_source_sum(struct push_source *source, size_t entry, char text[65], struct error *err);

#endif
