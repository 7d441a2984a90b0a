/* Reads, writes and locks files on this machine, and works on paths. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

/* read() that is repeated after a signal. */
static ssize_t read_some(int fd, void *buffer, size_t size)
{
    ssize_t got;

    do {
        got = read(fd, buffer, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Returns the number of bytes written. If it is less than len, errno says why. */
static size_t write_all(int fd, const char *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t put = write(fd, bytes + done, len - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            break;
        }
        done += (size_t)put;
    }
    return done;
}

int file_read(const char *path, size_t max_bytes, struct str *out, struct error *err)
{
    char buffer[16384];
    size_t before = out->len;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0) {
        return error_set_errno(err, &kind_local, errno, "cannot read '%s'", path);
    }
    for (;;) {
        ssize_t got = read_some(fd, buffer, sizeof buffer);
        if (got == 0) {
            return 0;
        }
        if (got < 0) {
            str_truncate(out, before);
            return error_set_errno(err, &kind_local, errno, "cannot read '%s'", path);
        }
        if ((size_t)got > max_bytes - (out->len - before)) {
            str_truncate(out, before);
            errno = EFBIG;
            return error_set(err, &kind_local, "cannot read '%s': larger than %zu bytes", path, max_bytes);
        }
        str_add_mem(out, buffer, (size_t)got);
    }
}

/* Make a rename durable. A file system that cannot sync a folder fails with EINVAL. */
static int sync_folder(const char *path)
{
    AUTO_FREE char *folder = path_folder(path);
    AUTO_CLOSE int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL)) {
        return -1;
    }
    return 0;
}

/* Set the mode of the temporary file, write its content and sync it to the disk. */
static int fill_temp(int fd, const void *bytes, size_t len, mode_t mode)
{
    if (fchmod(fd, mode) != 0 || write_all(fd, bytes, len) != len || fsync(fd) != 0) {
        return -1;
    }
    return 0;
}

/* A device, a FIFO or a socket, such as /dev/null: another file must not take its place. */
static bool is_special(const char *path)
{
    struct stat info;
    /* what they lead to may be a file to which others write too */
    static const char *const streams[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"};
    bool stream = false;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        stream = stream || text_starts(path, streams[i]);
    }
    return stat(path, &info) == 0 && (stream || !S_ISREG(info.st_mode)) && !S_ISDIR(info.st_mode);
}

static int write_special(const char *path, const void *bytes, size_t len, struct error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    int failed = fd < 0 || write_all(fd, bytes, len) != len ? errno : 0;
    if (fd >= 0 && close(fd) != 0 && failed == 0) {
        failed = errno;
    }
    return failed == 0 ? 0 : error_set_errno(err, &kind_local, failed, "cannot write '%s'", path);
}

/* The file that a symbolic link leads to, so that the link stays. NULL: it is none, or it leads nowhere. */
static char *resolve_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
}

static int cannot_create(const char *path, int code, struct error *err)
{
    AUTO_FREE char *folder = path_folder(path);
    error_set_errno(err, &kind_local, code, "cannot write '%s'", path);
    return code == ENOENT ? error_hint(err, "create the folder '%s' first", folder) : -1;
}

int file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err)
{
    if (is_special(path)) {
        return write_special(path, bytes, len, err);
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        error_set(err, &kind_local, "cannot write '%s': it is a folder", path);
        return error_hint(err, "name a file in it");
    }
    AUTO_FREE char *target = resolve_link(path);
    path = target ? target : path;
    AUTO_FREE char *temp = xasprintf("%s.XXXXXX", path);
    int fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0) {
        return cannot_create(path, errno, err);
    }
    int result = fill_temp(fd, bytes, len, mode);
    /* Network file systems report some failed writes only at close. */
    int failed = result != 0 ? errno : 0;
    if (close(fd) != 0 && failed == 0) {
        failed = errno;
    }
    if (failed == 0 && rename(temp, path) != 0) {
        failed = errno;
    }
    if (failed != 0) {
        unlink(temp);
        errno = failed;
        return error_set_errno(err, &kind_local, failed, "cannot write '%s'", path);
    }
    if (sync_folder(path) != 0) {
        return error_set_errno(err, &kind_local, errno, "cannot write '%s' to the disk", path);
    }
    return 0;
}

/* Remove the last len bytes, which were just appended, unless another process has appended more. */
static void cut_back(int fd, size_t len)
{
    off_t end = lseek(fd, 0, SEEK_CUR);
    struct stat info;

    if (len > 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == end) {
        (void)!ftruncate(fd, end - (off_t)len);
    }
}

static int append(const char *path, const void *bytes, size_t len, mode_t mode, bool sync, struct error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, mode);
    size_t done = fd >= 0 ? write_all(fd, bytes, len) : 0;
    int failed = fd < 0 || done < len ? errno : 0;

    if (failed == 0 && sync && fdatasync(fd) != 0 && errno != EINVAL) { /* EINVAL: not on a disk */
        failed = errno;
    }
    if (failed != 0 && fd >= 0) {
        cut_back(fd, done);
    }
    /* Network file systems report some failed writes only at close. */
    if (fd >= 0 && close(fd) != 0 && failed == 0) {
        failed = errno;
    }
    if (failed == 0) {
        return 0;
    }
    errno = failed;
    return error_set_errno(err, &kind_local, failed, "cannot append to '%s'", path);
}

int file_append(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err)
{
    return append(path, bytes, len, mode, false, err);
}

int file_append_sync(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err)
{
    return append(path, bytes, len, mode, true, err);
}

static int make_dir(const char *path, mode_t mode)
{
    struct stat info;

    if (mkdir(path, mode) == 0) {
        return 0;
    }
    /* For an existing folder, mkdir() may also fail with EROFS, EACCES and the like. */
    int failed = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return 0;
    }
    errno = failed == EEXIST ? ENOTDIR : failed;
    return -1;
}

int file_make_dirs(const char *path, mode_t mode, struct error *err)
{
    AUTO_FREE char *part = xstrdup(path);
    size_t i = 0;

    do {
        i += strspn(part + i, "/");
        i += strcspn(part + i, "/");
        char kept = part[i];
        part[i] = '\0';
        if (make_dir(part, mode) != 0) {
            return error_set_errno(err, &kind_local, errno, "cannot create folder '%s'", part);
        }
        part[i] = kept;
    } while (part[i] != '\0');
    return 0;
}

/*
 * Does path still name the file of fd? After a holder has removed the lock file, a waiter has the old file
 * open.
 */
static bool is_file_of(const char *path, int fd)
{
    struct stat there, here;

    return stat(path, &there) == 0 && fstat(fd, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
}

int file_lock(const char *path, unsigned wait_ms, struct error *err)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    int64_t deadline = clock_mono_ms() + (int64_t)wait_ms;

    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd < 0) {
            return error_set_errno(err, &kind_local, errno, "cannot lock '%s'", path);
        }
        for (;;) {
            if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
                break;
            }
            int failed = errno;
            if (failed != EWOULDBLOCK && failed != EINTR) {
                close(fd);
                errno = failed;
                return error_set_errno(err, &kind_local, failed, "cannot lock '%s'", path);
            }
            if (clock_mono_ms() >= deadline) {
                close(fd);
                return -2;
            }
            /* flock() has no time limit, and an alarm would affect the whole process. */
            nanosleep(&pause, NULL);
        }
        if (is_file_of(path, fd)) {
            return fd;
        }
        close(fd);
    }
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

char *path_join(const char *folder, const char *name)
{
    size_t len = strlen(folder);

    if (name[0] == '/' || len == 0) {
        return xstrdup(name);
    }
    return xasprintf("%s%s%s", folder, folder[len - 1] == '/' ? "" : "/", name);
}

char *path_folder(const char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') { /* trailing slashes: "a/b/" is in "a" */
        len--;
    }
    while (len > 0 && path[len - 1] != '/') {
        len--;
    }
    if (len == 0) {
        return xstrdup(".");
    }
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    return xstrndup(path, len);
}

char *path_expand_home(const char *path, const char *home)
{
    size_t name = path[0] == '~' ? strcspn(path + 1, "/") : 0;
    const char *rest = path + 1 + name;

    if (!home || path[0] != '~') {
        return xstrdup(path);
    }
    if (name > 0) {
        AUTO_FREE char *user = xstrndup(path + 1, name);
        const struct passwd *entry = getpwnam(user);
        if (!entry) {
            return xstrdup(path);
        }
        home = entry->pw_dir;
    }
    if (*rest == '\0') {
        return xstrdup(home);
    }
    return path_join(home, rest + strspn(rest, "/"));
}
