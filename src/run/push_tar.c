/* Writes archives into memory. */
#include <stdlib.h>

#include "base/alloc.h"
#include "node/copy.h"
#include "push_libarchive_internal.h"
#include "push_tar_internal.h"

#define BLOCK 512

struct push_tar {
    struct archive *writer;
    struct archive_entry *entry;
    struct str *out; /* of the current call; NULL: only count */
    uint64_t written;
};

static la_ssize_t on_write(struct archive *writer, void *ctx, const void *bytes, size_t len)
{
    struct push_tar *tar = ctx;

    (void)writer;
    tar->written += len;
    if (tar->out) {
        str_add_mem(tar->out, bytes, len);
    }
    return (la_ssize_t)len;
}

/* Writing into memory can only fail if memory runs out. */
static void check(int result)
{
    if (result < ARCHIVE_WARN) {
        abort();
    }
}

/* The GNU format: every tar reads its long names (busybox ignores those of pax), and sizes have no limit. */
struct push_tar *push_tar_new(void)
{
    struct push_tar *tar = xcalloc(1, sizeof(*tar));

    tar->writer = libarchive.write_new();
    tar->entry = libarchive.entry_new();
    if (!tar->writer || !tar->entry) {
        abort();
    }
    check(libarchive.write_set_format_gnutar(tar->writer));
    check(libarchive.write_set_bytes_per_block(tar->writer, 0));
    check(libarchive.write_open(tar->writer, tar, NULL, on_write, NULL));
    return tar;
}

void push_tar_free(struct push_tar *tar)
{
    if (!tar) {
        return;
    }
    tar->out = NULL;
    libarchive.entry_free(tar->entry);
    libarchive.write_free(tar->writer);
    free(tar);
}

static void write_header(struct push_tar *tar, const struct tree_entry *entry, unsigned mode, uint64_t size)
{
    static const unsigned types[] = {
        [TREE_FILE] = AE_IFREG, [TREE_FOLDER] = AE_IFDIR, [TREE_LINK] = AE_IFLNK, [TREE_OTHER] = AE_IFREG};

    libarchive.entry_clear(tar->entry);
    libarchive.entry_set_pathname(tar->entry, entry->path);
    libarchive.entry_set_filetype(tar->entry, types[entry->kind]);
    libarchive.entry_set_perm(tar->entry, mode);
    libarchive.entry_set_mtime(tar->entry, entry->mtime, 0);
    libarchive.entry_set_size(tar->entry, (la_int64_t)size);
    if (entry->kind == TREE_LINK) {
        libarchive.entry_set_symlink(tar->entry, entry->link);
    }
    check(libarchive.write_header(tar->writer, tar->entry));
}

void push_tar_header(struct push_tar *tar, const struct tree_entry *entry, unsigned mode, struct str *out)
{
    tar->out = out;
    write_header(tar, entry, mode, entry->kind == TREE_FILE ? entry->size : 0);
}

void push_tar_contents(struct push_tar *tar, const void *bytes, size_t len, struct str *out)
{
    tar->out = out;
    if (libarchive.write_data(tar->writer, bytes, len) != (la_ssize_t)len) {
        abort();
    }
}

static uint64_t padding(uint64_t written)
{
    return (NODE_COPY_RECORD - written % NODE_COPY_RECORD) % NODE_COPY_RECORD;
}

void push_tar_end(struct push_tar *tar, struct str *out)
{
    static const char zeros[NODE_COPY_RECORD];

    tar->out = out;
    check(libarchive.write_close(tar->writer));
    str_add_mem(out, zeros, (size_t)padding(tar->written));
}

uint64_t push_tar_size(const struct tree *tree, const size_t *entries, size_t count)
{
    struct push_tar *tar = push_tar_new();
    uint64_t contents = 0;

    for (size_t i = 0; i < count; i++) {
        const struct tree_entry *entry = &tree->items[entries[i]];
        write_header(tar, entry, entry->mode, 0);
        if (entry->kind == TREE_FILE) {
            contents += (entry->size + BLOCK - 1) / BLOCK * BLOCK;
        }
    }
    check(libarchive.write_close(tar->writer));
    const uint64_t bytes = tar->written + contents;
    push_tar_free(tar);
    return bytes + padding(bytes);
}
