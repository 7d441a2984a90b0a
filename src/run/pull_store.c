/* Writes the files from a host into its local folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "model/kind.h"
#include "pull_store_internal.h"

#define ROOM_PREFIX TREE_OWN_PREFIX "pull."
#define PART_PREFIX TREE_OWN_PREFIX "part."

static int failed(const struct pull_store *store, const char *what, const char *path, struct error *err)
{
    const int number = errno;

    error_set_errno(err, &kind_local, number, "cannot %s '%s/%s'", what, store->path, path);
    if (number == ENOSPC || number == EDQUOT) {
        error_hint(err, "free some space here and repeat the command: it resumes where it stopped");
    }
    return -1;
}

/* --- the room --- */

static void empty_room(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *room = fd >= 0 ? fdopendir(fd) : NULL;

    for (const struct dirent *entry; room && (entry = readdir(room));) {
        unlinkat(fd, entry->d_name, 0);
    }
    if (room) {
        closedir(room);
    }
    unlinkat(folder, name, AT_REMOVEDIR);
}

void pull_store_remove_parts(const struct pull_store *store)
{
    const int fd = openat(store->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (text_starts(entry->d_name, PART_PREFIX)) {
            unlinkat(store->fd, entry->d_name, 0);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

/* Remove the rooms (temporary folders) of processes that were killed. */
static void remove_old_rooms(const struct pull_store *store)
{
    const int fd = openat(store->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        uint64_t pid = 0;
        if (text_starts(entry->d_name, ROOM_PREFIX) &&
            text_to_uint(entry->d_name + strlen(ROOM_PREFIX), 1, INT32_MAX, &pid) &&
            kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
            empty_room(store->fd, entry->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

int pull_store_open(struct pull_store *store, char *path, struct error *err)
{
    *store = (struct pull_store){.path = path, .fd = -1, .folder_fd = -1};
    if (file_make_dirs(path, 0777, err) != 0) {
        return -1;
    }
    store->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->fd < 0) {
        return error_set_errno(err, &kind_local, errno, "cannot open the folder '%s'", path);
    }
    remove_old_rooms(store);
    snprintf(store->room, sizeof(store->room), ROOM_PREFIX "%ld", (long)getpid());
    if (mkdirat(store->fd, store->room, 0700) != 0 && errno != EEXIST) {
        return error_set_errno(err, &kind_local, errno, "cannot write in the folder '%s'", path);
    }
    return 0;
}

void pull_store_release(struct pull_store *store)
{
    if (store->folder_fd >= 0 && store->folder) {
        close(store->folder_fd);
    }
    if (store->path && store->fd >= 0) {
        empty_room(store->fd, store->room);
        close(store->fd);
    }
    free(store->folder);
    free(store->path);
    *store = (struct pull_store){.fd = -1, .folder_fd = -1};
}

/* --- paths --- */

static int open_below(int fd, const char *name)
{
    return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The same for a folder whose content changes; its mode is set at the end. */
static int open_writable(int fd, const char *name)
{
    struct stat what;

    if (fstatat(fd, name, &what, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(what.st_mode) &&
        (what.st_mode & 0700) != 0700 && fchmodat(fd, name, (what.st_mode & 07777) | 0700, 0) != 0) {
        return -1;
    }
    return open_below(fd, name);
}

/*
 * Open the folder that contains path, which exists already; *name is the last part of path. Returns a
 * borrowed descriptor, or -1 with errno.
 */
static int parent_of(struct pull_store *store, const char *path, const char **name)
{
    const char *last = strrchr(path, '/');

    *name = last ? last + 1 : path;
    if (!last) {
        return store->fd;
    }
    AUTO_FREE char *folder = xstrndup(path, (size_t)(last - path));
    if (store->folder && strcmp(store->folder, folder) == 0) {
        return store->folder_fd;
    }
    int fd = dup(store->fd);
    char *rest = NULL;
    AUTO_FREE char *parts = xstrdup(folder);
    for (char *part = strtok_r(parts, "/", &rest); part && fd >= 0; part = strtok_r(NULL, "/", &rest)) {
        const int below = open_writable(fd, part);
        const int number = errno;
        close(fd);
        errno = number;
        fd = below;
    }
    if (fd < 0) {
        return -1;
    }
    if (store->folder) {
        close(store->folder_fd);
    }
    free(store->folder);
    store->folder = folder;
    store->folder_fd = fd;
    folder = NULL;
    return fd;
}

/* Remove what has this name, unless it is a folder that is not empty. */
static int make_room(int fd, const char *name)
{
    struct stat what;

    if (fstatat(fd, name, &what, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    return unlinkat(fd, name, S_ISDIR(what.st_mode) ? AT_REMOVEDIR : 0);
}

int pull_store_make_folder(struct pull_store *store, const char *path, struct error *err)
{
    const char *name;
    const int fd = parent_of(store, path, &name);
    struct stat what;

    if (fd < 0) {
        return failed(store, "make the folder", path, err);
    }
    if (fstatat(fd, name, &what, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(what.st_mode)) {
            if ((what.st_mode & 0700) != 0700 && fchmodat(fd, name, (what.st_mode & 07777) | 0700, 0) != 0) {
                return failed(store, "write in the folder", path, err);
            }
            return 0;
        }
        if (unlinkat(fd, name, 0) != 0) {
            return failed(store, "replace", path, err);
        }
    }
    return mkdirat(fd, name, 0777) == 0 ? 0 : failed(store, "make the folder", path, err);
}

int pull_store_make_link(struct pull_store *store, const struct tree_entry *entry, struct error *err)
{
    const char *name;
    const int fd = parent_of(store, entry->path, &name);

    if (fd < 0 || make_room(fd, name) != 0 || symlinkat(entry->link, fd, name) != 0) {
        return failed(store, "make the link", entry->path, err);
    }
    return 0;
}

int pull_store_set_folder(struct pull_store *store, const struct tree_entry *entry, struct error *err)
{
    const char *name;
    const int fd = parent_of(store, entry->path, &name);
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry->mtime}};
    const int folder = fd >= 0 ? open_below(fd, name) : -1;

    if (folder < 0) {
        return failed(store, "open the folder", entry->path, err);
    }
    const bool done = fchmod(folder, entry->mode) == 0 && futimens(folder, times) == 0;
    close(folder);
    return done ? 0 : failed(store, "set mode and time of", entry->path, err);
}

/* --- files --- */

int pull_store_begin(struct pull_store *store, size_t number, struct error *err)
{
    AUTO_FREE char *name = xasprintf("%s/%zu", store->room, number);
    const int fd = openat(store->fd, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : failed(store, "make the file", name, err);
}

/*
 * The name of a partial file, from path (FNV-1a hash), size and time, so that the part of another version is
 * never resumed.
 */
static char *part_name(const struct tree_entry *entry)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = entry->path; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    return xasprintf(PART_PREFIX "%016" PRIx64 ".%" PRIu64 ".%" PRId64, hash, entry->size, entry->mtime);
}

int pull_store_begin_part(struct pull_store *store, const struct tree_entry *entry, uint64_t *had,
                          struct error *err)
{
    AUTO_FREE char *name = part_name(entry);
    struct stat what;
    const int fd = openat(store->fd, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 || fstat(fd, &what) != 0) {
        return failed(store, "make the file", name, err);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        error_set(err, &kind_local, "'%s/%s' is being pulled by another process", store->path, entry->path);
        return error_hint(err, "wait until that has ended");
    }
    if ((uint64_t)what.st_size > entry->size && ftruncate(fd, 0) == 0) {
        what.st_size = 0;
    }
    *had = (uint64_t)what.st_size;
    return fd;
}

void pull_store_drop_part(struct pull_store *store, const struct tree_entry *entry)
{
    AUTO_FREE char *name = part_name(entry);

    unlinkat(store->fd, name, 0);
}

static int place(struct pull_store *store, int fd, const char *from, const struct tree_entry *entry,
                 struct error *err)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry->mtime}};
    const char *name;
    struct stat what;
    int result = fchmod(fd, entry->mode) == 0 && futimens(fd, times) == 0 ? 0 : -1;

    if (close(fd) != 0) {
        result = -1;
    }
    if (result != 0) {
        return failed(store, "write", entry->path, err);
    }
    const int folder = parent_of(store, entry->path, &name);
    if (folder >= 0 && fstatat(folder, name, &what, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(what.st_mode)) {
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (folder < 0 || renameat(store->fd, from, folder, name) != 0) {
        return failed(store, "write", entry->path, err);
    }
    return 0;
}

int pull_store_place(struct pull_store *store, int fd, size_t number, const struct tree_entry *entry,
                     struct error *err)
{
    AUTO_FREE char *from = xasprintf("%s/%zu", store->room, number);

    return place(store, fd, from, entry, err);
}

int pull_store_place_part(struct pull_store *store, int fd, const struct tree_entry *entry, struct error *err)
{
    AUTO_FREE char *from = part_name(entry);

    return place(store, fd, from, entry, err);
}

int pull_store_set_file(struct pull_store *store, const struct tree_entry *entry, struct error *err)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry->mtime}};
    const char *name;
    const int fd = parent_of(store, entry->path, &name);
    const int file = fd >= 0 ? openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    const bool done = file >= 0 && fchmod(file, entry->mode) == 0 && futimens(file, times) == 0;

    if (file >= 0) {
        close(file);
    }
    return done ? 0 : failed(store, "set mode and time of", entry->path, err);
}

int pull_store_remove(struct pull_store *store, const struct tree_entry *entry, struct error *err)
{
    const char *name;
    const int fd = parent_of(store, entry->path, &name);

    if (fd < 0 || (unlinkat(fd, name, entry->kind == TREE_FOLDER ? AT_REMOVEDIR : 0) != 0 &&
                   errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)) {
        return failed(store, "remove", entry->path, err);
    }
    return 0;
}

int pull_store_write(const struct pull_store *store, int fd, const char *bytes, size_t len, struct error *err)
{
    while (len > 0) {
        const ssize_t count = write(fd, bytes, len);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return failed(store, "write in", store->room, err);
        }
        bytes += count;
        len -= (size_t)count;
    }
    return 0;
}
