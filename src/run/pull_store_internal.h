/*
 * The local folder that receives a host's files. Whatever it contains, no symlink leads out of it: each
 * folder on a path is opened without following links. A file is created under another name and moved into
 * place by a rename.
 */
#ifndef MTLAUNCH_RUN_PULL_STORE_INTERNAL_H
#define MTLAUNCH_RUN_PULL_STORE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/tree.h"

struct pull_store {
    char *path; /* for messages */
    int fd;     /* -1: not open */
    char room[64];
    char *folder; /* the folder of folder_fd; NULL: none */
    int folder_fd;
};

/* All errors: kind_local. */

/* Create and open the folder; path is taken over. The caller releases store in any case. */
int pull_store_open(struct pull_store *store, char *path, struct error *err);
void pull_store_release(struct pull_store *store);

/*
 * Create a folder, or a link. Something of another kind in its place is removed, except a folder that is not
 * empty.
 */
int pull_store_make_folder(struct pull_store *store, const char *path, struct error *err);
int pull_store_make_link(struct pull_store *store, const struct tree_entry *entry, struct error *err);
int pull_store_set_folder(struct pull_store *store, const struct tree_entry *entry, struct error *err);

/* Create a file for received contents. Returns its descriptor. */
int pull_store_begin(struct pull_store *store, size_t number, struct error *err);
/* The same for a large file, of which an earlier call may have received the first *had bytes. */
int pull_store_begin_part(struct pull_store *store, const struct tree_entry *entry, uint64_t *had,
                          struct error *err);

/* Close the file and move it into place, with the entry's mode and time. */
int pull_store_place(struct pull_store *store, int fd, size_t number, const struct tree_entry *entry,
                     struct error *err);
int pull_store_place_part(struct pull_store *store, int fd, const struct tree_entry *entry,
                          struct error *err);

/* Delete the partial file of one entry, or all partial files. */
void pull_store_drop_part(struct pull_store *store, const struct tree_entry *entry);
void pull_store_remove_parts(const struct pull_store *store);

/* Set mode and time of a file whose content is the same. */
int pull_store_set_file(struct pull_store *store, const struct tree_entry *entry, struct error *err);

int pull_store_remove(struct pull_store *store, const struct tree_entry *entry, struct error *err);

int pull_store_write(const struct pull_store *store, int fd, const char *bytes, size_t len,
                     struct error *err);

#endif
