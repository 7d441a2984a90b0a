/* One saved log: verifies and continues an existing file, or moves it out of the way. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "save_internal.h"

#define CHECK_BYTES 4096
#define OLDER_MAX   1000000
#define RECORD_MAX  ((size_t)16 << 20)

static void set_check(struct save_file *file)
{
    file->check = file->had < CHECK_BYTES ? file->had : CHECK_BYTES;
    file->compared = 0;
}

void save_file_init(struct save_file *file, char *path, const char *known, const char *identity)
{
    struct stat what;
    *file = (struct save_file){.path = path, .fd = -1};
    if (lstat(path, &what) != 0) {
        return;
    }
    if (!known || !S_ISREG(what.st_mode)) {
        file->reason = SAVE_UNKNOWN;
    } else if (strcmp(known, identity) != 0) {
        file->reason = SAVE_ATTEMPT;
    } else {
        file->had = (uint64_t)what.st_size;
        set_check(file);
    }
}

void save_file_release(struct save_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    free(file->path);
    free(file->older);
    *file = (struct save_file){.fd = -1};
}

uint64_t save_file_offset(const struct save_file *file)
{
    return file->had - file->check;
}

static int write_failed(const struct save_file *file, struct error *err)
{
    const int saved = errno;
    error_set_errno(err, &kind_local, saved, "cannot write '%s'", file->path);
    if (saved == ENOSPC || saved == EDQUOT) {
        return error_hint(err, "free some space there and repeat the command: it resumes where it stopped");
    }
    return -1;
}

/* The file does not contain the beginning of the log: start over in a new file. */
static int begin_again(struct save_file *file, enum save_reason reason)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
    file->reason = reason;
    file->had = 0;
    set_check(file);
    return 1;
}

static int move_away(struct save_file *file, struct error *err)
{
    struct stat what;
    for (unsigned i = 1; i < OLDER_MAX; i++) {
        AUTO_STR struct str older = STR_INIT;
        str_addf(&older, "%s.%u", file->path, i);
        if (lstat(str_text(&older), &what) == 0) {
            continue;
        }
        if (rename(file->path, str_text(&older)) != 0) {
            return error_set_errno(err, &kind_local, errno, "cannot rename '%s'", file->path);
        }
        file->older = xstrdup(str_text(&older));
        return 0;
    }
    return error_set(err, &kind_local, "no free name to which '%s' can be moved", file->path);
}

/* Check that nobody else uses the open file, and that its size has not changed. */
static int take(struct save_file *file, struct error *err)
{
    struct stat what;
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 || fstat(file->fd, &what) != 0 ||
        (uint64_t)what.st_size != file->had) {
        error_set(err, &kind_local, "'%s' is being written by another process", file->path);
        return error_hint(err, "wait until the other 'mtlaunch logs --save' has ended");
    }
    return 0;
}

int save_file_begin(struct save_file *file, uint64_t size, struct error *err)
{
    if (size < file->had) {
        return begin_again(file, SAVE_SHORTER);
    }
    const bool is_new = file->had == 0;
    if (file->reason != SAVE_CONTINUED && !file->older && move_away(file, err) != 0) {
        return -1;
    }
    file->fd = open(file->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (is_new ? O_CREAT : 0), 0666);
    if (file->fd < 0) {
        return write_failed(file, err);
    }
    return take(file, err);
}

/* Compare received bytes with the end of the file. Returns how many were compared, or -1 when they differ. */
static ssize_t compare(struct save_file *file, const char *bytes, size_t len)
{
    char there[CHECK_BYTES];
    const uint64_t left = file->check - file->compared;
    const size_t count = len < left ? len : (size_t)left;
    const off_t at = (off_t)(save_file_offset(file) + file->compared);
    if (count == 0) {
        return 0;
    }
    if (pread(file->fd, there, count, at) != (ssize_t)count || memcmp(there, bytes, count) != 0) {
        return -1;
    }
    file->compared += count;
    return (ssize_t)count;
}

int save_file_feed(struct save_file *file, const char *bytes, size_t len, struct error *err)
{
    const ssize_t compared = compare(file, bytes, len);
    if (compared < 0) {
        return begin_again(file, SAVE_CHANGED);
    }
    bytes += compared;
    len -= (size_t)compared;
    while (len > 0) {
        const ssize_t written = write(file->fd, bytes, len);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return write_failed(file, err);
        }
        bytes += written;
        len -= (size_t)written;
        file->added += (uint64_t)written;
    }
    return 0;
}

int save_file_end(struct save_file *file, struct error *err)
{
    int result = 0;
    if (file->fd < 0) {
        return 0;
    }
    if (file->added > 0 && fsync(file->fd) != 0 && errno != EINVAL) {
        result = write_failed(file, err);
    }
    if (close(file->fd) != 0 && result == 0) {
        result = write_failed(file, err);
    }
    file->fd = -1;
    return result;
}

/* --- the record of saved files ------------------------------------------------------------------ */

static char *record_path(const struct run_store *store, const char *run)
{
    AUTO_FREE char *folder = path_join(store->root, run);
    return path_join(folder, "saved.json");
}

json_t *save_record_load(const struct run_store *store, const char *run)
{
    AUTO_FREE char *path = record_path(store, run);
    AUTO_STR struct str text = STR_INIT;
    json_t *record = NULL;
    if (file_read(path, RECORD_MAX, &text, NULL) == 0) {
        record = json_loadb(str_text(&text), text.len, 0, NULL);
    }
    if (!json_is_object(record)) {
        json_decref(record);
        record = json_object();
    }
    return record;
}

const char *save_record_get(const json_t *record, const char *path)
{
    return json_string_value(json_object_get(record, path));
}

int save_record_write(const struct run_store *store, const char *run, const json_t *record, struct error *err)
{
    AUTO_FREE char *path = record_path(store, run);
    char *text = json_dumps(record, JSON_INDENT(1) | JSON_SORT_KEYS);
    const int result = file_write_atomic(path, text ? text : "{}", text ? strlen(text) : 2, 0600, err);
    free(text);
    return result;
}
