/* Tables: widths, alignment, what is cut when the terminal is narrow. */
#include "base/text.h"
#include "report/table.h"
#include "report_test.h"

static const struct table_column columns[] = {
    {.title = "RANK", .right = true},
    {.title = "HOST"},
    {.title = "NOTE", .flexible = true, .hide_empty = true},
};

static void add_row(struct table *table, const char *rank, const char *host, const char *note)
{
    table_add(table, rank, TONE_PLAIN);
    table_add(table, host, TONE_GOOD);
    table_add(table, note, TONE_PLAIN);
}

static void test_columns_are_aligned(void **state)
{
    (void)state;
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, columns, ARRAY_LEN(columns));
    add_row(&table, "0", "g0033", "日本 ok");
    add_row(&table, "10", "a", NULL);
    table_render(&table, 80, false, &out);
    assert_string_equal(str_text(&out), "RANK  HOST   NOTE\n"
                                        "   0  g0033  日本 ok\n"
                                        "  10  a\n");
    table_release(&table);
}

static void test_an_empty_column_is_left_out(void **state)
{
    (void)state;
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, columns, ARRAY_LEN(columns));
    add_row(&table, "0", "a", NULL);
    table_render(&table, 80, false, &out);
    assert_string_equal(str_text(&out), "RANK  HOST\n   0  a\n");
    table_release(&table);
}

static void assert_fits(const struct table *table, size_t width)
{
    AUTO_STR struct str out = STR_INIT;
    table_render(table, width, false, &out);
    for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(text_columns(line) <= width);
    }
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, columns, ARRAY_LEN(columns));
    add_row(&table, "0", "a-long-host-name.example.org", "a reason that goes on and on, 日本語日本語");
    table_render(&table, 60, false, &out);
    assert_contains(str_text(&out), "a-long-host-name.example.org"); /* the flexible column gives first */
    assert_contains(str_text(&out), "…\n");
    for (size_t width = 7; width < 90; width++) {
        assert_fits(&table, width);
    }
    table_release(&table);
}

static void test_cells_are_safe(void **state)
{
    (void)state;
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, columns, ARRAY_LEN(columns));
    add_row(&table, "0", "a\033[2J", "two\nlines\tand a tab");
    table_render(&table, 80, false, &out);
    assert_contains(str_text(&out), "a?[2J  two lines and a tab\n");
    table_release(&table);
}

static void test_color_does_not_move_columns(void **state)
{
    (void)state;
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, columns, ARRAY_LEN(columns));
    add_row(&table, "0", "a", "x");
    table_addf(&table, TONE_PLAIN, "%d", 1);
    table_add(&table, "bb", TONE_GOOD);
    table_add(&table, "y", TONE_PLAIN);
    table_render(&table, 80, true, &out);
    assert_contains(str_text(&out), "   0  \033[32ma\033[0m     x\n");
    assert_contains(str_text(&out), "   1  \033[32mbb\033[0m    y\n");
    table_release(&table);
}

/* U11: what is the same in all names goes first, then the middle, and different names stay different. */
static void test_long_names_stay_different(void **state)
{
    (void)state;
    static const struct table_column named[] = {{.title = "HOST", .names = true}, {.title = "STATE"}};
    static const char *const hosts[] = {
        "gpu-training-cluster-east-rack-0017-node-0001.compute.internal.example.com",
        "gpu-training-cluster-east-rack-0017-node-0002.compute.internal.example.com",
        "gpu-training-cluster-east-rack-0018-node-0001.compute.internal.example.com",
    };
    for (size_t width = 22; width < 100; width++) {
        struct table table;
        AUTO_STR struct str out = STR_INIT;
        AUTO_STRLIST struct strlist seen = STRLIST_INIT;
        table_init(&table, named, ARRAY_LEN(named));
        for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
            table_add(&table, hosts[i], TONE_PLAIN);
            table_add(&table, "running", TONE_PLAIN);
        }
        table_render(&table, width, false, &out);
        if (width == 55) {
            assert_contains(str_text(&out), "\ngpu-training-cluster-east-rack-0017-node-0001…  running\n");
        }
        for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
            assert_true(text_columns(line) <= width);
            assert_false(strlist_has(&seen, line));
            strlist_add(&seen, line);
        }
        table_release(&table);
    }
}

static void test_addresses_stay_different(void **state)
{
    (void)state;
    static const struct table_column named[] = {{.title = "H", .names = true}, {.title = "S"}};
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, named, ARRAY_LEN(named));
    table_add(&table, "10.11.12.13", TONE_PLAIN);
    table_add(&table, "r", TONE_PLAIN);
    table_add(&table, "10.11.22.13", TONE_PLAIN);
    table_add(&table, "r", TONE_PLAIN);
    table_render(&table, 11, false, &out);
    assert_string_equal(str_text(&out), "H         S\n10…12.13  r\n10…22.13  r\n");
    table_release(&table);
}

/* U11: a reason is read whole, on lines of its own. */
static void test_a_line_of_its_own(void **state)
{
    (void)state;
    static const struct table_column own[] = {{.title = "HOST"}, {.title = "REASON", .own_line = true}};
    struct table table;
    AUTO_STR struct str out = STR_INIT;
    table_init(&table, own, ARRAY_LEN(own));
    table_add(&table, "g1", TONE_PLAIN);
    table_add(&table, "the node does not answer any more averyverylongword", TONE_PLAIN);
    table_add(&table, "g2", TONE_PLAIN);
    table_add(&table, NULL, TONE_PLAIN);
    table_render(&table, 20, false, &out);
    assert_string_equal(str_text(&out), "HOST\n"
                                        "g1\n"
                                        "      the node does\n"
                                        "      not answer any\n"
                                        "      more\n"
                                        "      averyverylongw\n"
                                        "      ord\n"
                                        "g2\n");
    table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_aligned),
        cmocka_unit_test(test_an_empty_column_is_left_out),
        cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
        cmocka_unit_test(test_cells_are_safe),
        cmocka_unit_test(test_long_names_stay_different),
        cmocka_unit_test(test_addresses_stay_different),
        cmocka_unit_test(test_a_line_of_its_own),
        cmocka_unit_test(test_color_does_not_move_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
