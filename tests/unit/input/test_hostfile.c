/* Host files on disk: what is read, and what is said of a file that is missing, too large or wrong. */
#include "input/hostfile.h"
#include "test.h"

static void test_reads_a_file(void **state)
{
    AUTO_FREE char *path = write_file_in(*state, "hosts", "a slots=8\r\n# x\n\nb\nb");
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    const struct hostlist_context context = {.warnings = &warnings};
    assert_int_equal(hostfile_read(&list, path, &context, NULL), 0);
    assert_int_equal(list.len, 2);
    assert_string_equal(list.items[0].name, "a");
    assert_int_equal(list.items[0].slots, 8);
    assert_string_equal(list.items[1].name, "b");
    assert_string_equal(list.items[1].file, path);
    assert_int_equal(list.items[1].line, 4);
    assert_string_equal(list.source, path);
    assert_int_equal(warnings.len, 1);
    assert_non_null(strstr(warnings.items[0], "'b' in line 5 repeats line 4"));
    hostlist_release(&list);
    unlink(path);
}

static void test_error_shows_file_line_and_text(void **state)
{
    AUTO_FREE char *path = write_file_in(*state, "hosts", "x slots=8\nx2 lots=8");
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(hostfile_read(&list, path, NULL, &err), -1);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 4);
    assert_string_equal(err.text, "unknown key 'lots' in 'lots=8'");
    assert_string_equal(err.source, "x2 lots=8");
    assert_string_equal(err.hint, "did you mean 'slots='?");
    unlink(path);
}

static void check_refused(const char *path, const char *text, const char *hint)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(hostfile_read(&list, path, NULL, &err), -1);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_int_equal(err.kind->exit_code, 2);
    assert_non_null(strstr(err.text, text));
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.hint, hint));
    assert_int_equal(list.len, 0);
}

static void test_missing_file(void **state)
{
    AUTO_FREE char *missing = path_join(*state, "nofile");
    AUTO_FREE char *below = write_file_in(*state, "plain", "a");
    AUTO_FREE char *under = path_join(below, "hosts");

    check_refused(missing, "cannot read", "no other list is used instead");
    check_refused(under, "cannot read", "check the path");
    unlink(below);
}

static void test_folder(void **state)
{
    check_refused(*state, "cannot read", "one host per line");
}

static void test_unreadable_file(void **state)
{
    AUTO_FREE char *path = write_file_in(*state, "hosts", "a");

    if (geteuid() == 0) { /* root reads everything: a dangling loop of links is refused to root too */
        unlink(path);
        assert_int_equal(symlink(path, path), 0);
    } else {
        assert_int_equal(chmod(path, 0), 0);
    }
    check_refused(path, "cannot read", "one host per line");
    unlink(path);
}

static void test_large_file(void **state)
{
    AUTO_FREE char *path = write_file_in(*state, "hosts", "a\n");

    assert_int_equal(truncate(path, (off_t)HOSTLIST_TEXT_MAX + 1), 0);
    check_refused(path, "larger than 8388608 bytes", "ranges");
    unlink(path);
}

static void test_empty_file(void **state)
{
    AUTO_FREE char *path = write_file_in(*state, "hosts", "# nobody\n");

    check_refused(path, "is empty: it names no host", "at least one");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_a_file),    cmocka_unit_test(test_error_shows_file_line_and_text),
        cmocka_unit_test(test_missing_file),    cmocka_unit_test(test_folder),
        cmocka_unit_test(test_unreadable_file), cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_empty_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
