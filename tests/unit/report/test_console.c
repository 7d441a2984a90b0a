/* The observer: failures shown once and kept, logs written to their descriptor, output that fails. */

#include "report/console.h"
#include "report/output.h"
#include "report_test.h"

struct fixture {
    struct report_style style;
    struct failures failures;
    struct console console;
    int file; /* the logs */
    int kept_stderr, error_file;
};

static int temporary_file(void)
{
    char path[] = "/tmp/mtlaunch-console-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    fixture->style = REPORT_STYLE_PLAIN;
    fixture->file = temporary_file();
    fixture->error_file = temporary_file();
    fflush(stderr);
    fixture->kept_stderr = dup(STDERR_FILENO);
    dup2(fixture->error_file, STDERR_FILENO);
    console_init(&fixture->console, &fixture->style, &fixture->failures, fixture->file);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    dup2(fixture->kept_stderr, STDERR_FILENO);
    close(fixture->kept_stderr);
    close(fixture->error_file);
    close(fixture->file);
    failures_release(&fixture->failures);
    free(fixture);
    return 0;
}

static void assert_file(int fd, const char *expected)
{
    char buffer[1000];
    ssize_t got = pread(fd, buffer, sizeof buffer - 1, 0);
    assert_true(got >= 0);
    buffer[got] = '\0';
    assert_string_equal(buffer, expected);
}

static void test_logs_reach_their_descriptor(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    observer->log(observer->ctx, 0, "a", "one\ntwo", 7);
    observer->log(observer->ctx, 1, "b", "uno\n", 4);
    assert_file(fixture->file, "a: one\nb: uno\n");
    observer->tick(observer->ctx); /* "two" has not waited long enough */
    assert_file(fixture->file, "a: one\nb: uno\n");
    observer->log_end(observer->ctx, 0, "a");
    observer->log(observer->ctx, 1, "b", "tail", 4);
    console_release(&fixture->console);
    assert_file(fixture->file, "a: one\nb: uno\na: two\nb: tail\n");
}

static void test_a_failure_is_shown_and_kept(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    struct error err = ERROR_INIT;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    error_set(&err, &kind_refused, "connection refused");
    strlist_add(&hosts, "g1");
    strlist_add(&hosts, "g2");
    observer->failure(observer->ctx, &err, &hosts);
    assert_int_equal(failures_code(&fixture->failures), 3);
    assert_int_equal(fixture->failures.items[0].hosts.len, 2);
    assert_file(fixture->error_file, "mtlaunch: g[1-2]: connection refused\n");
    console_release(&fixture->console);
}

static void test_messages(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    observer->info(observer->ctx, "a %s note");
    observer->warn(observer->ctx, "careful");
    observer->verbose(observer->ctx, "not said");
    observer->progress(observer->ctx, "starting", 1, 2); /* no terminal: no bar */
    observer->progress(observer->ctx, "starting", 2, 2);
    assert_file(fixture->error_file, "a %s note\nmtlaunch: warning: careful\n");
    console_release(&fixture->console);
}

static void test_a_bar_goes_before_a_message(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    fixture->style.bar = true;
    observer->progress(observer->ctx, "starting", 0, 2);
    observer->info(observer->ctx, "note");
    observer->progress(observer->ctx, "starting", 2, 2);
    observer->info(observer->ctx, "end");
    char buffer[1000] = "";
    assert_true(pread(fixture->error_file, buffer, sizeof buffer - 1, 0) > 0);
    assert_contains(buffer, "starting [........................] 0/2 nodes\033[K\r\033[Knote\n");
    assert_contains(buffer, "2/2 nodes\033[K\r\033[Kend\n");
    console_release(&fixture->console);
}

static void count_call(void *ctx, const struct error *err)
{
    assert_ptr_equal(err->kind, &kind_local);
    ++*(int *)ctx;
}

static void test_output_that_fails_is_told_once(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    int calls = 0;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        skip();
    }
    fixture->console.log_fd = full;
    fixture->console.output_failed = count_call;
    fixture->console.output_ctx = &calls;
    observer->log(observer->ctx, 0, "a", "one\n", 4);
    observer->log(observer->ctx, 0, "a", "two\n", 4);
    assert_int_equal(calls, 1);
    assert_ptr_equal(fixture->console.output_error.kind, &kind_local);
    console_release(&fixture->console);
    close(full);
}

static void note_closed(void *ctx, const struct error *err)
{
    assert_ptr_equal(err->kind, &kind_output_closed);
    ++*(int *)ctx;
}

static void test_a_reader_that_left_is_noticed_in_silence(void **state)
{
    struct fixture *fixture = *state;
    const struct run_observer *observer = &fixture->console.observer;
    int calls = 0;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    fixture->console.log_fd = fds[1];
    fixture->console.output_failed = note_closed;
    fixture->console.output_ctx = &calls;
    observer->tick(observer->ctx);
    assert_int_equal(calls, 0);
    close(fds[0]);
    observer->tick(observer->ctx);
    observer->tick(observer->ctx);
    assert_int_equal(calls, 1);
    console_release(&fixture->console);
    close(fds[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_logs_reach_their_descriptor),
        TEST(test_a_failure_is_shown_and_kept),
        TEST(test_messages),
        TEST(test_a_bar_goes_before_a_message),
        TEST(test_output_that_fails_is_told_once),
        TEST(test_a_reader_that_left_is_noticed_in_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
