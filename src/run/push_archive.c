/* Reads entries of a source and writes them as an archive. */
#include "push_archive_internal.h"

void push_archive_begin(struct push_archive *archive, struct push_source *source, const size_t *entries,
                        size_t count, bool *torn)
{
    *archive = (struct push_archive){
        .source = source, .entries = entries, .count = count, .torn = torn, .tar = push_tar_new()};
}

void push_archive_release(struct push_archive *archive)
{
    push_tar_free(archive->tar);
    *archive = (struct push_archive){0};
}

/* A file that is shorter by now is filled with zeros, so that the archive stays valid; the host drops it. */
static void add_contents(struct push_archive *archive, size_t entry, struct str *out)
{
    static const char zeros[4096];
    const uint64_t size = archive->source->tree.items[entry].size;
    const char *bytes = NULL;
    size_t len = push_source_read(archive->source, entry, archive->offset, &bytes);

    if (len == 0) {
        archive->torn[archive->at] = true;
        bytes = zeros;
        len = size - archive->offset < sizeof(zeros) ? (size_t)(size - archive->offset) : sizeof(zeros);
    }
    push_tar_contents(archive->tar, bytes, len, out);
    archive->offset += len;
    archive->contents += len;
}

bool push_archive_fill(struct push_archive *archive, struct str *out)
{
    while (archive->at < archive->count && out->len < PUSH_FEED) {
        const size_t index = archive->entries[archive->at];
        const struct tree_entry *entry = &archive->source->tree.items[index];
        if (archive->offset == 0) { /* files must be written into a new folder, so it needs u+rwx */
            push_tar_header(archive->tar, entry,
                            entry->kind == TREE_FOLDER ? entry->mode | 0700 : entry->mode, out);
        }
        if (entry->kind == TREE_FILE && entry->size > 0) {
            add_contents(archive, index, out);
        }
        if (entry->kind != TREE_FILE || archive->offset == entry->size) {
            archive->torn[archive->at] |= !push_source_is_unchanged(archive->source, index);
            archive->offset = 0;
            archive->at++;
        }
    }
    if (archive->at < archive->count) {
        return true;
    }
    push_tar_end(archive->tar, out);
    return false;
}
