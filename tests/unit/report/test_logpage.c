/* The last lines of a log, as a screen shows them. */
#include "report/logpage.h"
#include "report_test.h"

static void test_what_is_shown(void **state)
{
    static const struct {
        const char *name;
        const char *pieces[5]; /* flushed after each but the last */
        const char *wanted;
    } cases[] = {
        {"lines", {"one\ntwo\n"}, "one\ntwo\n"},
        {"a line in two pieces", {"on", "e\ntwo\n"}, "one\ntwo\n"},
        {"a prompt", {"one\nwhat? ", ""}, "one\nwhat? "},
        {"a bar within a line", {" 10%\r 20%\r 30%\ndone\n"}, " 30%\ndone\n"},
        {"a bar that grows", {" 10%", "\r 20%", "\r 30%", "\ndone\n"}, " 30%\ndone\n"},
        {"a carriage return at the end", {"10%\r", "20%\r", "done\n"}, "10%20%done\n"},
        {"CRLF", {"one\r\ntwo\r\n"}, "one\ntwo\n"},
        {"control characters", {"a\033[2Jb\n"}, "a?[2Jb\n"},
        {"a tab", {"a\tb\n"}, "a b\n"},
        {"no line end at the end", {"one\ntwo"}, "one\n"},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].name) {
        struct logpage page;
        logpage_init(&page);
        for (size_t piece = 0; piece < 5 && cases[i].pieces[piece]; piece++) {
            if (piece > 0) {
                logpage_flush(&page);
            }
            logpage_feed(&page, cases[i].pieces[piece], strlen(cases[i].pieces[piece]));
        }
        assert_string_equal(str_text(&page.text), cases[i].wanted);
        logpage_release(&page);
    }
}

static void test_it_is_bounded(void **state)
{
    struct logpage page;
    AUTO_STR struct str line = STR_INIT;
    (void)state;
    logpage_init(&page);
    for (unsigned i = 0; i < 40000; i++) {
        str_reset(&line);
        str_addf(&line, "line %u\n", i);
        logpage_feed(&page, line.data, line.len);
        assert_true(page.text.len <= LOGPAGE_BYTES);
    }
    assert_true(page.text.len > LOGPAGE_BYTES / 4);
    assert_string_equal(page.text.data + page.text.len - strlen("line 39999\n"), "line 39999\n");
    assert_true(strncmp(page.text.data, "line ", 5) == 0);
    str_reset(&line);
    for (size_t i = 0; i < 3 * LOGPAGE_BYTES; i++) {
        str_add_char(&line, 'x');
    }
    logpage_feed(&page, line.data, line.len); /* one line that has no end */
    logpage_flush(&page);
    assert_true(page.text.len <= LOGPAGE_BYTES);
    logpage_feed(&page, "\rlast\n", strlen("\rlast\n"));
    assert_string_equal(page.text.data + page.text.len - strlen("last\n"), "last\n");
    logpage_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_shown),
        cmocka_unit_test(test_it_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
