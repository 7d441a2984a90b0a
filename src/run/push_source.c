/* Lists the files to push, and reads them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "model/kind.h"
#include "model/skip.h"
#include "push_source_internal.h"
#include "push_sum_internal.h"

#define BLOCKS    64 /* 16 MiB of cache, for hosts that are not in step */
#define DEPTH_MAX 200

struct push_block {
    char *bytes;
    size_t len;
    size_t entry;
    uint64_t offset;
    uint64_t used; /* clock at the last use; 0: empty */
};

/* A walk through a source. */
struct walk {
    struct push_source *source;
    const struct strlist *skip;
    size_t index; /* of the source */
    size_t others;
    size_t unreadable;
    char *first_unreadable;
    int unreadable_errno;
    struct error *err;
};

void push_source_release(struct push_source *source)
{
    for (size_t i = 0; i < source->folders_len; i++) {
        if (source->folders[i] >= 0) {
            close(source->folders[i]);
        }
    }
    for (size_t i = 0; source->blocks && i < BLOCKS; i++) {
        free(source->blocks[i].bytes);
    }
    if (source->blocks && source->fd >= 0) {
        close(source->fd);
    }
    free(source->folders);
    free(source->blocks);
    free(source->stamps);
    free(source->parents);
    tree_release(&source->tree);
    strlist_release(&source->roots);
    strlist_release(&source->warnings);
    *source = (struct push_source){0};
}

/* --- listing --- */

static enum tree_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode)) {
        return TREE_FILE;
    }
    if (S_ISDIR(mode)) {
        return TREE_FOLDER;
    }
    return S_ISLNK(mode) ? TREE_LINK : TREE_OTHER;
}

static void note_unreadable(struct walk *walk, const char *path, int number)
{
    if (walk->unreadable++ == 0) {
        walk->first_unreadable = xstrdup(path);
        walk->unreadable_errno = number;
    }
}

static int walk_folder(struct walk *walk, int fd, struct str *path, unsigned depth);

/* name is in the folder fd; path is the whole path. */
static int walk_entry(struct walk *walk, int fd, const char *name, struct str *path, unsigned depth)
{
    char link[4096] = "";
    struct stat what;
    const char *text = str_text(path);

    if (fstatat(fd, name, &what, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) {
            note_unreadable(walk, text, errno);
        }
        return 0;
    }
    const enum tree_kind kind = kind_of(what.st_mode);
    if (skip_matches(walk->skip, text, kind == TREE_FOLDER)) {
        return 0;
    }
    if (kind == TREE_OTHER) {
        walk->others++;
        return 0;
    }
    if (!tree_path_is_safe(text)) {
        return error_set(walk->err, &kind_local,
                         "a path of %zu bytes is longer than the %d that can be copied", path->len,
                         TREE_PATH_MAX);
    }
    const ssize_t link_len = kind == TREE_LINK ? readlinkat(fd, name, link, sizeof(link) - 1) : 0;
    if (link_len < 0 || (kind == TREE_FILE && faccessat(fd, name, R_OK, AT_EACCESS) != 0)) {
        note_unreadable(walk, text, errno);
        return 0;
    }
    if (walk->source->tree.len == TREE_ENTRIES_MAX) {
        return error_set(walk->err, &kind_local, "more than %d files cannot be copied at once",
                         TREE_ENTRIES_MAX);
    }
    tree_add(&walk->source->tree, text, kind == TREE_LINK ? link : NULL,
             &(struct tree_entry){.kind = kind,
                                  .mode = what.st_mode & 07777,
                                  .size = kind == TREE_FILE ? (uint64_t)what.st_size : 0,
                                  .mtime = what.st_mtim.tv_sec,
                                  .source = walk->index});
    if (kind != TREE_FOLDER) {
        return 0;
    }
    const int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) {
        note_unreadable(walk, text, errno);
        return 0;
    }
    return walk_folder(walk, below, path, depth + 1);
}

/* Takes fd over. */
static int walk_folder(struct walk *walk, int fd, struct str *path, unsigned depth)
{
    DIR *folder = fdopendir(fd);
    const size_t len = path->len;
    const struct dirent *entry;
    int result = 0;

    if (!folder) {
        int saved_errno = errno;
        close(fd);
        return error_set(walk->err, &kind_local, "cannot read the folder '%s': %s", str_text(path),
                         strerror(saved_errno));
    }
    if (depth > DEPTH_MAX) {
        closedir(folder);
        return error_set(walk->err, &kind_local, "cannot look into '%s': folders are nested too deeply",
                         str_text(path));
    }
    while (result == 0 && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            strncmp(name, TREE_OWN_PREFIX, strlen(TREE_OWN_PREFIX)) == 0) {
            continue;
        }
        if (len > 0) {
            str_add_char(path, '/');
        }
        str_add(path, name);
        result = walk_entry(walk, dirfd(folder), name, path, depth);
        str_truncate(path, len);
    }
    closedir(folder);
    return result;
}

/* "a/b/" and "." stand for the contents of the folder. */
static bool means_contents(const char *source)
{
    const size_t len = strlen(source);
    const char *last = strrchr(source, '/');
    const char *name = last ? last + 1 : source;

    return source[len - 1] == '/' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int missing(const char *path, int number, struct error *err)
{
    if (number == ENOENT || number == ENOTDIR) {
        error_set_errno(err, &kind_usage, number, "cannot find the source '%s'", path);
        return error_hint(
            err,
            "sources are files and folders of this machine, relative paths start from the current folder");
    }
    return error_set_errno(err, &kind_local, number, "cannot inspect the source '%s'", path);
}

static int open_folder(struct push_source *source, const char *folder, const char *path, struct error *err)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        return missing(path, errno, err);
    }
    source->folders[source->folders_len++] = fd;
    return 0;
}

static int walk_contents(struct walk *walk, const char *path, bool all)
{
    struct push_source *source = walk->source;
    AUTO_STR struct str below = STR_INIT;
    const size_t from = source->tree.len;

    if (open_folder(source, path, path, walk->err) != 0) {
        return -1;
    }
    const int fd = openat(source->folders[source->folders_len - 1], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return missing(path, errno, walk->err);
    }
    if (walk_folder(walk, fd, &below, 0) != 0) {
        return -1;
    }
    if (all) {
        strlist_add(&source->roots, ".");
        return 0;
    }
    for (size_t i = from; i < source->tree.len; i++) {
        if (!strchr(source->tree.items[i].path, '/')) {
            strlist_add(&source->roots, source->tree.items[i].path);
        }
    }
    return 0;
}

static int walk_named(struct walk *walk, const char *path)
{
    AUTO_FREE char *folder = path_folder(path);
    AUTO_STR struct str below = STR_INIT;
    const char *last = strrchr(path, '/');
    struct stat what;

    if (lstat(path, &what) != 0) {
        return missing(path, errno, walk->err);
    }
    if (open_folder(walk->source, folder, path, walk->err) != 0) {
        return -1;
    }
    str_add(&below, last ? last + 1 : path);
    strlist_add(&walk->source->roots, str_text(&below));
    return walk_entry(walk, walk->source->folders[walk->source->folders_len - 1], str_text(&below), &below,
                      0);
}

/* --- the tree --- */

/* Two sources may share folders, but not files. */
static int check_meetings(struct push_source *source, const struct strlist *sources, struct error *err)
{
    struct tree *tree = &source->tree;
    size_t kept = 0;

    for (size_t i = 0; i < tree->len; i++) {
        struct tree_entry *last = kept > 0 ? &tree->items[kept - 1] : NULL;
        struct tree_entry *entry = &tree->items[i];
        if (!last || strcmp(last->path, entry->path) != 0) {
            tree->items[kept++] = *entry;
            continue;
        }
        if (last->kind != TREE_FOLDER || entry->kind != TREE_FOLDER) {
            error_set(err, &kind_usage, "the sources '%s' and '%s' both contain '%s'",
                      sources->items[last->source], sources->items[entry->source], entry->path);
            for (size_t k = i; k < tree->len; k++, kept++) {
                tree->items[kept] = tree->items[k];
            }
            tree->len = kept;
            return error_hint(err, "push them one at a time, or to separate folders");
        }
        free(entry->path);
    }
    tree->len = kept;
    return 0;
}

static void add_stamps(struct push_source *source)
{
    const struct tree *tree = &source->tree;

    source->stamps = xcalloc(tree->len, sizeof(*source->stamps));
    source->parents = xcalloc(tree->len, sizeof(*source->parents));
    for (size_t i = 0; i < tree->len; i++) {
        const struct tree_entry *entry = &tree->items[i];
        struct stat what;
        source->parents[i] = tree_parent(tree, i);
        source->files += entry->kind == TREE_FOLDER ? 0 : 1;
        if (fstatat(source->folders[entry->source], entry->path, &what, AT_SYMLINK_NOFOLLOW) == 0) {
            source->stamps[i] = (struct push_stamp){.inode = what.st_ino,
                                                    .mtime_ns = (int64_t)what.st_mtim.tv_sec * 1000000000 +
                                                                what.st_mtim.tv_nsec};
            tree->items[i].mtime = what.st_mtim.tv_sec;
            tree->items[i].size = entry->kind == TREE_FILE ? (uint64_t)what.st_size : 0;
        }
    }
}

static int check_readable(const struct walk *walk)
{
    if (walk->unreadable == 0) {
        return 0;
    }
    error_set_errno(walk->err, &kind_local, walk->unreadable_errno, "cannot read '%s'",
                    walk->first_unreadable);
    if (walk->unreadable > 1) {
        error_prefix(walk->err, "%zu files and folders of the source cannot be read, among them",
                     walk->unreadable);
    }
    return error_hint(walk->err, "change their modes, or leave them out with --skip");
}

int push_source_open(struct push_source *source, const struct strlist *sources, const struct strlist *skip,
                     bool all, struct error *err)
{
    struct walk walk = {.source = source, .skip = skip, .err = err};
    int result = 0;

    source->fd = -1;
    source->blocks = xcalloc(BLOCKS, sizeof(*source->blocks));
    source->folders = xcalloc(sources->len, sizeof(*source->folders));
    for (size_t i = 0; i < sources->len && result == 0; i++) {
        const char *path = sources->items[i];
        walk.index = i;
        if (path[0] == '\0') {
            error_set(err, &kind_usage, "a source is empty");
            result = error_hint(err, "give a file or folder; use '.' for the contents of the current folder");
        } else {
            result = means_contents(path) ? walk_contents(&walk, path, all) : walk_named(&walk, path);
        }
    }
    if (result == 0) {
        result = check_readable(&walk);
    }
    free(walk.first_unreadable);
    if (result != 0) {
        return -1;
    }
    if (walk.others > 0) {
        strlist_addf(&source->warnings, "devices, pipes and sockets are not copied: %zu of the source",
                     walk.others);
    }
    tree_sort(&source->tree);
    if (check_meetings(source, sources, err) != 0) {
        return -1;
    }
    add_stamps(source);
    return 0;
}

/* --- reading --- */

static int open_file(struct push_source *source, size_t entry)
{
    const struct tree_entry *what = &source->tree.items[entry];

    if (source->fd >= 0 && source->fd_entry == entry) {
        return source->fd;
    }
    if (source->fd >= 0) {
        close(source->fd);
    }
    source->fd_entry = entry;
    source->fd =
        openat(source->folders[what->source], what->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return source->fd;
}

static size_t read_at(int fd, char *bytes, size_t len, uint64_t offset)
{
    size_t done = 0;

    while (fd >= 0 && done < len) {
        const ssize_t count = pread(fd, bytes + done, len - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        done += (size_t)count;
    }
    return done;
}

size_t push_source_read(struct push_source *source, size_t entry, uint64_t offset, const char **bytes)
{
    const uint64_t size = source->tree.items[entry].size;
    const uint64_t begin = offset - offset % PUSH_BLOCK;
    struct push_block *oldest = &source->blocks[0];

    if (offset >= size) {
        return 0;
    }
    source->clock++;
    for (size_t i = 0; i < BLOCKS; i++) {
        struct push_block *block = &source->blocks[i];
        if (block->used != 0 && block->entry == entry && block->offset == begin) {
            block->used = source->clock;
            *bytes = block->bytes + (offset - begin);
            return offset - begin < block->len ? block->len - (size_t)(offset - begin) : 0;
        }
        oldest = block->used < oldest->used ? block : oldest;
    }
    const size_t wanted = size - begin < PUSH_BLOCK ? (size_t)(size - begin) : PUSH_BLOCK;
    if (!oldest->bytes) {
        oldest->bytes = xcalloc(1, PUSH_BLOCK);
    }
    oldest->len = read_at(open_file(source, entry), oldest->bytes, wanted, begin);
    oldest->entry = entry;
    oldest->offset = begin;
    oldest->used = source->clock;
    *bytes = oldest->bytes + (offset - begin);
    return offset - begin < oldest->len ? oldest->len - (size_t)(offset - begin) : 0;
}

bool push_source_is_unchanged(const struct push_source *source, size_t entry)
{
    const struct tree_entry *what = &source->tree.items[entry];
    const struct push_stamp *stamp = &source->stamps[entry];
    struct stat now;

    if (what->kind != TREE_FILE) {
        return true;
    }
    if (fstatat(source->folders[what->source], what->path, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
        now.st_ino != stamp->inode || !S_ISREG(now.st_mode)) {
        return false;
    }
    return (int64_t)now.st_mtim.tv_sec * 1000000000 + now.st_mtim.tv_nsec == stamp->mtime_ns ||
           (uint64_t)now.st_size > what->size;
}

int push_source_sum(struct push_source *source, size_t entry, char text[65], struct error *err)
{
    struct push_sum *sum = push_sum_new(PUSH_SUM_SHA256);
    const char *bytes = NULL;
    uint64_t offset = 0;

    for (size_t len; (len = push_source_read(source, entry, offset, &bytes)) > 0; offset += len) {
        push_sum_add(sum, bytes, len);
    }
    push_sum_end(sum, text);
    if (offset != source->tree.items[entry].size) {
        return error_set(err, &kind_local, "'%s' changed while it was read", source->tree.items[entry].path);
    }
    return 0;
}
