/*
 * Stands in for a quota, which the kernels that tests run on may lack: loaded into every program of a node
 * (/etc/ld.so.preload), it fails what would make a file below QUOTA_FOLDER longer than QUOTA_BYTES.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef fwrite_unlocked

static int is_above(int fd, size_t count)
{
    char link[64], path[4096];
    struct stat what;

    if (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode)) { /* sshd's sandbox allows no more than this */
        return 0;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len < 0) {
        return 0;
    }
    path[len] = '\0';
    return strncmp(path, QUOTA_FOLDER, strlen(QUOTA_FOLDER)) == 0 &&
           (size_t)what.st_size + count > QUOTA_BYTES;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

    if (is_above(fd, count)) {
        errno = EDQUOT;
        return -1;
    }
    return real(fd, bytes, count);
}

size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file)
{
    size_t (*real)(const void *, size_t, size_t, FILE *) =
        (size_t(*)(const void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fwrite_unlocked");

    if (is_above(fileno(file), size * count)) {
        errno = EDQUOT;
        return 0;
    }
    return real(bytes, size, count, file);
}

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t count, unsigned flags)
{
    (void)from;
    (void)from_at;
    (void)to;
    (void)to_at;
    (void)count;
    (void)flags;
    errno = ENOSYS; /* then it is read and written */
    return -1;
}
