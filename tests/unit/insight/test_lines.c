/* The line splitter: the same lines however the bytes were cut, and bounded pieces of long lines. */
#include "insight/lines.h"
#include "insight_test.h"

static void note(void *ctx, const struct line_piece *piece)
{
    struct str *out = ctx;
    str_addf(out, "<%.*s%s%s>", piece->len > 20 ? 20 : (int)piece->len, piece->bytes, piece->ends ? "|" : "",
             piece->continued ? "+" : "");
}

static void assert_split(const char *text, size_t cut, const char *wanted)
{
    struct lines lines;
    AUTO_STR struct str out = STR_INIT;
    lines_init(&lines);
    for (size_t at = 0; at < strlen(text); at += cut) {
        size_t left = strlen(text) - at;
        lines_feed(&lines, text + at, cut < left ? cut : left, note, &out);
    }
    lines_end(&lines, true, note, &out);
    assert_string_equal(str_text(&out), wanted);
    lines_release(&lines);
}

static void test_lines_do_not_depend_on_how_bytes_were_cut(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 20; cut++) {
        assert_split("one\n\ntwo\r\nthree", cut, "<one|><|><two\r|><three|>");
    }
}

static void test_a_long_line_comes_in_pieces_of_bounded_length(void **state)
{
    (void)state;
    struct lines lines;
    AUTO_STR struct str out = STR_INIT;
    AUTO_STR struct str text = STR_INIT;
    lines_init(&lines);
    for (size_t i = 0; i < LINES_PIECE_MAX + 5; i++) {
        str_add_char(&text, 'x');
    }
    str_add(&text, "end\nnext\n");
    lines_feed(&lines, text.data, text.len, note, &out);
    assert_string_equal(str_text(&out), "<xxxxxxxxxxxxxxxxxxxx><xxxxxend|+><next|>");
    assert_true(lines.part.cap <= 2 * LINES_PIECE_MAX);
    lines_release(&lines);
}

static void test_what_waits_is_handed_out_without_half_a_character(void **state)
{
    (void)state;
    struct lines lines;
    AUTO_STR struct str out = STR_INIT;
    lines_init(&lines);
    lines_feed(&lines, "50 %\xe2\x96", 6, note, &out);
    lines_flush(&lines, note, &out);
    assert_string_equal(str_text(&out), "<50 %>");
    lines_feed(&lines, "\x88 x\n", 4, note, &out);
    assert_string_equal(str_text(&out), "<50 %><\xe2\x96\x88 x|+>");
    lines_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_do_not_depend_on_how_bytes_were_cut),
        cmocka_unit_test(test_a_long_line_comes_in_pieces_of_bounded_length),
        cmocka_unit_test(test_what_waits_is_handed_out_without_half_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
