/*
 * Writes an archive, readable by the tar of GNU, busybox and BSD, piece by piece into memory with libarchive.
 */
#ifndef MTLAUNCH_RUN_PUSH_TAR_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_TAR_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/tree.h"

struct push_tar; /* an archive that is being written */

struct push_tar *push_tar_new(void);
void push_tar_free(struct push_tar *tar);

/*
 * Append to out: the header of an entry with these permission bits; len bytes of its contents; the archive's
 * end.
 */
void push_tar_header(struct push_tar *tar, const struct tree_entry *entry, unsigned mode, struct str *out);
void push_tar_contents(struct push_tar *tar, const void *bytes, size_t len, struct str *out);
void push_tar_end(struct push_tar *tar, struct str *out);

/* Size in bytes of an archive of these entries of the tree, a multiple of NODE_COPY_RECORD. */
uint64_t push_tar_size(const struct tree *tree, const size_t *entries, size_t count);

#endif
