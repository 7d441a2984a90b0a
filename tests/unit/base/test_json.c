/* JSON helpers: what goes out comes back, and what is missing reads as unknown. */

#include "base/alloc.h"
#include "base/json.h"
#include "test.h"

static void test_exact_text_keeps_every_byte(void **state)
{
    static const char *const texts[] = {"", "plain", "über", "a\xff\x01z", "\"\\\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        json_t *object = json_object();
        js_put_text(object, "key", texts[i]);
        AUTO_FREE char *line = json_dumps(object, JSON_COMPACT);
        json_decref(object);
        object = json_loads(line, 0, NULL);
        assert_non_null(object);
        AUTO_FREE char *back = js_get_text(object, "key");
        assert_string_equal(back, texts[i]);
        json_decref(object);
    }
}

static void test_what_is_missing_is_unknown(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist list = STRLIST_INIT;
    json_t *object = json_pack("{s:n, s:s, s:i, s:[s, i]}", "null", "text", "x", "number", 7, "list", "a", 1);
    assert_null(js_get_text(object, "null"));
    assert_null(js_get_text(object, "absent"));
    assert_null(js_get_text(object, "number"));
    assert_int_equal(js_get_number(object, "text", -1), -1);
    assert_int_equal(js_get_number(object, "number", -1), 7);
    assert_false(js_get_flag(object, "text"));
    js_get_list(object, "absent", &list);
    assert_int_equal(list.len, 0);
    js_get_list(object, "list", &list);
    assert_int_equal(list.len, 2);
    assert_string_equal(list.items[0], "a");
    assert_string_equal(list.items[1], "");
    json_decref(object);
}

static void test_a_line_holds_no_control_character(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    js_add_line(&out, js_text("a\x7f\xc2\x9b\xe2\x80\xae\x1bz"));
    assert_string_equal(str_text(&out), "\"a\\u007f\\u009b\\u202e\\u001Bz\"\n");
    str_reset(&out);
    js_add_line(&out, js_text("\xc2\xa0\xe2\x82\xac\x7f"));
    assert_string_equal(str_text(&out), "\"\xc2\xa0\xe2\x82\xac\\u007f\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_text_keeps_every_byte),
        cmocka_unit_test(test_what_is_missing_is_unknown),
        cmocka_unit_test(test_a_line_holds_no_control_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
