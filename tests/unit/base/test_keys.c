/* Keys as terminals send them. */
#include "base/keys.h"
#include "test.h"

static void test_single_keys(void **state)
{
    static const struct {
        const char *name, *bytes;
        int key;
    } cases[] = {
        {"a letter", "q", 'q'},
        {"space", " ", ' '},
        {"Enter", "\r", KEY_ENTER},
        {"line feed", "\n", KEY_ENTER},
        {"Backspace", "\177", KEY_BACK},
        {"Ctrl-H", "\b", KEY_BACK},
        {"Esc", "\033", KEY_ESCAPE},
        {"up", "\033[A", KEY_UP},
        {"up, application", "\033OA", KEY_UP},
        {"down", "\033[B", KEY_DOWN},
        {"right", "\033[C", KEY_RIGHT},
        {"left", "\033OD", KEY_LEFT},
        {"PgUp", "\033[5~", KEY_PAGE_UP},
        {"PgDn", "\033[6~", KEY_PAGE_DOWN},
        {"Home", "\033[H", KEY_HOME},
        {"Home, console", "\033[1~", KEY_HOME},
        {"End", "\033[F", KEY_END},
        {"End, console", "\033[4~", KEY_END},
        {"F5", "\033[15~", KEY_NONE},
        {"Shift-Up", "\033[1;2A", KEY_NONE},
        {"Alt-x", "\033x", KEY_NONE},
        {"cut off", "\033[", KEY_NONE},
        {"cut off in the middle", "\033[1;", KEY_NONE},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].name) {
        size_t used = 0;
        assert_int_equal(key_take(cases[i].bytes, strlen(cases[i].bytes), &used), cases[i].key);
        assert_int_equal(used, strlen(cases[i].bytes));
    }
}

/* What was typed while the program was busy comes at once. */
static void test_several_at_once(void **state)
{
    static const char typed[] = "1\033[B\033\033[5~\xc3\xa4q";
    static const int wanted[] = {'1', KEY_DOWN, KEY_ESCAPE, KEY_PAGE_UP, 0xc3, 0xa4, 'q'};
    size_t at = 0, used = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_int_equal(key_take(typed + at, sizeof typed - 1 - at, &used), wanted[i]);
        at += used;
    }
    assert_int_equal(at, sizeof typed - 1);
    assert_int_equal(key_take(typed, 0, &used), KEY_NONE);
    assert_int_equal(used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_keys),
        cmocka_unit_test(test_several_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
