/* Finds and registers the supervisor of a run, with a lock and a file that says where it is. */
#include "run/supervisor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#define FILE_MAX_BYTES  4096
#define LOCKS_FOLDER    ".supervisors" /* no run can have this name: run names start with a letter or digit */
#define BELIEVED_FOR_MS (180 * 1000)

static char *supervisor_file(const struct run_store *store, const char *name)
{
    return xasprintf("%s/%s/supervisor", store->root, name);
}

static char *machine_name(void)
{
    struct utsname names;
    return xstrdup(uname(&names) == 0 ? names.nodename : "?");
}

static char *boot_id(void)
{
    AUTO_STR struct str text = STR_INIT;
    if (file_read("/proc/sys/kernel/random/boot_id", 128, &text, NULL) != 0 || text.len == 0) {
        return xstrdup("?");
    }
    str_truncate(&text, strcspn(text.data, "\n"));
    return str_detach(&text);
}

/* Field 22 of /proc/PID/stat (proc(5)), counted from the last parenthesis of the name; 0: no such process. */
static int64_t start_ticks(int64_t pid)
{
    AUTO_FREE char *path = xasprintf("/proc/%lld/stat", (long long)pid);
    AUTO_STR struct str text = STR_INIT;
    if (file_read(path, FILE_MAX_BYTES, &text, NULL) != 0) {
        return 0;
    }
    const char *at = strrchr(str_text(&text), ')');
    if (!at || at[1] != ' ' || at[2] == 'Z') {
        return 0;
    }
    for (int field = 2; field < 22 && at; field++) {
        at = strchr(at + 1, ' ');
    }
    return at ? strtoll(at + 1, NULL, 10) : 0;
}

static void judge(const json_t *object, struct run_supervisor *out)
{
    const char *host = json_string_value(json_object_get(object, "host"));
    const char *boot = json_string_value(json_object_get(object, "boot_id"));
    AUTO_FREE char *own_host = machine_name();
    AUTO_FREE char *own_boot = boot_id();
    if (!host || !boot) {
        return;
    }
    out->host = xstrdup(host);
    out->pid = json_integer_value(json_object_get(object, "pid"));
    if (strcmp(host, own_host) == 0) {
        out->here = strcmp(boot, own_boot) == 0;
        out->alive = out->here && out->pid > 0 &&
                     start_ticks(out->pid) == json_integer_value(json_object_get(object, "start_ticks"));
        return;
    }
    out->alive = clock_real_ms() - json_integer_value(json_object_get(object, "beat_ms")) < BELIEVED_FOR_MS;
}

void run_supervisor_find(const struct run_store *store, const char *name, struct run_supervisor *out)
{
    AUTO_FREE char *path = supervisor_file(store, name);
    AUTO_STR struct str text = STR_INIT;
    *out = (struct run_supervisor){0};
    if (file_read(path, FILE_MAX_BYTES, &text, NULL) != 0) {
        return;
    }
    json_t *object = json_loadb(str_text(&text), text.len, 0, NULL);
    judge(object, out);
    json_decref(object);
}

void run_supervisor_release(struct run_supervisor *supervisor)
{
    free(supervisor->host);
    *supervisor = (struct run_supervisor){0};
}

int run_supervisor_beat(const struct run_store *store, const char *name, struct error *err)
{
    AUTO_FREE char *path = supervisor_file(store, name);
    AUTO_FREE char *host = machine_name();
    AUTO_FREE char *boot = boot_id();
    AUTO_STR struct str clean = STR_INIT;
    text_add_utf8(&clean, host, strlen(host));
    json_t *object = json_object();
    json_object_set_new(object, "host", json_string(str_text(&clean)));
    json_object_set_new(object, "pid", json_integer(getpid()));
    json_object_set_new(object, "start_ticks", json_integer((json_int_t)start_ticks(getpid())));
    json_object_set_new(object, "boot_id", json_string(boot));
    json_object_set_new(object, "beat_ms", json_integer((json_int_t)clock_real_ms()));
    AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

int run_supervisor_enter(const struct run_store *store, const char *name, struct run_supervisor *other,
                         struct error *err)
{
    struct run_supervisor found;
    AUTO_FREE char *folder = path_join(store->root, LOCKS_FOLDER);
    AUTO_FREE char *path = xasprintf("%s/%s/%s", store->root, LOCKS_FOLDER, name);
    if (file_make_dirs(folder, 0700, err) != 0) {
        return -1;
    }
    int lock = file_lock(path, 0, err);
    if (lock == -1) {
        return -1;
    }
    run_supervisor_find(store, name, &found);
    /* Locks in a shared folder may not work across machines, so the file counts for other machines. */
    bool taken = lock == -2 || (found.host && !found.here && found.alive);
    if (!taken && run_supervisor_beat(store, name, err) != 0) {
        close(lock);
        run_supervisor_release(&found);
        return -1;
    }
    if (taken && lock >= 0) {
        close(lock);
    }
    if (taken && other) {
        *other = found;
        return -2;
    }
    run_supervisor_release(&found);
    return taken ? -2 : lock;
}

void run_supervisor_leave(const struct run_store *store, const char *name, int lock)
{
    AUTO_FREE char *path = supervisor_file(store, name);
    unlink(path);
    close(lock);
}
