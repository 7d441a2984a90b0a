/* The growing byte string. */
#include "test.h"

static void test_empty_is_usable(void **state)
{
    (void)state;
    struct str s = STR_INIT;

    assert_string_equal(str_text(&s), "");
    str_truncate(&s, 0);
    str_reset(&s);
    str_consume(&s, 3);
    assert_null(s.data);
    str_add_mem(&s, NULL, 0);
    assert_string_equal(str_text(&s), "");
    str_release(&s);

    char *text = str_detach(&s);
    assert_string_equal(text, "");
    free(text);
}

static void test_add_in_all_ways(void **state)
{
    (void)state;
    AUTO_STR struct str s = STR_INIT;

    str_add(&s, "abc");
    str_add_char(&s, '-');
    str_add_mem(&s, "x\0y", 3);
    assert_int_equal(s.len, 7);
    assert_memory_equal(s.data, "abc-x\0y", 8); /* with the NUL behind */
    str_reset(&s);
    assert_int_equal(s.len, 0);
    assert_string_equal(str_text(&s), "");
    str_addf(&s, "%d%s", 12, "z");
    assert_string_equal(str_text(&s), "12z");
}

static void test_format_longer_than_the_room(void **state)
{
    (void)state;
    AUTO_STR struct str s = STR_INIT;

    for (int len = 0; len < 200; len++) {
        str_reset(&s);
        str_add(&s, "<");
        str_addf(&s, "%*s>", len, "");
        assert_int_equal(s.len, (size_t)len + 2);
        assert_int_equal(strlen(s.data), s.len);
        assert_int_equal(s.data[s.len - 1], '>');
        str_release(&s);
    }
}

static void test_many_bytes(void **state)
{
    (void)state;
    AUTO_STR struct str s = STR_INIT;

    for (int i = 0; i < 100000; i++) {
        str_add_char(&s, (char)('a' + i % 26));
    }
    assert_int_equal(s.len, 100000);
    assert_int_equal(s.data[99999], 'a' + 99999 % 26);
    assert_int_equal(s.data[100000], '\0');
}

static void test_consume_and_truncate(void **state)
{
    (void)state;
    AUTO_STR struct str s = STR_INIT;

    str_add(&s, "0123456789");
    str_consume(&s, 0);
    str_consume(&s, 3);
    assert_string_equal(str_text(&s), "3456789");
    str_truncate(&s, 99);
    assert_string_equal(str_text(&s), "3456789");
    str_truncate(&s, 2);
    assert_string_equal(str_text(&s), "34");
    str_consume(&s, 99);
    assert_string_equal(str_text(&s), "");
}

static void test_detach_empties(void **state)
{
    (void)state;
    AUTO_STR struct str s = STR_INIT;

    str_add(&s, "mine");
    char *text = str_detach(&s);
    assert_string_equal(text, "mine");
    assert_null(s.data);
    assert_int_equal(s.len, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_is_usable),
        cmocka_unit_test(test_add_in_all_ways),
        cmocka_unit_test(test_format_longer_than_the_room),
        cmocka_unit_test(test_many_bytes),
        cmocka_unit_test(test_consume_and_truncate),
        cmocka_unit_test(test_detach_empties),
    };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
