/*
 * The counter that names the runs of a job (JOB-N). It never decreases: the number of a removed run is not
 * reused.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "model/job.h"
#include "model/kind.h"
#include "run/store.h"

#define COUNTERS_FOLDER ".counters" /* no run can have this name: run names start with a letter or digit */
#define COUNTER_WAIT_MS 10000
#define COUNTER_MAX     UINT64_C(999999999)

/* The number in a run's name JOB-N; 0: the name does not have this form. */
static uint64_t number_of(const char *job, const char *name)
{
    size_t len = strlen(job);
    uint64_t number = 0;
    if (strncmp(name, job, len) != 0 || name[len] != '-' || name[len + 1] == '0' ||
        !text_to_uint(name + len + 1, 1, COUNTER_MAX, &number)) {
        return 0;
    }
    return number;
}

static int read_counter(const char *path, uint64_t *out, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    *out = 0;
    if (!file_exists(path)) {
        return 0;
    }
    if (file_read(path, 64, &text, err) != 0) {
        return -1;
    }
    while (text.len > 0 && text.data[text.len - 1] == '\n') {
        str_truncate(&text, text.len - 1);
    }
    if (text_to_uint(str_text(&text), 0, COUNTER_MAX, out)) {
        return 0;
    }
    error_set(err, &kind_local, "the counter '%s' is damaged: it contains no number", path);
    return error_hint(err, "write the highest number used so far into it, or give the run a name");
}

/* The counter of a job, at least as high as the numbers of the existing runs. */
static int current(const struct run_store *store, const char *job, const char *path, uint64_t *out,
                   struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    if (read_counter(path, out, err) != 0 || run_store_names(store, &names, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < names.len; i++) {
        uint64_t number = number_of(job, names.items[i]);
        *out = number > *out ? number : *out;
    }
    return 0;
}

static int write_counter(const char *path, uint64_t number, struct error *err)
{
    AUTO_FREE char *text = xasprintf("%" PRIu64 "\n", number);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

/* Create the folder and take the lock of the job's counter. Returns a descriptor, or -1. */
static int lock_counter(const struct run_store *store, const char *job, struct error *err)
{
    AUTO_FREE char *folder = path_join(store->root, COUNTERS_FOLDER);
    AUTO_FREE char *path = xasprintf("%s/.%s.lock", folder, job);
    if (file_make_dirs(folder, 0700, err) != 0) {
        return -1;
    }
    int lock = file_lock(path, COUNTER_WAIT_MS, err);
    if (lock == -2) {
        return error_set(err, &kind_local, "the counter of job '%s' is held by another command", job);
    }
    return lock;
}

static int check_job(const char *job, struct error *err)
{
    AUTO_FREE char *name = xasprintf("%s-%" PRIu64, job, COUNTER_MAX);
    if (job_check_run_name(name, NULL) == 0) {
        return 0;
    }
    error_set(err, &kind_usage, "no run name can be made from the job's name '%s'", job);
    return error_hint(err, "name the run: 'mtlaunch start JOB RUN', RUN of letters, digits, '.', '_', '-'");
}

int run_store_next_name(const struct run_store *store, const char *job, bool take, char **name,
                        struct error *err)
{
    uint64_t number = 0;
    if (check_job(job, err) != 0) {
        return -1;
    }
    AUTO_FREE char *path = xasprintf("%s/%s/%s", store->root, COUNTERS_FOLDER, job);
    AUTO_CLOSE int lock = take ? lock_counter(store, job, err) : -1;
    if ((take && lock < 0) || current(store, job, path, &number, err) != 0) {
        return -1;
    }
    number++;
    if (number > COUNTER_MAX) {
        return error_set(err, &kind_local, "the counter of job '%s' has reached its end", job);
    }
    if (take && write_counter(path, number, err) != 0) {
        return -1;
    }
    *name = xasprintf("%s-%" PRIu64, job, number);
    return 0;
}

int run_store_raise_counter(const struct run_store *store, const char *job, const char *name,
                            struct error *err)
{
    uint64_t number = number_of(job, name);
    uint64_t now = 0;
    if (number == 0 || check_job(job, NULL) != 0) {
        return 0;
    }
    AUTO_FREE char *path = xasprintf("%s/%s/%s", store->root, COUNTERS_FOLDER, job);
    AUTO_CLOSE int lock = lock_counter(store, job, err);
    if (lock < 0) {
        return -1;
    }
    if (read_counter(path, &now, NULL) == 0 && now >= number) {
        return 0;
    }
    return write_counter(path, number, err);
}
