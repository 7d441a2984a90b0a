/* The error value: texts, cuts, context, position, kinds. */
#include "test.h"

static char x_1200[1201];

static void test_kinds_have_their_exit_codes(void **state)
{
    (void)state;
    assert_string_equal(kind_usage.name, "usage");
    assert_int_equal(kind_usage.exit_code, 2);
    assert_string_equal(kind_not_supported.name, "not-supported");
    assert_int_equal(kind_not_supported.exit_code, 2);
    assert_string_equal(kind_local.name, "local");
    assert_int_equal(kind_local.exit_code, 8);
}

static void test_set_clears_what_was_there(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    assert_false(error_is(&err, &kind_usage));
    assert_int_equal(error_set(&err, &kind_local, "first"), -1);
    assert_int_equal(error_hint(&err, "do %s", "this"), -1);
    assert_int_equal(error_at(&err, "jobs/a.yaml", 3, 7), -1);
    assert_int_equal(error_source(&err, "key: value\nnext", 15), -1);
    assert_string_equal(err.hint, "do this");
    assert_string_equal(err.file, "jobs/a.yaml");
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 7);
    assert_string_equal(err.source, "key: value");

    assert_int_equal(error_set(&err, &kind_usage, "unknown key '%s'", "hots"), -1);
    assert_true(error_is(&err, &kind_usage));
    assert_false(error_is(&err, &kind_local));
    assert_string_equal(err.text, "unknown key 'hots'");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.file, "");
    assert_string_equal(err.source, "");
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
}

static void test_no_error_struct_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, &kind_usage, "text"), -1);
    assert_int_equal(error_set_errno(NULL, &kind_usage, ENOENT, "text"), -1);
    assert_int_equal(error_hint(NULL, "text"), -1);
    assert_int_equal(error_prefix(NULL, "text"), -1);
    assert_int_equal(error_at(NULL, "file", 1, 1), -1);
    assert_int_equal(error_source(NULL, "line", 4), -1);
    assert_false(error_is(NULL, &kind_usage));
}

static void test_errno_gives_the_reason_in_lower_case(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    errno = EINTR;
    error_set_errno(&err, &kind_local, ENOENT, "cannot read '%s'", "a");
    assert_string_equal(err.text, "cannot read 'a': no such file or directory");
    assert_int_equal(errno, EINTR);

    error_set_errno(&err, &kind_local, ENOSPC, "%s", x_1200);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_non_null(strstr(err.text, "xxx...: no space left on device"));
}

static void test_long_texts_end_in_dots(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    error_set(&err, &kind_usage, "%s", x_1200);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 6, "xx...");
    error_hint(&err, "%s", x_1200);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
    assert_string_equal(err.hint + sizeof err.hint - 6, "xx...");
    error_at(&err, x_1200, 1, 1);
    assert_string_equal(err.file + sizeof err.file - 6, "xx...");
    error_source(&err, x_1200, 1200);
    assert_string_equal(err.source + sizeof err.source - 6, "xx...");

    /* One byte less than the buffer fits as it is. */
    error_set(&err, &kind_usage, "%.*s", (int)sizeof err.text - 1, x_1200);
    assert_string_equal(err.text + sizeof err.text - 4, "xxx");
}

static void test_cut_is_at_a_character(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    for (size_t shift = 0; shift < 4; shift++) {
        str_reset(&text);
        str_add_mem(&text, "aaaa", shift);
        for (size_t i = 0; i < 400; i++) {
            str_add(&text, "\xE4\xBD\xA0"); /* three bytes */
        }
        error_set(&err, &kind_usage, "%s", str_text(&text));
        size_t len = strlen(err.text);
        assert_true(len >= sizeof err.text - 4);
        assert_int_equal((len - shift - 3) % 3, 0);
        assert_string_equal(err.text + len - 3, "...");
    }
}

static void test_prefix_puts_context_before(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    error_set(&err, &kind_local, "disk full");
    error_hint(&err, "make room");
    assert_int_equal(error_prefix(&err, "run '%s'", "r1"), -1);
    assert_string_equal(err.text, "run 'r1': disk full");
    assert_string_equal(err.hint, "make room");
    assert_true(error_is(&err, &kind_local));

    error_prefix(&err, "%s", x_1200);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 6, "xx...");
}

static void test_arguments_may_be_of_the_error_itself(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    error_set(&err, &kind_local, "inner");
    error_hint(&err, "hint of %s", err.text);
    error_set(&err, &kind_usage, "outer of %s, %s", err.text, err.hint);
    assert_string_equal(err.text, "outer of inner, hint of inner");
    error_at(&err, "f", 1, 2);
    error_at(&err, err.file, 2, 3);
    assert_string_equal(err.file, "f");
    error_at(&err, NULL, 4, 5);
    assert_string_equal(err.file, "f");
    assert_int_equal(err.line, 4);
    assert_int_equal(err.column, 5);
}

static void test_source_is_one_line(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    error_source(&err, "host slots=0\r\nnext", 18);
    assert_string_equal(err.source, "host slots=0");
    error_source(&err, "abc", 2);
    assert_string_equal(err.source, "ab");
    error_source(&err, "ab\0cd", 5);
    assert_string_equal(err.source, "ab");
    error_source(&err, "\n", 1);
    assert_string_equal(err.source, "");
}

static int fill_long_text(void **state)
{
    (void)state;
    memset(x_1200, 'x', sizeof x_1200 - 1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_have_their_exit_codes),
        cmocka_unit_test(test_set_clears_what_was_there),
        cmocka_unit_test(test_no_error_struct_is_accepted),
        cmocka_unit_test(test_errno_gives_the_reason_in_lower_case),
        cmocka_unit_test(test_long_texts_end_in_dots),
        cmocka_unit_test(test_cut_is_at_a_character),
        cmocka_unit_test(test_prefix_puts_context_before),
        cmocka_unit_test(test_arguments_may_be_of_the_error_itself),
        cmocka_unit_test(test_source_is_one_line),
    };
    return cmocka_run_group_tests_name("base/error", tests, fill_long_text, NULL);
}
