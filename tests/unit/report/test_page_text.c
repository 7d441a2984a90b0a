/* What a page is made of: foreign text, figures, axes. */

#include <math.h>

#include "base/text.h"
#include "report/page/figure_internal.h"
#include "report/page/html_internal.h"
#include "report/page/page_internal.h"
#include "test.h"

static void test_foreign_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {NULL, "–"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"},
        {"a\x1b[31mred\a\x7f", "a?[31mred??"},
        {"two\nlines\tand a tab", "two\nlines\tand a tab"},
        {"\xff\xfe<", "��&lt;"},
        {"turned \xe2\x80\xae round", "turned ? round"},
        {"日本 é", "日本 é"},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        AUTO_STR struct str out = STR_INIT;
        html_text(&out, rows[i].text);
        assert_string_equal(str_text(&out), rows[i].wanted);
    }
}

static void test_short_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"g0033", "g0033"},
        {"12345", "12345"},
        {"123456", "1234…"},
        {"日本語日本", "日本語日本"},
        {"日本語日本語", "日本語日…"},
        {"a\nb", "a b"},
        {NULL, "–"},
        {"<<<<<<", "&lt;&lt;&lt;&lt;…"},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        AUTO_STR struct str out = STR_INIT;
        html_text_short(&out, rows[i].text, 5);
        assert_string_equal(str_text(&out), rows[i].wanted);
    }
}

/* Whatever the bytes: no markup, no end of an attribute, no control character, and UTF-8. */
static void test_any_bytes(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        AUTO_STR struct str out = STR_INIT, again = STR_INIT;
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = (char)(seed >> 16);
            if (round % 2 == 0) {
                bytes[i] = "<>&\"'\n\x01 a;#"[(seed >> 16) % 11];
            }
        }
        html_text_len(&out, bytes, sizeof bytes);
        const char *text = str_text(&out);
        assert_null(strpbrk(text, "<>\"'"));
        for (const char *at = text; *at; at++) {
            assert_true((unsigned char)*at >= 32 || *at == '\n' || *at == '\t');
            if (*at == '&') {
                assert_true(text_starts(at, "&lt;") || text_starts(at, "&gt;") || text_starts(at, "&amp;") ||
                            text_starts(at, "&quot;") || text_starts(at, "&#39;"));
            }
        }
        text_add_utf8(&again, text, out.len);
        assert_string_equal(str_text(&again), text);
    }
}

static void test_figures(void **state)
{
    (void)state;
    static const struct {
        enum figure_kind kind;
        double value;
        const char *wanted;
    } rows[] = {
        {FIGURE_NUMBER, 0, "0"},
        {FIGURE_NUMBER, 2.34567, "2.346"},
        {FIGURE_NUMBER, -2.5, "-2.5"},
        {FIGURE_NUMBER, 0.0123456, "0.01235"},
        {FIGURE_NUMBER, 1.25e-7, "1.25e-07"},
        {FIGURE_NUMBER, 9999, "9999"},
        {FIGURE_NUMBER, 81920, "81.9k"},
        {FIGURE_NUMBER, 1234567, "1.23M"},
        {FIGURE_NUMBER, 2e20, "2e+20"},
        {FIGURE_NUMBER, (double)NAN, "–"},
        {FIGURE_NUMBER, (double)INFINITY, "–"},
        {FIGURE_COUNT, 12000, "12,000"},
        {FIGURE_COUNT, 7, "7"},
        {FIGURE_COUNT, 1234567, "1,234,567"},
        {FIGURE_SECONDS, 0.5214, "521.4 ms"},
        {FIGURE_SECONDS, 5.36, "5.36 s"},
        {FIGURE_SPAN, 12.5, "12.5 s"},
        {FIGURE_SPAN, 93, "1m 33s"},
        {FIGURE_SPAN, 3900, "1h 05m"},
        {FIGURE_SPAN, 187200, "2d 04h"},
        {FIGURE_PERCENT, 96, "96 %"},
        {FIGURE_PERCENT, 87.125, "87.1 %"},
        {FIGURE_BYTES, 0, "0 B"},
        {FIGURE_BYTES, 107206410240, "99.8 GiB"},
        {FIGURE_BYTES, 1536, "1.5 KiB"},
    };
    FOR_ROWS(i, rows, rows[i].wanted) {
        char text[FIGURE_TEXT_SIZE];
        assert_string_equal(figure_text(rows[i].kind, rows[i].value, text), rows[i].wanted);
    }
}

/* All labels of an axis, with blanks between them. */
static void label(enum figure_kind kind, const struct axis *axis, struct str *out)
{
    char text[FIGURE_TEXT_SIZE];
    for (size_t i = 0; i < axis->ticks_len; i++) {
        str_addf(out, "%s%s", i > 0 ? " | " : "", axis_label(kind, axis, axis->ticks[i], text));
    }
}

static void test_axes(void **state)
{
    (void)state;
    static const struct {
        enum figure_kind kind;
        double low, high;
        const char *wanted;
    } rows[] = {
        {FIGURE_NUMBER, 2.1, 10.4, "4 | 6 | 8 | 10"},
        {FIGURE_NUMBER, 0, 0.33, "0.0 | 0.1 | 0.2 | 0.3"},
        {FIGURE_NUMBER, 0, 1, "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0"},
        {FIGURE_NUMBER, -1.5, 1.5, "-1 | 0 | 1"},
        {FIGURE_NUMBER, 0, 90000, "0 | 20k | 40k | 60k | 80k"},
        {FIGURE_NUMBER, 3, 3, "2.8 | 3.0 | 3.2"},
        {FIGURE_NUMBER, 0, 0, "-1.0 | -0.5 | 0.0 | 0.5 | 1.0"},
        {FIGURE_COUNT, 1, 4, "1 | 2 | 3 | 4"},
        {FIGURE_SPAN, 0, 50, "0 | 10s | 20s | 30s | 40s | 50s"},
        {FIGURE_SPAN, 0, 700, "0 | 5m | 10m"},
        {FIGURE_SPAN, 0, 5 * 3600, "0 | 1h | 2h | 3h | 4h | 5h"},
        {FIGURE_SPAN, 0, 6000, "0 | 30m | 1h | 1h30"},
        {FIGURE_SPAN, 0, 30.0 * 86400, "0 | 7d | 14d | 21d | 28d"},
        {FIGURE_PERCENT, 0, 100, "0 % | 20 % | 40 % | 60 % | 80 % | 100 %"},
        {FIGURE_BYTES, 0, 150e9, "0 GiB | 50 GiB | 100 GiB"},
    };
    FOR_ROWS(i, rows, rows[i].wanted) {
        AUTO_STR struct str out = STR_INIT;
        struct axis axis = axis_make(rows[i].kind, rows[i].low, rows[i].high, 5);
        label(rows[i].kind, &axis, &out);
        assert_string_equal(str_text(&out), rows[i].wanted);
    }
}

/* The ends of any axis are around its values, its ticks between them, in order and few. */
static void test_any_axis(void **state)
{
    (void)state;
    for (int exponent = -12; exponent <= 14; exponent++) {
        for (int kind = FIGURE_NUMBER; kind <= FIGURE_BYTES; kind++) {
            double low = kind == FIGURE_NUMBER ? -pow(10, exponent) : 0, high = 3.7 * pow(10, exponent);
            struct axis axis = axis_make((enum figure_kind)kind, low, high, 6);
            assert_true(axis.low <= low && axis.high >= high);
            for (size_t i = 0; i < axis.ticks_len; i++) {
                char text[FIGURE_TEXT_SIZE];
                assert_true(axis.ticks[i] >= low - axis.step / 1e6 &&
                            axis.ticks[i] <= high + axis.step / 1e6);
                assert_true(i == 0 || axis.ticks[i] > axis.ticks[i - 1]);
                assert_true(strlen(axis_label((enum figure_kind)kind, &axis, axis.ticks[i], text)) < 20);
            }
        }
    }
}

static void test_states_have_a_class(void **state)
{
    (void)state;
    assert_string_equal(page_state_class("finished"), "ok");
    assert_string_equal(page_state_class("failed"), "bad");
    assert_string_equal(page_state_class("stopped"), "idle");
    assert_string_equal(page_state_class("running"), "live");
    assert_string_equal(page_state_class(NULL), "idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_text),
        cmocka_unit_test(test_short_text),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_any_axis),
        cmocka_unit_test(test_states_have_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
