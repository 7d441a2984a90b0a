/* Appends lines to known_hosts files, which other processes may write to at the same time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/known_hosts.h"

#define LOCK_MS 5000

/* text: a line with its line end; in the file it may have another line end, or a comment after it. */
static bool has_line(const struct str *file, const char *text)
{
    size_t len = strcspn(text, "\n");

    for (const char *at = str_text(file); at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, text, len) == 0 && strchr(" \t\r\n", at[len])) { /* or the end of the file */
            return true;
        }
    }
    return false;
}

/* Errors that mean that nothing can ever be written there; other errors are reported. */
bool known_hosts_is_unwritable(int code)
{
    return code == EROFS || code == EACCES || code == EPERM || code == ENOENT;
}

bool known_hosts_keeps(const char *path)
{
    AUTO_FREE char *folder = path_folder(path);
    AUTO_FREE char *own = path_expand_home("~/.ssh", getenv("HOME"));
    struct stat st;

    if (stat(path, &st) == 0) {
        return S_ISREG(st.st_mode) && access(path, W_OK) == 0;
    }
    if (errno != ENOENT) {
        return false;
    }
    return file_exists(folder) ? access(folder, W_OK | X_OK) == 0 : strcmp(folder, own) == 0;
}

/* Like ssh, create no folder except the caller's ~/.ssh. */
static int make_folder(const char *path, struct error *err)
{
    AUTO_FREE char *folder = path_folder(path);
    AUTO_FREE char *own = path_expand_home("~/.ssh", getenv("HOME"));

    if (file_exists(folder)) {
        return 0;
    }
    if (strcmp(folder, own) == 0 && mkdir(folder, 0700) == 0) {
        return 0;
    }
    if (errno == EEXIST) { /* another process has created it */
        return 0;
    }
    return error_set_errno(err, &kind_local, errno, "cannot write '%s'", path);
}

/* Append the line unless the file has it. */
static int append_line(const char *path, const char *text, bool *added, struct error *err)
{
    AUTO_STR struct str old = STR_INIT, line = STR_INIT;

    if (file_exists(path) && file_read(path, KNOWN_HOSTS_MAX_BYTES, &old, err) != 0) {
        return -1;
    }
    if (has_line(&old, text)) {
        return 0;
    }
    if (old.len > 0 && str_text(&old)[old.len - 1] != '\n') {
        str_add_char(&line, '\n');
    }
    str_add(&line, text);
    if (added) {
        *added = true;
    }
    return file_append_sync(path, str_text(&line), line.len, 0600, err);
}

/* Other processes append keys, too, so a lock is taken, except in a folder where no lock file can be created.
 */
int known_hosts_append(const char *path, const char *text, bool *added, struct error *err)
{
    AUTO_FREE char *lock_path = xasprintf("%s.mtlaunch-lock", path);
    struct error trouble = ERROR_INIT;
    struct stat st;
    int lock, failed, code;

    if (added) {
        *added = false;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* /dev/null */
        return 0;
    }
    if (make_folder(path, err) != 0) {
        return -1;
    }
    lock = file_lock(lock_path, LOCK_MS, &trouble);
    code = errno;
    if (lock == -2) {
        return error_set(err, &kind_local, "'%s' is locked by another process for more than %d s", path,
                         LOCK_MS / 1000);
    }
    if (lock < 0 && known_hosts_is_unwritable(code) && access(path, W_OK) == 0) {
        return append_line(path, text, added, err);
    }
    if (lock < 0) {
        if (err) {
            *err = trouble;
        }
        errno = code;
        return -1;
    }
    failed = append_line(path, text, added, err);
    code = errno;
    unlink(lock_path);
    close(lock);
    errno = code;
    return failed;
}
