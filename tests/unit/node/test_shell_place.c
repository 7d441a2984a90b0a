/* W9: the place that the job's shell puts before its messages is taken out of what a person reads. */

#include "node/answer.h"
#include "test.h"

static void assert_plain(const char *text, const char *plain)
{
    AUTO_FREE char *copy = xstrdup(text);
    node_drop_shell_place(copy);
    assert_string_equal(copy, plain);
}

static void test_the_place_of_each_shell(void **state)
{
    (void)state;
    assert_plain("/proc/self/fd/8: line 31: conda: command not found", "conda: command not found"); /* bash */
    assert_plain("/proc/self/fd/8: eval: line 12: unexpected EOF", "unexpected EOF");
    assert_plain("/proc/self/fd/8: 12: conda: not found", "conda: not found"); /* dash */
    assert_plain("/proc/self/fd/8: 1: eval: Syntax error: \")\"", "Syntax error: \")\"");
    assert_plain("/proc/self/fd/8: eval: line 1: syntax error", "syntax error"); /* busybox */
    assert_plain("a\n/proc/self/fd/8: line 9: b: c\n/proc/self/fd/8: line 10: d\n", "a\nb: c\nd\n");
}

static void test_other_text_stays(void **state)
{
    (void)state;
    node_drop_shell_place(NULL);
    assert_plain("", "");
    assert_plain("line 31: no", "line 31: no");
    assert_plain("/proc/self/fd/9: line 3: x", "/proc/self/fd/9: line 3: x");
    assert_plain("/proc/self/fd/8: line x: y", "line x: y");
    assert_plain("/proc/self/fd/8: ", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_place_of_each_shell),
        cmocka_unit_test(test_other_text_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
