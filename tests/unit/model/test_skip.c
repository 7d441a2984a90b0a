/* Patterns of what a copy leaves out, as rsync treats them. */
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "model/skip.h"
#include "test.h"

/* Each row as rsync 3.2 treats the pattern with --exclude. */
static const struct {
    const char *pattern, *path;
    bool is_folder, wanted;
} rows[] = {
    {"*.pyc", "a.pyc", false, true},
    {"*.pyc", "a/b/c.pyc", false, true},
    {"*.pyc", "a.pyc.txt", false, false},
    {"*.pyc", "x.pyc/a", false, false},
    {".git", ".git", true, true},
    {".git", "sub/.git", true, true},
    {".git", ".gitignore", false, false},
    {"/.git", "sub/.git", true, false},
    {"/data", "data", false, true},
    {"/data", "a/data", false, false},
    {"data/", "data", true, true},
    {"data/", "data", false, false},
    {"a/b", "a/b", false, true},
    {"a/b", "x/a/b", false, true},
    {"a/b", "xa/b", false, false},
    {"/a/b", "x/a/b", false, false},
    {"/a/*/c", "a/b/c", false, true},
    {"/a/*/c", "a/b/b/c", false, false},
    {"/a/**/c", "a/b/b/c", false, true},
    {"**/c", "a/b/c", false, true},
    {"/**c", "a/b/c", false, true},
    {"a**z", "x/a/b/z", false, true},
    {"a**b*c", "a/xb/bbc", false, true},
    {"a**b*c", "a/xb/c", false, false},
    {"?", "a", false, true},
    {"?", "ab", false, false},
    {"a?b", "a/b", false, false},
    {"a*b", "a/b", false, false},
    {"[a-c]x", "bx", false, true},
    {"[a-c]x", "dx", false, false},
    {"[!a-c]x", "dx", false, true},
    {"[^a-c]x", "ax", false, false},
    {"[]]x", "]x", false, true},
    {"a[!x]b", "a/b", false, false},
    {"\\*", "*", false, true},
    {"\\*", "a", false, false},
    {"\\[a", "[a", false, true},
    {"a b\n", "a b\n", false, true},
    {"**", "anything/at all", false, true},
    {"*", ".hidden", false, true},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_STRLIST struct strlist patterns = STRLIST_INIT;
        struct error err = ERROR_INIT;
        strlist_add(&patterns, "never-there");
        strlist_add(&patterns, rows[i].pattern);
        assert_int_equal(skip_check(rows[i].pattern, &err), 0);
        if (skip_matches(&patterns, rows[i].path, rows[i].is_folder) != rows[i].wanted) {
            fail_msg("'%s' on '%s': wanted %s", rows[i].pattern, rows[i].path,
                     rows[i].wanted ? "a match" : "none");
        }
    }
}

static void test_folder_above(void **state)
{
    AUTO_STRLIST struct strlist patterns = STRLIST_INIT;

    (void)state;
    strlist_add(&patterns, "cache/");
    strlist_add(&patterns, "/top/x*");
    assert_true(skip_covers(&patterns, "a/cache/b/c", false));
    assert_false(skip_covers(&patterns, "a/cache", false));
    assert_true(skip_covers(&patterns, "a/cache", true));
    assert_true(skip_covers(&patterns, "top/x1/y", false));
    assert_false(skip_covers(&patterns, "z/top/x1/y", false));
    assert_false(skip_matches(&patterns, "a/cache/b", false));
}

static void test_bad_patterns(void **state)
{
    static const char *const bad[] = {"", "/", "a[b", "[", "[]", "[!]", "x[]]["};
    AUTO_FREE char *long_one = xcalloc(SKIP_PATTERN_MAX + 2, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct error err = ERROR_INIT;
        if (skip_check(bad[i], &err) == 0) {
            fail_msg("'%s' was taken", bad[i]);
        }
        assert_ptr_equal(err.kind, &kind_usage);
    }
    memset(long_one, 'a', SKIP_PATTERN_MAX + 1);
    struct error err = ERROR_INIT;
    assert_int_equal(skip_check(long_one, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_folder_above),
        cmocka_unit_test(test_bad_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
