/* Trees of files: their order, what differs, what may be removed. */
#include <string.h>

#include "base/alloc.h"
#include "model/tree.h"
#include "test.h"

static void add(struct tree *tree, const char *path, enum tree_kind kind)
{
    tree_add(tree, path, kind == TREE_LINK ? "to" : NULL, &(struct tree_entry){.kind = kind});
}

static void test_order(void **state)
{
    static const char *const wanted[] = {"a", "a/b", "a/b/c", "a/c", "a\x01", "a b", "a-b", "ab", "\xff"};
    struct tree tree = {0};

    (void)state;
    for (size_t i = ARRAY_LEN(wanted); i-- > 0;) {
        add(&tree, wanted[i], TREE_FILE);
    }
    tree_sort(&tree);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_string_equal(tree.items[i].path, wanted[i]);
        assert_int_equal(tree_find(&tree, wanted[i]), i);
    }
    assert_int_equal(tree_find(&tree, "a/"), TREE_NONE);
    assert_int_equal(tree_find(&tree, "zz"), TREE_NONE);
    assert_int_equal(tree_parent(&tree, 2), 1);
    assert_int_equal(tree_parent(&tree, 0), TREE_NONE);
    tree_release(&tree);
    assert_int_equal(tree_find(&tree, "a"), TREE_NONE);
}

static void test_safe_paths(void **state)
{
    static const char *const safe[] = {"a", "a/b", "...", "a/...b", "..a", " ", "-rf", "\n", "~", "a/.b"};
    static const char *const unsafe[] = {"",     ".",      "..",   "/",   "/a",    "a/", "a//b",
                                         "../a", "a/../b", "a/..", "./a", "a/./b", "a/."};
    AUTO_FREE char *long_one = xcalloc(TREE_PATH_MAX + 2, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(safe); i++) {
        if (!tree_path_is_safe(safe[i])) {
            fail_msg("'%s' is refused", safe[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(unsafe); i++) {
        if (tree_path_is_safe(unsafe[i])) {
            fail_msg("'%s' is taken", unsafe[i]);
        }
    }
    memset(long_one, 'a', TREE_PATH_MAX + 1);
    assert_false(tree_path_is_safe(long_one));
    long_one[TREE_PATH_MAX] = '\0';
    assert_true(tree_path_is_safe(long_one));
}

static void test_compare(void **state)
{
    char a[] = "a", b[] = "b";
    const struct tree_entry file = {.kind = TREE_FILE, .mode = 0644, .size = 5, .mtime = 9};
    const struct tree_entry folder = {.kind = TREE_FOLDER, .mode = 0755, .mtime = 9};
    const struct tree_entry to_a = {.kind = TREE_LINK, .mode = 0777, .link = a};
    struct tree_entry there = file;

    (void)state;
    assert_int_equal(tree_compare(&file, &there), TREE_SAME);
    there.mode = 0600;
    assert_int_equal(tree_compare(&file, &there), TREE_MODE);
    there.size = 6;
    assert_int_equal(tree_compare(&file, &there), TREE_CONTENT);
    there = file;
    there.mtime = 8;
    assert_int_equal(tree_compare(&file, &there), TREE_CONTENT);
    assert_int_equal(tree_compare(&file, &folder), TREE_KIND);
    there = folder;
    there.mtime = 1;
    there.size = 4096;
    assert_int_equal(tree_compare(&folder, &there), TREE_MODE);
    there = to_a;
    there.mode = 0;
    there.mtime = 77;
    assert_int_equal(tree_compare(&to_a, &there), TREE_SAME);
    there.link = b;
    assert_int_equal(tree_compare(&to_a, &there), TREE_CONTENT);
    there.link = NULL;
    assert_int_equal(tree_compare(&to_a, &there), TREE_CONTENT);
}

static void test_removable(void **state)
{
    static const char *const paths[] = {"a", "a/b", "a/b/c", "a/d", "e", "e/f", "g"};
    static const bool keep[] = {false, false, true, false, false, false, false};
    static const bool wanted[] = {false, false, false, true, true, true, true};
    bool removable[ARRAY_LEN(paths)];
    struct tree extra = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        add(&extra, paths[i], TREE_FOLDER);
    }
    assert_int_equal(tree_find_removable(&extra, keep, removable), 4);
    assert_memory_equal(removable, wanted, sizeof(wanted));
    tree_release(&extra);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_safe_paths),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_removable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
