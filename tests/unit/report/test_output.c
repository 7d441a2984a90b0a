/* Writing results: whole, also into a slow pipe; a full disk and a gone reader are told apart. */
#include <pthread.h>
#include <signal.h>

#include "report/output.h"
#include "report_test.h"

#define LARGE (300 * 1024)

static void *drain(void *fd)
{
    size_t *total = xcalloc(1, sizeof(*total));
    char buffer[4096];
    ssize_t got;
    while ((got = read(*(int *)fd, buffer, sizeof buffer)) > 0) {
        *total += (size_t)got;
    }
    return total;
}

static void test_a_non_blocking_pipe_gets_everything(void **state)
{
    (void)state;
    int fds[2];
    pthread_t reader;
    void *total;
    struct error err = ERROR_INIT;
    AUTO_FREE char *bytes = xcalloc(1, LARGE);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(pthread_create(&reader, NULL, drain, &fds[0]), 0);
    assert_int_equal(output_write(fds[1], bytes, LARGE, &err), 0);
    close(fds[1]);
    assert_int_equal(pthread_join(reader, &total), 0);
    assert_int_equal(*(size_t *)total, LARGE);
    free(total);
    close(fds[0]);
}

static void test_a_reader_that_is_gone(void **state)
{
    (void)state;
    int fds[2];
    struct error err = ERROR_INIT;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    close(fds[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(output_write(fds[1], "x", 1, &err), -1);
    assert_ptr_equal(err.kind, &kind_output_closed);
    assert_int_equal(err.kind->exit_code, 8);
    assert_string_equal(err.text, "the reader of the output is gone");
    close(fds[1]);
}

static void test_a_full_disk(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        skip();
    }
    assert_int_equal(output_write(fd, "x", 1, &err), -1);
    assert_ptr_equal(err.kind, &kind_local);
    assert_string_equal(err.text, "cannot write the output: no space left on device");
    assert_contains(err.hint, "free some space");
    close(fd);
}

static void test_print_empties_the_text(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;
    assert_int_equal(output_print(&text, &err), 0);
    str_add(&text, "\n");
    assert_int_equal(output_print(&text, &err), 0);
    assert_int_equal(text.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_non_blocking_pipe_gets_everything),
        cmocka_unit_test(test_a_reader_that_is_gone),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_print_empties_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
