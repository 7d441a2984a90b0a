/* Files on this machine: whole reads with a limit, atomic writes, locks, folders. Errors: kind_local. */
#ifndef MTLAUNCH_BASE_FILE_H
#define MTLAUNCH_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Append the whole file to out; more than max_bytes is an error (errno EFBIG). On an error out is as it
 * was, and errno is kept for the caller (ENOENT: no such file). This holds for all functions here.
 */
int file_read(const char *path, size_t max_bytes, struct str *out, struct error *err);

/*
 * Temp file beside path, write, fsync, rename, fsync of the folder. The file gets exactly mode. On an error
 * the old file is untouched and no temporary file is left. Only if the last step, the fsync of the folder,
 * failed, is the new file in place.
 */
int file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);

/*
 * Append bytes in one write() with O_APPEND, making the file with mode (less the umask). When the disk fills
 * up the part that was written is taken out again, unless another process appended meanwhile. The second
 * returns when the bytes are on the disk, which takes milliseconds.
 */
int file_append(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);
int file_append_sync(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err);

/* mkdir -p; folders made get mode (less the umask), those that are there stay as they are. */
int file_make_dirs(const char *path, mode_t mode, struct error *err);

/*
 * Take an exclusive lock (flock) on path, made if absent. Waits up to wait_ms (0: do not wait).
 * Returns the descriptor that holds the lock (close releases it, as does the end of the process; a
 * program that is exec'd does not inherit it, a fork does), -1 on error, -2 when somebody else still
 * holds it (err is left alone then). A holder may remove path before it lets go.
 */
int file_lock(const char *path, unsigned wait_ms, struct error *err);

bool file_exists(const char *path); /* or anything else of that name; a dangling link does not count */

char *path_join(const char *folder, const char *name); /* name unchanged when absolute; caller frees */
char *path_folder(const char *path);                   /* "." when there is none; caller frees */
/* "~" and "~/…" stand for home, "~user" for that user's; an unknown user's stays. The caller frees. */
char *path_expand_home(const char *path, const char *home);

#endif
