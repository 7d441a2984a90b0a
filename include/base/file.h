/* Files on this machine: whole reads with a limit, atomic writes, locks, folders. Errors: kind_local. */
#ifndef MTLAUNCH_BASE_FILE_H
#define MTLAUNCH_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Append the whole file to out; more than max_bytes is an error (errno EFBIG). On an error, out is unchanged.
 * All functions here keep errno for the caller (ENOENT: no such file).
 */
int file_read(const char *path, size_t max_bytes, struct str *out, struct error *err);

/*
 * Temp file beside path, write, fsync, rename, fsync of the folder. A symbolic link stays and its target is
 * replaced; a device, a FIFO or a socket is written to, not replaced. The file gets exactly mode. On an error
 * the old file is untouched and no temporary file is left. The one exception: if only the last step fails,
 * the fsync of the folder, the new file is in place.
 */
int file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);

/*
 * Append bytes in one write() with O_APPEND; a new file gets mode (less the umask). If the disk fills up, the
 * part that was written is removed again, unless another process has appended in the meantime.
 * file_append_sync() returns when the bytes are on the disk, which takes milliseconds.
 */
int file_append(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);
int file_append_sync(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);

/* mkdir -p: new folders get mode (less the umask), existing folders are left as they are. */
int file_make_dirs(const char *path, mode_t mode, struct error *err);

/*
 * Take an exclusive lock (flock) on path, which is created if it does not exist. Waits up to wait_ms (0: do
 * not wait). Returns the descriptor that holds the lock (close releases it, as does the end of the process;
 * an exec'd program does not inherit it, a forked process does), -1 on error, -2 if another process still
 * holds it (err is then unchanged). A holder may remove path before it releases the lock.
 */
int file_lock(const char *path, unsigned wait_ms, struct error *err);

bool file_exists(const char *path); /* true for any file type; false for a dangling link */

char *path_join(const char *folder, const char *name); /* name unchanged when absolute; caller frees */
char *path_folder(const char *path);                   /* "." when there is none; caller frees */
/* Replace "~" with home and "~user" with that user's home, if the user is known. The caller frees. */
char *path_expand_home(const char *path, const char *home);

#endif
