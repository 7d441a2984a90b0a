/* The growing list of owned strings. */
#include "test.h"

static void test_items_end_in_null(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist list = STRLIST_INIT;

    for (size_t i = 0; i < 100; i++) {
        strlist_addf(&list, "host%zu", i);
        assert_int_equal(list.len, i + 1);
        assert_null(list.items[i + 1]);
    }
    assert_string_equal(list.items[0], "host0");
    assert_string_equal(list.items[99], "host99");
}

static void test_add_in_all_ways(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist list = STRLIST_INIT;

    strlist_add(&list, "a");
    strlist_add_mem(&list, "bcd", 2);
    strlist_take(&list, xstrdup("e"));
    assert_true(strlist_has(&list, "a"));
    assert_true(strlist_has(&list, "bc"));
    assert_true(strlist_has(&list, "e"));
    assert_false(strlist_has(&list, "b"));
    AUTO_FREE char *joined = strlist_join(&list, ", ");
    assert_string_equal(joined, "a, bc, e");
}

static void test_empty(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist list = STRLIST_INIT;
    AUTO_FREE char *joined = strlist_join(&list, ",");

    assert_string_equal(joined, "");
    assert_false(strlist_has(&list, ""));
    strlist_release(&list);
    strlist_release(&list);
}

static void test_copy_is_deep_and_may_be_of_itself(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist list = STRLIST_INIT;
    AUTO_STRLIST struct strlist other = STRLIST_INIT;

    for (int i = 0; i < 7; i++) {
        strlist_addf(&list, "%d", i);
    }
    strlist_copy(&other, &list);
    assert_int_equal(other.len, 7);
    assert_ptr_not_equal(other.items[0], list.items[0]);
    strlist_copy(&list, &list);
    AUTO_FREE char *joined = strlist_join(&list, "");
    assert_string_equal(joined, "01234560123456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_end_in_null),
        cmocka_unit_test(test_add_in_all_ways),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_copy_is_deep_and_may_be_of_itself),
    };
    return cmocka_run_group_tests_name("base/strlist", tests, NULL, NULL);
}
