/*
 * Drawings against tests/data/report/NAME.svg. After a wanted change: MTLAUNCH_UPDATE_GOLDEN=1 writes the
 * files anew, and the difference is read, and the drawing looked at, before it is committed.
 */
#include <math.h>

#include "report/page/svg_internal.h"
#include "test.h"

static void golden(const struct str *got, const char *name)
{
    AUTO_FREE char *path = xasprintf("tests/data/report/%s.svg", name);
    AUTO_STR struct str wanted = STR_INIT, whole = STR_INIT;
    str_addf(&whole, "%s\n", str_text(got));
    if (getenv("MTLAUNCH_UPDATE_GOLDEN")) {
        assert_int_equal(file_write_atomic(path, whole.data, whole.len, 0644, NULL), 0);
    }
    assert_int_equal(file_read(path, 1 << 20, &wanted, NULL), 0);
    assert_string_equal(str_text(&whole), str_text(&wanted));
}

static size_t count(const struct str *text, const char *part)
{
    size_t found = 0;
    for (const char *at = strstr(str_text(text), part); at; at = strstr(at + 1, part)) {
        found++;
    }
    return found;
}

static struct svg_plot plot_of(const struct svg_series *series, size_t len)
{
    return (struct svg_plot){.title = "Loss",
                             .x_name = "iteration",
                             .y_name = "of an iteration",
                             .x_kind = FIGURE_COUNT,
                             .y_kind = FIGURE_NUMBER,
                             .series = series,
                             .series_len = len};
}

static const double x[] = {10, 20, 30, 40, 50};
static const double y[] = {4, 3, 2.5, 2.25, 2.125};

static void test_one_line(void **state)
{
    (void)state;
    const struct svg_series series[] = {{.name = "run", .x = x, .y = y, .len = ARRAY_LEN(x)}};
    const struct svg_plot plot = plot_of(series, 1);
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    golden(&out, "one");
}

/* A value that is none, an attempt that begins again and a long silence interrupt a line; a point alone is a
 * dot. */
static void test_two_lines_with_gaps(void **state)
{
    (void)state;
    const double gap_y[] = {4, (double)NAN, 2.5, 2.25, 2.125}, back_x[] = {10, 20, 15, 25, 100};
    const struct svg_series series[] = {
        {.name = "a name that is too long <for> the legend", .x = x, .y = gap_y, .len = ARRAY_LEN(x)},
        {.name = "b", .x = back_x, .y = y, .len = ARRAY_LEN(x), .gap = 20},
    };
    const struct svg_plot plot = plot_of(series, 2);
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    golden(&out, "two");
}

static void test_band_of_percent(void **state)
{
    (void)state;
    const double low[] = {80, 70, 75, 78, 80}, mean[] = {90, 88, 91, 92, 93}, high[] = {97, 98, 99, 99, 100};
    const struct svg_series series[] = {
        {.name = "all nodes", .x = x, .y = mean, .low = low, .high = high, .len = ARRAY_LEN(x)}};
    const struct svg_plot plot = {.title = "GPU use",
                                  .x_name = "time",
                                  .y_name = "mean of a node's GPUs",
                                  .x_kind = FIGURE_SPAN,
                                  .y_kind = FIGURE_PERCENT,
                                  .from_zero = true,
                                  .y_high = 100,
                                  .series = series,
                                  .series_len = 1};
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    golden(&out, "band");
}

static void test_a_value_far_off_does_not_set_the_scale(void **state)
{
    (void)state;
    double at[100], times[100];
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        at[i] = (double)i;
        times[i] = i == 50 ? 60 : 0.5;
    }
    const struct svg_series series[] = {{.name = "run", .x = at, .y = times, .len = ARRAY_LEN(at)}};
    struct svg_plot plot = plot_of(series, 1);
    plot.from_zero = true;
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    assert_non_null(strstr(str_text(&out), "1 value above 0.65"));
    assert_non_null(strstr(str_text(&out), ">60<")); /* it can be read off all the same */
    assert_int_equal(count(&out, "class=\"at\""), 100);
}

static void test_readings_are_few(void **state)
{
    (void)state;
    AUTO_FREE double *many = xcalloc(5000, sizeof(double));
    for (size_t i = 0; i < 5000; i++) {
        many[i] = (double)i;
    }
    const struct svg_series series[] = {{.name = "run", .x = many, .y = many, .len = 5000}};
    const struct svg_plot plot = plot_of(series, 1);
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    assert_in_range(count(&out, "class=\"at\""), 190, 200);
}

static void test_nothing_to_show(void **state)
{
    (void)state;
    const double none[] = {(double)NAN, (double)INFINITY};
    const struct svg_series series[] = {{.name = "run", .x = x, .y = none, .len = 2}};
    const struct svg_plot plot = plot_of(series, 1), empty = plot_of(series, 0);
    assert_false(svg_plot_has_points(&plot));
    assert_false(svg_plot_has_points(&empty));
}

static void test_more_lines_than_colours(void **state)
{
    (void)state;
    struct svg_series series[12];
    for (size_t i = 0; i < ARRAY_LEN(series); i++) {
        series[i] = (struct svg_series){.name = "run", .x = x, .y = y, .len = ARRAY_LEN(x)};
    }
    const struct svg_plot plot = plot_of(series, ARRAY_LEN(series));
    AUTO_STR struct str out = STR_INIT;
    svg_plot(&out, &plot);
    assert_non_null(strstr(str_text(&out), "line s7"));
    assert_int_equal(count(&out, "class=\"key\""), SVG_SERIES_MAX);
}

static void test_timeline(void **state)
{
    (void)state;
    struct svg_bar first[] = {
        {.from = 0, .to = 40, .class = "bad", .text = "attempt 1 failed", .title = "attempt 1: failed: <&>"},
        {.from = 44, .to = 44.001, .class = "ok", .text = "attempt 2 exited", .title = "attempt 2: exited"},
    };
    const struct svg_row rows[] = {{.label = "node1", .bars = first, .bars_len = 2},
                                   {.label = "a-host-with-a-very-long-name\"", .bars = first, .bars_len = 1}};
    const struct svg_mark marks[] = {{.at = 40, .class = "bad", .title = "failed node1: <b>", .link = 3}};
    const struct svg_timeline timeline = {
        .run = 1, .span = 90, .rows = rows, .rows_len = 2, .marks = marks, .marks_len = 1};
    AUTO_STR struct str out = STR_INIT;
    svg_timeline(&out, &timeline);
    golden(&out, "timeline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_two_lines_with_gaps),
        cmocka_unit_test(test_band_of_percent),
        cmocka_unit_test(test_a_value_far_off_does_not_set_the_scale),
        cmocka_unit_test(test_readings_are_few),
        cmocka_unit_test(test_nothing_to_show),
        cmocka_unit_test(test_more_lines_than_colours),
        cmocka_unit_test(test_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
