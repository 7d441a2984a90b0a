/* The bar: what it shows and that it never reaches the last column. */
#include "report/progress.h"
#include "report_test.h"

static void test_bar_and_count(void **state)
{
    (void)state;
    struct progress bar = {.what = "starting", .done = 12, .total = 48};
    AUTO_STR struct str out = STR_INIT;
    progress_render(&bar, 80, &out);
    assert_string_equal(str_text(&out), "starting [######..................] 12/48 nodes");
    bar.done = 48;
    str_reset(&out);
    progress_render(&bar, 80, &out);
    assert_string_equal(str_text(&out), "starting [########################] 48/48 nodes");
}

static void test_a_narrow_terminal(void **state)
{
    (void)state;
    struct progress bar = {.what = "starting", .done = 1, .total = 4};
    AUTO_STR struct str out = STR_INIT;
    progress_render(&bar, 30, &out);
    assert_string_equal(str_text(&out), "starting 1/4");
    for (size_t columns = 0; columns < 60; columns++) {
        str_reset(&out);
        progress_render(&bar, columns, &out);
        assert_true(out.len == 0 || out.len < columns);
    }
}

static void test_nothing_done_of_nothing(void **state)
{
    (void)state;
    struct progress bar = {.what = "checking"};
    AUTO_STR struct str out = STR_INIT;
    progress_render(&bar, 80, &out);
    assert_string_equal(str_text(&out), "checking [........................] 0/0 nodes");
}

static void test_a_bar_that_is_off_stays_off(void **state)
{
    (void)state;
    struct progress bar;
    progress_begin(&bar, false, "a text longer than there is room for it", 3);
    progress_update(&bar, 2);
    assert_int_equal(bar.done, 2);
    assert_int_equal(bar.drawn_ms, 0);
    assert_string_equal(bar.what, "a text longer than ther");
    progress_end(&bar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_and_count),
        cmocka_unit_test(test_a_narrow_terminal),
        cmocka_unit_test(test_nothing_done_of_nothing),
        cmocka_unit_test(test_a_bar_that_is_off_stays_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
