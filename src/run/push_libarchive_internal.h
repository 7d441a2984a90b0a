/* libarchive, loaded at run time before the first archive is written. Include this instead of <archive.h>. */
#ifndef MTLAUNCH_RUN_PUSH_LIBARCHIVE_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_LIBARCHIVE_INTERNAL_H

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

#define ARCHIVE_FUNCTIONS(one)                                                                               \
    one(entry_clear) one(entry_free) one(entry_new) one(entry_set_filetype) one(entry_set_mtime)             \
        one(entry_set_pathname) one(entry_set_perm) one(entry_set_size) one(entry_set_symlink)               \
            one(write_close) one(write_data) one(write_free) one(write_header) one(write_new)                \
                one(write_open) one(write_set_bytes_per_block) one(write_set_format_gnutar)

struct archive_functions {
#define ONE(name) __typeof__(archive_##name) *name;
    ARCHIVE_FUNCTIONS(ONE)
#undef ONE
};

/* Filled by archive_load: libarchive.write_new() is archive_write_new(). */
extern struct archive_functions libarchive;

/* Load libarchive, once. Errors: kind_local with the loader's reason. */
int archive_load(struct error *err);

#endif
