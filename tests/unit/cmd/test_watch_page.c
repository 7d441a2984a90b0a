/* Keys of `status --watch`: what they show, and what is left to be done. */
#include "base/keys.h"
#include "cmd/watch_page_internal.h"
#include "test.h"

#define LINES 50
#define ROOM  10

static struct watch_place start(void)
{
    return (struct watch_place){.has_pages = true, .nodes = 4};
}

static enum watch_action press(struct watch_place *place, const char *keys)
{
    enum watch_action action = WATCH_NOTHING;
    for (; *keys != '\0'; keys++) {
        action = watch_place_key(place, *keys, LINES, ROOM);
    }
    return action;
}

static void test_scrolling(void **state)
{
    static const struct {
        const char *name;
        size_t from;
        int key;
        size_t to;
    } cases[] = {
        {"down", 3, KEY_DOWN, 4},
        {"j", 3, 'j', 4},
        {"down at the end", 40, KEY_DOWN, 40},
        {"up", 3, KEY_UP, 2},
        {"k at the start", 0, 'k', 0},
        {"a page down", 3, KEY_PAGE_DOWN, 12},
        {"space near the end", 38, ' ', 40},
        {"a page up", 12, KEY_PAGE_UP, 3},
        {"b near the start", 5, 'b', 0},
        {"to the end", 0, KEY_END, 40},
        {"G", 0, 'G', 40},
        {"to the start", 33, KEY_HOME, 0},
        {"g", 33, 'g', 0},
        {"another key", 7, 'x', 7},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].name) {
        struct watch_place place = start();
        place.top[WATCH_STATUS] = cases[i].from;
        assert_int_equal(watch_place_key(&place, cases[i].key, LINES, ROOM), WATCH_NOTHING);
        assert_int_equal(place.top[WATCH_STATUS], cases[i].to);
    }
}

static void test_all_lines_fit(void **state)
{
    struct watch_place place = start();
    (void)state;
    watch_place_key(&place, KEY_DOWN, 5, ROOM);
    assert_int_equal(place.top[WATCH_STATUS], 0);
    watch_place_key(&place, KEY_END, 0, ROOM);
    assert_int_equal(place.top[WATCH_STATUS], 0);
}

static void test_a_page_becomes_shorter(void **state)
{
    struct watch_place place = start();
    (void)state;
    place.top[WATCH_STATUS] = 40;
    watch_place_fit(&place, 20, ROOM);
    assert_int_equal(place.top[WATCH_STATUS], 10);
    watch_place_fit(&place, 200, ROOM);
    assert_int_equal(place.top[WATCH_STATUS], 10);
}

static void test_a_log(void **state)
{
    struct watch_place place = start();
    (void)state;
    assert_int_equal(press(&place, "l"), WATCH_SHOW_LOG);
    assert_int_equal(place.page, WATCH_LOG);
    assert_int_equal(place.node, 0);
    assert_int_equal(watch_place_key(&place, KEY_RIGHT, LINES, ROOM), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 1);
    assert_int_equal(press(&place, "3l"), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 3);
    assert_int_equal(watch_place_key(&place, KEY_RIGHT, LINES, ROOM), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 0);
    assert_int_equal(watch_place_key(&place, KEY_LEFT, LINES, ROOM), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 3);
    assert_int_equal(press(&place, "02\n"), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 2);
    assert_int_equal(press(&place, "4l"), WATCH_NO_SUCH_NODE);
    assert_int_equal(press(&place, "99999999999999999999999\n"), WATCH_NO_SUCH_NODE);
    assert_int_equal(place.node, 2);
    assert_int_equal(press(&place, "\033"), WATCH_BACK);
    assert_int_equal(place.page, WATCH_STATUS);
    assert_int_equal(press(&place, "l"), WATCH_SHOW_LOG); /* the same one again */
    assert_int_equal(place.node, 2);
}

/* It stays at its end until somebody scrolls back, and again once they are there. */
static void test_a_log_is_followed(void **state)
{
    struct watch_place place = start();
    (void)state;
    press(&place, "l");
    watch_place_fit(&place, 100, ROOM);
    assert_int_equal(place.top[WATCH_LOG], 90);
    watch_place_key(&place, KEY_UP, 100, ROOM);
    watch_place_fit(&place, 120, ROOM);
    assert_int_equal(place.top[WATCH_LOG], 89);
    watch_place_key(&place, KEY_END, 120, ROOM);
    watch_place_fit(&place, 130, ROOM);
    assert_int_equal(place.top[WATCH_LOG], 120);
}

/* A page that is just full: going to its first line keeps it there. */
static void test_a_full_log_stands_still(void **state)
{
    struct watch_place place = start();
    (void)state;
    press(&place, "l");
    watch_place_fit(&place, ROOM, ROOM);
    watch_place_key(&place, KEY_HOME, ROOM, ROOM);
    watch_place_fit(&place, ROOM + 5, ROOM);
    assert_int_equal(place.top[WATCH_LOG], 0);
    watch_place_key(&place, KEY_PAGE_DOWN, ROOM + 5, ROOM);
    watch_place_fit(&place, ROOM + 9, ROOM);
    assert_int_equal(place.top[WATCH_LOG], 9);
}

static void test_numbers(void **state)
{
    struct watch_place place = start();
    (void)state;
    press(&place, "12");
    assert_true(place.has_number);
    assert_int_equal(place.number, 12);
    assert_int_equal(press(&place, "\033"), WATCH_NOTHING); /* forgets it */
    assert_false(place.has_number);
    assert_int_equal(press(&place, "\n"), WATCH_NOTHING);
    assert_int_equal(press(&place, "1j"), WATCH_NOTHING);
    assert_int_equal(press(&place, "l"), WATCH_SHOW_LOG);
    assert_int_equal(place.node, 0);
}

static void test_stacks(void **state)
{
    struct watch_place place = start();
    (void)state;
    assert_int_equal(press(&place, "s"), WATCH_READ_STACKS);
    assert_int_equal(place.page, WATCH_STACKS);
    place.top[WATCH_STACKS] = 5;
    assert_int_equal(press(&place, "s"), WATCH_READ_STACKS); /* read anew */
    assert_int_equal(place.top[WATCH_STACKS], 0);
    assert_int_equal(watch_place_key(&place, KEY_LEFT, LINES, ROOM), WATCH_NOTHING);
    assert_int_equal(watch_place_key(&place, KEY_BACK, LINES, ROOM), WATCH_BACK);
    assert_int_equal(watch_place_key(&place, KEY_BACK, LINES, ROOM), WATCH_NOTHING);
}

static void test_the_list_of_runs(void **state)
{
    struct watch_place place = {.has_pages = false};
    (void)state;
    assert_int_equal(press(&place, "l"), WATCH_NOTHING);
    assert_int_equal(press(&place, "s"), WATCH_NOTHING);
    assert_int_equal(press(&place, "2l"), WATCH_NOTHING);
    assert_int_equal(place.page, WATCH_STATUS);
    assert_int_equal(press(&place, "q"), WATCH_QUIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scrolling),
        cmocka_unit_test(test_all_lines_fit),
        cmocka_unit_test(test_a_page_becomes_shorter),
        cmocka_unit_test(test_a_log),
        cmocka_unit_test(test_a_log_is_followed),
        cmocka_unit_test(test_a_full_log_stands_still),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_the_list_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
