/* Merged logs: whole lines, carriage returns, parts of long or waiting lines, safe text, JSON, filter. */
#include "base/text.h"
#include "report/logview.h"
#include "report_test.h"

static void feed(struct logview *view, unsigned rank, const char *label, const char *bytes, int64_t now_ms)
{
    logview_feed(view, logview_node(view, rank, label), bytes, strlen(bytes), now_ms);
}

static void assert_out(struct logview *view, const char *expected)
{
    assert_string_equal(str_text(&view->out), expected);
    str_reset(&view->out);
}

static int set_up(void **state)
{
    struct logview *view = xcalloc(1, sizeof(*view));
    logview_init(view);
    *state = view;
    return 0;
}

static int tear_down(void **state)
{
    logview_release(*state);
    free(*state);
    return 0;
}

static void test_lines_of_two_nodes_are_never_joined(void **state)
{
    struct logview *view = *state;
    feed(view, 0, "a", "one\ntw", 0);
    feed(view, 1, "b:2222", "uno\n", 0);
    feed(view, 0, "a", "o\n\nthree", 0);
    assert_out(view, "a: one\nb:2222: uno\na: two\na: \n");
    logview_end(view, 0);
    logview_end(view, 1);
    assert_out(view, "a: three\n");
}

static void test_only_what_follows_the_last_return_is_shown(void **state)
{
    struct logview *view = *state;
    feed(view, 0, "a", "10%\r50%\r100%\ncrlf\r\n\rbar\r\r\n", 0);
    assert_out(view, "a: 100%\na: crlf\na: bar\n");
}

static void test_control_characters_are_replaced(void **state)
{
    struct logview *view = *state;
    logview_feed(view, logview_node(view, 0, "a\033"), "\033[31mred\a\0x\ty\xff\n", 15, 0);
    assert_out(view, "a?: ?[31mred??x\ty\xef\xbf\xbd\n");
}

static void test_a_waiting_line_is_let_through(void **state)
{
    struct logview *view = *state;
    assert_int_equal(logview_wait_ms(view, 0), -1);
    feed(view, 0, "a", "Password: ", 5000);
    assert_int_equal(logview_wait_ms(view, 5400), 600);
    logview_tick(view, 5999);
    assert_out(view, "");
    logview_tick(view, 6000);
    assert_out(view, "a: Password: \n");
    assert_int_equal(logview_wait_ms(view, 6000), -1);
    feed(view, 0, "a", "\n", 7000); /* its end is no line of its own */
    feed(view, 0, "a", "next\n", 7000);
    assert_out(view, "a: next\n");
}

/* With --grep a part of a line, however late the rest is, is no line to be judged. */
static void test_a_patient_view_waits_for_the_end(void **state)
{
    struct logview *view = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(logview_grep(view, "^begin end$", &err), 0);
    view->patient = true;
    feed(view, 0, "a", "begin", 0);
    assert_int_equal(logview_wait_ms(view, 0), -1);
    logview_tick(view, 60000);
    feed(view, 0, "a", " end\nbegin", 61000);
    assert_out(view, "a: begin end\n");
    feed(view, 0, "a", " end", 62000);
    logview_end(view, 0);
    assert_out(view, "a: begin end\n");
}

static void test_the_rest_of_a_line_let_through_is_shown_too(void **state)
{
    struct logview *view = *state;
    feed(view, 0, "a", "begin", 0);
    logview_tick(view, 1000);
    feed(view, 0, "a", " end\r\n", 1500);
    assert_out(view, "a: begin\na:  end\n");
    feed(view, 0, "a", "x", 2000);
    logview_tick(view, 3000);
    logview_end(view, 0);
    assert_out(view, "a: x\n");
}

static void test_a_very_long_line_is_let_through(void **state)
{
    struct logview *view = *state;
    AUTO_FREE char *bytes = xcalloc(1, LOGVIEW_LINE_MAX + 11);
    memset(bytes, 'x', LOGVIEW_LINE_MAX + 10);
    feed(view, 0, "a", bytes, 0);
    assert_int_equal(view->out.len, strlen("a: ") + LOGVIEW_LINE_MAX + 1);
    assert_int_equal(view->nodes[0].lines.part.len, 10);
    str_reset(&view->out);
    feed(view, 0, "a", "\n", 0);
    assert_out(view, "a: xxxxxxxxxx\n");
    memset(bytes, 'y', LOGVIEW_LINE_MAX);
    bytes[LOGVIEW_LINE_MAX] = '\n'; /* exactly as long as the limit: one line, not two */
    bytes[LOGVIEW_LINE_MAX + 1] = '\0';
    feed(view, 0, "a", bytes, 0);
    assert_int_equal(view->out.len, strlen("a: ") + LOGVIEW_LINE_MAX + 1);
}

static void test_a_character_is_not_torn(void **state)
{
    struct logview *view = *state;
    feed(view, 0, "a", "x\xe6\x97", 0);
    logview_tick(view, 1000);
    assert_out(view, "a: x\n");
    assert_int_equal(logview_wait_ms(view, 1000), 1000);
    feed(view, 0, "a", "\xa5!\n", 1200);
    assert_out(view, "a: \xe6\x97\xa5!\n");
    feed(view, 0, "a", "\xe6", 2000);
    logview_tick(view, 3000);
    assert_out(view, "");
    logview_end(view, 0);
    assert_out(view, "a: \xef\xbf\xbd\n");
}

/* What a view shall show of a whole log, told apart from how it does it: byte by byte. */
static void add_expected(struct str *out, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(bytes + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - bytes) : len, to = end, from = at;
        while (to > at && bytes[to - 1] == '\r') {
            to--;
        }
        for (size_t i = at; i < to; i++) {
            from = bytes[i] == '\r' ? i + 1 : from;
        }
        str_add(out, "a: ");
        while (from < to) { /* a character of several bytes is judged as a whole */
            size_t piece = 1;
            while (from + piece < to && ((unsigned char)bytes[from] & 0xc0) == 0xc0 &&
                   ((unsigned char)bytes[from + piece] & 0xc0) == 0x80) {
                piece++;
            }
            text_add_safe(out, bytes + from, piece);
            from += piece;
        }
        str_add_char(out, '\n');
        at = end + 1;
    }
}

static void make_log(struct str *out, unsigned *seed)
{
    static const char *const parts[] = {
        "\n",       "\r",       "\r\n",      "\t",           "\033[1m", "iteration 12345 loss 1.25",
        "\xC3\xA4", "\xFF",     "\xE2\x82",  "\xE2\x80\xAE", "\x7f",    "x",
        "0123456",  "01234567", "012345678", "\xC2\x9B",     "\x80",    " "};
    str_reset(out);
    for (int i = rand_r(seed) % 40; i >= 0; i--) {
        if (rand_r(seed) % 15 == 0) {
            str_add_char(out, '\0');
        }
        str_add(out, parts[rand_r(seed) % (int)ARRAY_LEN(parts)]);
    }
}

/* However the bytes come, and whatever they are. */
static void test_pieces_change_nothing(void **state)
{
    struct logview *view = *state;
    unsigned seed = 7;
    for (int round = 0; round < 5000; round++) {
        AUTO_STR struct str log = STR_INIT, expected = STR_INIT;
        make_log(&log, &seed);
        add_expected(&expected, log.data, log.len);
        size_t node = logview_node(view, 0, "a");
        for (size_t at = 0, len; at < log.len; at += len) {
            len = 1 + (size_t)rand_r(&seed) % (round % 2 ? 4 : 200);
            len = len < log.len - at ? len : log.len - at;
            logview_feed(view, node, log.data + at, len, 0);
        }
        logview_end(view, node);
        assert_int_equal(view->out.len, expected.len);
        assert_memory_equal(str_text(&view->out), str_text(&expected), expected.len);
        str_reset(&view->out);
    }
}

static void test_json_lines(void **state)
{
    struct logview *view = *state;
    view->json = true;
    feed(view, 7, "g\"1", "a \"b\"\r\x1b\xff\n", 0);
    json_t *line = answer_object(&view->out);
    assert_keys(line, "host rank text");
    assert_string_equal(json_string_value(json_object_get(line, "host")), "g\"1");
    assert_int_equal(json_integer_value(json_object_get(line, "rank")), 7);
    assert_string_equal(json_string_value(json_object_get(line, "text")), "?\xef\xbf\xbd");
    json_decref(line);
}

static void test_raw_bytes_are_left_alone(void **state)
{
    struct logview *view = *state;
    view->raw = true;
    logview_feed(view, logview_node(view, 0, "a"), "\0\r\033x", 4, 0);
    assert_int_equal(view->out.len, 4);
    assert_memory_equal(view->out.data, "\0\r\033x", 4);
}

static void test_filter(void **state)
{
    struct logview *view = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(logview_grep(view, "^(loss|lr)=[0-9]+$", &err), 0);
    feed(view, 0, "a", "loss=1\nloss=x\nx lr=2\n10%\rlr=3\n", 0);
    assert_out(view, "a: loss=1\na: lr=3\n");
}

static void test_a_wrong_filter_is_named(void **state)
{
    struct logview *view = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(logview_grep(view, "a(b", &err), -1);
    assert_ptr_equal(err.kind, &kind_usage);
    assert_true(text_starts(err.text, "'a(b' is not a valid regular expression for --grep: "));
    assert_contains(err.hint, "backslash");
}

static void test_color_is_in_the_prefix_alone(void **state)
{
    struct logview *view = *state;
    view->color = true;
    feed(view, 0, "a", "x\n", 0);
    assert_out(view, "\033[1ma:\033[0m x\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pieces_change_nothing),
        TEST(test_lines_of_two_nodes_are_never_joined),
        TEST(test_only_what_follows_the_last_return_is_shown),
        TEST(test_control_characters_are_replaced),
        TEST(test_a_waiting_line_is_let_through),
        TEST(test_a_patient_view_waits_for_the_end),
        TEST(test_the_rest_of_a_line_let_through_is_shown_too),
        TEST(test_a_very_long_line_is_let_through),
        TEST(test_a_character_is_not_torn),
        TEST(test_json_lines),
        TEST(test_raw_bytes_are_left_alone),
        TEST(test_filter),
        TEST(test_a_wrong_filter_is_named),
        TEST(test_color_is_in_the_prefix_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
