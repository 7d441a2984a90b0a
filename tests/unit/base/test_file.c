/* Files: whole reads, atomic writes and their failures, folders, locks between processes, paths. */
#include <dirent.h>
#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "test.h"

#define LIMIT_MS 20000 /* how long a test waits for what must happen */

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder);

    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(entries);
    return count;
}

static void assert_content(const char *path, const char *want)
{
    AUTO_STR struct str got = STR_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(file_read(path, 1 << 20, &got, &err), 0);
    assert_string_equal(str_text(&got), want);
}

static mode_t mode_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

/* As root, a file renamed onto /dev/null would break the machine. */
static void test_a_device_or_a_link_is_not_replaced(void **state)
{
    AUTO_FREE char *pipe = path_join(*state, "pipe");
    AUTO_FREE char *link = path_join(*state, "link");
    AUTO_FREE char *path = path_join(*state, "file");
    struct error err = ERROR_INIT;
    struct stat info;
    char got[8] = "";

    assert_int_equal(mkfifo(pipe, 0600), 0);
    int fd = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_write_atomic(pipe, "text", 4, 0600, &err), 0);
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(fd);
    assert_true(stat(pipe, &info) == 0 && S_ISFIFO(info.st_mode));

    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(file_write_atomic(path, "old", 3, 0600, &err), 0);
    assert_int_equal(file_write_atomic(link, "new", 3, 0600, &err), 0);
    assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    assert_content(path, "new");
}

static void test_write_then_read(void **state)
{
    AUTO_FREE char *path = path_join(*state, "run.json");
    AUTO_STR struct str got = STR_INIT;
    struct error err = ERROR_INIT;
    mode_t mask = umask(077);

    assert_int_equal(file_write_atomic(path, "a\0b", 3, 0644, &err), 0);
    umask(mask);
    assert_int_equal(mode_of(path), 0644);
    str_add(&got, "before ");
    assert_int_equal(file_read(path, 3, &got, &err), 0);
    assert_int_equal(got.len, 10);
    assert_memory_equal(got.data, "before a\0b", 11);

    assert_int_equal(file_write_atomic(path, "", 0, 0600, &err), 0);
    assert_content(path, "");
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(count_entries(*state), 1);
}

static void test_large_file(void **state)
{
    AUTO_FREE char *path = path_join(*state, "log");
    AUTO_STR struct str bytes = STR_INIT;
    AUTO_STR struct str got = STR_INIT;
    struct error err = ERROR_INIT;

    for (int i = 0; i < 20000; i++) {
        str_addf(&bytes, "line %d\n", i);
    }
    assert_int_equal(file_write_atomic(path, bytes.data, bytes.len, 0600, &err), 0);
    assert_int_equal(file_read(path, bytes.len, &got, &err), 0);
    assert_int_equal(got.len, bytes.len);
    assert_memory_equal(got.data, bytes.data, bytes.len);

    /* One byte more than allowed: refused, and nothing is left in the string. */
    assert_int_equal(file_read(path, bytes.len - 1, &got, &err), -1);
    assert_int_equal(errno, EFBIG);
    assert_true(error_is(&err, &kind_local));
    AUTO_FREE char *want = xasprintf("cannot read '%s': larger than %zu bytes", path, bytes.len - 1);
    assert_string_equal(err.text, want);
    assert_int_equal(got.len, bytes.len);
}

static void test_read_failures(void **state)
{
    AUTO_FREE char *missing = path_join(*state, "missing");
    AUTO_STR struct str got = STR_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(file_read(missing, 10, &got, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_true(error_is(&err, &kind_local));
    AUTO_FREE char *want = xasprintf("cannot read '%s': no such file or directory", missing);
    assert_string_equal(err.text, want);

    assert_int_equal(file_read(*state, 10, &got, &err), -1);
    assert_int_equal(errno, EISDIR);
    AUTO_FREE char *want_folder = xasprintf("cannot read '%s': is a directory", (char *)*state);
    assert_string_equal(err.text, want_folder);
    assert_int_equal(got.len, 0);
}

static void test_write_without_a_folder(void **state)
{
    AUTO_FREE char *missing = path_join(*state, "none/run.json");
    AUTO_FREE char *file = path_join(*state, "file");
    AUTO_FREE char *under = path_join(file, "run.json");
    struct error err = ERROR_INIT;

    assert_int_equal(file_write_atomic(missing, "x", 1, 0600, &err), -1);
    assert_int_equal(errno, ENOENT);
    AUTO_FREE char *want = xasprintf("cannot write '%s': no such file or directory", missing);
    assert_string_equal(err.text, want);

    assert_int_equal(file_write_atomic(file, "x", 1, 0600, &err), 0);
    assert_int_equal(file_write_atomic(under, "x", 1, 0600, &err), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_true(error_is(&err, &kind_local));
    assert_int_equal(count_entries(*state), 1);
}

static void test_full_disk_keeps_the_old_file(void **state)
{
    AUTO_FREE char *path = path_join(*state, "run.json");
    struct error err = ERROR_INIT;
    struct rlimit old, small;
    char bytes[4096] = {0};

    assert_int_equal(file_write_atomic(path, "old", 3, 0600, &err), 0);
    /* A limit of the file's size stands for the full disk: part of the bytes can be written. */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int result = file_write_atomic(path, bytes, sizeof bytes, 0600, &err);
    int reason = errno;
    int appended = file_append(path, bytes, sizeof bytes, 0600, NULL);
    int synced = file_append_sync(path, bytes, sizeof bytes, 0600, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);

    assert_int_equal(result, -1);
    assert_int_equal(reason, EFBIG);
    assert_int_equal(appended, -1);
    assert_int_equal(synced, -1);
    AUTO_FREE char *want = xasprintf("cannot write '%s': file too large", path);
    assert_string_equal(err.text, want);
    assert_int_equal(count_entries(*state), 1);
    AUTO_STR struct str got = STR_INIT;
    assert_int_equal(file_read(path, 4096, &got, &err), 0);
    assert_int_equal(got.len, 3); /* no part of what was appended */
    assert_memory_equal(got.data, "old", 3);
}

static void test_folder_in_the_way_leaves_no_temp(void **state)
{
    AUTO_FREE char *path = path_join(*state, "run.json");
    struct error err = ERROR_INIT;

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(file_write_atomic(path, "x", 1, 0600, &err), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(count_entries(*state), 1);
}

static void test_append(void **state)
{
    AUTO_FREE char *path = path_join(*state, "events.jsonl");
    struct error err = ERROR_INIT;

    assert_int_equal(file_append(path, "one\n", 4, 0600, &err), 0);
    assert_int_equal(file_append(path, "two\n", 4, 0644, &err), 0);
    assert_int_equal(file_append_sync(path, "three\n", 6, 0644, &err), 0);
    assert_content(path, "one\ntwo\nthree\n");
    assert_int_equal(mode_of(path), 0600);

    assert_int_equal(file_append("/dev/full", "x", 1, 0600, &err), -1);
    assert_int_equal(errno, ENOSPC);
    assert_true(error_is(&err, &kind_local));
    assert_string_equal(err.text, "cannot append to '/dev/full': no space left on device");
    assert_int_equal(file_append(*state, "x", 1, 0600, &err), -1);
    assert_int_equal(errno, EISDIR);
}

static void test_make_dirs(void **state)
{
    AUTO_FREE char *deep = path_join(*state, "a//b/c/");
    AUTO_FREE char *top = path_join(*state, "a");
    struct error err = ERROR_INIT;

    assert_int_equal(file_make_dirs(deep, 0700, &err), 0);
    assert_int_equal(mode_of(deep), 0700);
    assert_int_equal(mode_of(top), 0700);
    assert_int_equal(file_make_dirs(deep, 0755, &err), 0);
    assert_int_equal(mode_of(deep), 0700);
    assert_int_equal(file_make_dirs("/", 0700, &err), 0);
    assert_int_equal(file_make_dirs(".", 0700, &err), 0);
}

static void test_make_dirs_failures(void **state)
{
    AUTO_FREE char *file = path_join(*state, "file");
    AUTO_FREE char *under = path_join(*state, "file/x/y");
    struct error err = ERROR_INIT;

    assert_int_equal(file_append(file, "", 0, 0600, &err), 0);
    assert_int_equal(file_make_dirs(file, 0700, &err), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_true(error_is(&err, &kind_local));
    AUTO_FREE char *want = xasprintf("cannot create folder '%s': not a directory", file);
    assert_string_equal(err.text, want);
    assert_int_equal(file_make_dirs(under, 0700, &err), -1);
    assert_string_equal(err.text, want); /* what is in the way is named, not what lies below it */
    assert_int_equal(file_make_dirs("/proc/none", 0700, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(file_make_dirs("", 0700, &err), -1);
}

/* A process that holds the lock until a byte comes, or that is killed. */
struct holder {
    pid_t pid;
    int to, from;
};

static struct holder start_holder(const char *path)
{
    int to[2], from[2];
    char byte;

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    struct holder holder = {.to = to[1], .from = from[0]};
    holder.pid = fork_child();
    if (holder.pid == 0) {
        close(to[1]);
        int fd = file_lock(path, 0, NULL);
        if (fd < 0 || write(from[1], "l", 1) != 1 || read(to[0], &byte, 1) < 0) {
            _exit(1);
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    assert_int_equal(read(holder.from, &byte, 1), 1);
    return holder;
}

static void close_holder(struct holder *holder)
{
    close(holder->to);
    close(holder->from);
}

static void test_lock_is_exclusive_between_processes(void **state)
{
    AUTO_FREE char *path = path_join(*state, "lock");
    struct error err = ERROR_INIT;
    struct holder holder = start_holder(path);

    assert_int_equal(file_lock(path, 0, &err), -2);
    assert_null(err.kind);
    int64_t before = clock_mono_ms();
    assert_int_equal(file_lock(path, 60, &err), -2);
    assert_true(clock_mono_ms() - before >= 60);

    assert_int_equal(write(holder.to, "x", 1), 1);
    int fd = file_lock(path, LIMIT_MS, &err);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(wait_for(holder.pid), 0);
    close_holder(&holder);
    /* A second lock of this same process is refused as well. */
    assert_int_equal(file_lock(path, 0, &err), -2);
    close(fd);
    fd = file_lock(path, 0, &err);
    assert_true(fd >= 0);
    close(fd);
}

static void test_lock_of_a_killed_process_is_free(void **state)
{
    AUTO_FREE char *path = path_join(*state, "lock");
    struct error err = ERROR_INIT;
    struct holder holder = start_holder(path);

    kill(holder.pid, SIGKILL);
    assert_int_equal(wait_for(holder.pid), 128 + SIGKILL);
    close_holder(&holder);
    AUTO_CLOSE int fd = file_lock(path, 0, &err);
    assert_true(fd >= 0);
}

/* Wait until the process has path open. */
static void wait_for_open(pid_t pid, const char *path)
{
    AUTO_FREE char *folder = xasprintf("/proc/%d/fd", (int)pid);
    int64_t deadline = clock_mono_ms() + LIMIT_MS;

    for (bool seen = false; !seen;) {
        assert_true(clock_mono_ms() < deadline);
        DIR *entries = opendir(folder);
        assert_non_null(entries);
        for (struct dirent *entry; (entry = readdir(entries)) != NULL && !seen;) {
            char target[512];
            ssize_t len = readlinkat(dirfd(entries), entry->d_name, target, sizeof target - 1);
            if (len > 0) {
                target[len] = '\0';
                seen = strcmp(target, path) == 0;
            }
        }
        closedir(entries);
    }
}

static void test_lock_file_removed_by_its_holder(void **state)
{
    AUTO_FREE char *path = path_join(*state, "lock");
    int held = file_lock(path, 0, NULL), ready[2];
    char byte;

    assert_true(held >= 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        struct stat here, there;
        close(held); /* so that what is open from now on is the child's own */
        if (write(ready[1], "c", 1) != 1) {
            _exit(2);
        }
        int fd = file_lock(path, LIMIT_MS, NULL);
        if (fd < 0 || fstat(fd, &here) != 0 || stat(path, &there) != 0 || here.st_ino != there.st_ino) {
            _exit(1);
        }
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    wait_for_open(pid, path);
    assert_int_equal(unlink(path), 0);
    close(held);
    assert_int_equal(wait_for(pid), 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_lock_failures(void **state)
{
    AUTO_FREE char *missing = path_join(*state, "none/lock");
    struct error err = ERROR_INIT;

    assert_int_equal(file_lock(missing, 0, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_true(error_is(&err, &kind_local));
    AUTO_FREE char *want = xasprintf("cannot lock '%s': no such file or directory", missing);
    assert_string_equal(err.text, want);
}

static void test_exists(void **state)
{
    AUTO_FREE char *path = path_join(*state, "file");
    AUTO_FREE char *link = path_join(*state, "link");

    assert_false(file_exists(path));
    assert_int_equal(symlink(path, link), 0);
    assert_false(file_exists(link));
    assert_int_equal(file_append(path, "", 0, 0600, NULL), 0);
    assert_true(file_exists(path));
    assert_true(file_exists(link));
    assert_true(file_exists(*state));
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *joined;
    } joins[] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}, {"", "b", "b"}, {"/", "b", "/b"},
    };
    static const char *const folders[][2] = {
        {"a/b", "a"},  {"a", "."}, {"/a", "/"},  {"/", "/"},  {"a//b", "a"},
        {"a/b/", "a"}, {"", "."},  {"//a", "/"}, {"a/", "."}, {"/a/b/c.yaml", "/a/b"},
    };
    static const char *const homes[][2] = {
        {"~", "/home/u"},   {"~/x", "/home/u/x"}, {"~//x", "/home/u/x"},
        {"~/", "/home/u/"}, {"~v/x", "~v/x"},     {"a/~", "a/~"},
        {"", ""},
    };

    FOR_ROWS(i, joins, joins[i].a) {
        AUTO_FREE char *got = path_join(joins[i].a, joins[i].b);
        assert_string_equal(got, joins[i].joined);
    }
    FOR_ROWS(i, folders, folders[i][0]) {
        AUTO_FREE char *got = path_folder(folders[i][0]);
        assert_string_equal(got, folders[i][1]);
    }
    FOR_ROWS(i, homes, homes[i][0]) {
        AUTO_FREE char *got = path_expand_home(homes[i][0], "/home/u");
        assert_string_equal(got, homes[i][1]);
    }
    AUTO_FREE char *kept = path_expand_home("~/x", NULL);
    assert_string_equal(kept, "~/x");
    const struct passwd *caller = getpwuid(getuid());
    if (caller == NULL) {
        return;
    }
    AUTO_FREE char *named = xasprintf("~%s/k/x.key", caller->pw_name);
    AUTO_FREE char *got = path_expand_home(named, "/home/u");
    AUTO_FREE char *wanted = path_join(caller->pw_dir, "k/x.key");
    assert_string_equal(got, wanted);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_device_or_a_link_is_not_replaced),
        IN_FOLDER(test_write_then_read),
        IN_FOLDER(test_large_file),
        IN_FOLDER(test_read_failures),
        IN_FOLDER(test_write_without_a_folder),
        IN_FOLDER(test_full_disk_keeps_the_old_file),
        IN_FOLDER(test_folder_in_the_way_leaves_no_temp),
        IN_FOLDER(test_append),
        IN_FOLDER(test_make_dirs),
        IN_FOLDER(test_make_dirs_failures),
        IN_FOLDER(test_lock_is_exclusive_between_processes),
        IN_FOLDER(test_lock_of_a_killed_process_is_free),
        IN_FOLDER(test_lock_file_removed_by_its_holder),
        IN_FOLDER(test_lock_failures),
        IN_FOLDER(test_exists),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests_name("base/file", tests, NULL, NULL);
}
