/* Frames of a screen, byte for byte, and how lines are cut for it. */
#include "report/screen.h"
#include "report_test.h"

#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define FAINT "\033[2m"
#define END   "\033[0m"
#define REST  "\033[K"

static void test_lines(void **state)
{
    static const struct {
        const char *name, *text;
        size_t columns;
        const char *wanted; /* lines, each with | behind it */
    } cases[] = {
        {"nothing", "", 10, ""},
        {"one line", "abc\n", 10, "abc|"},
        {"without an end", "abc", 10, "abc|"},
        {"empty lines", "\na\n\n", 10, "|a||"},
        {"as wide as the screen", "0123456789\nx\n", 10, "0123456789|x|"},
        {"at a blank", "reason: it failed\n", 10, "reason: it|failed|"},
        {"a blank in the last column", "012345678 ab\n", 10, "012345678|ab|"},
        {"the blank is the one too many", "0123456789 ab\n", 10, "0123456789|ab|"},
        {"a word that is too long", "abcdefghijklm\n", 10, "abcdefghij|klm|"},
        {"the blank is too far off", "a bcdefghijklmnopqrstuvwxyzABCDEFGHIJ\n", 30,
         "a bcdefghijklmnopqrstuvwxyzABC|DEFGHIJ|"},
        {"wide characters", "训练进度表\n", 5, "训练|进度|表|"},
        {"more than one byte", "a·b·c·d\n", 4, "a·b·|c·d|"},
        {"a colour takes no room", RED "lost" END " x\n", 6, RED "lost" END " x|"},
        {"a colour goes on", RED "lost and gone" END "\n", 6,
         RED "lost" END "|" RED "and" END "|" RED "gone" END "|"},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].name) {
        AUTO_STRLIST struct strlist lines = STRLIST_INIT;
        AUTO_STR struct str all = STR_INIT;
        screen_wrap(cases[i].text, cases[i].columns, &lines);
        for (size_t line = 0; line < lines.len; line++) {
            str_addf(&all, "%s|", lines.items[line]);
        }
        assert_string_equal(str_text(&all), cases[i].wanted);
    }
}

static void assert_frame(const struct screen *screen, const char *wanted)
{
    AUTO_STR struct str out = STR_INIT;
    screen_frame(screen, &out);
    assert_string_equal(str_text(&out), wanted);
}

static void test_frames(void **state)
{
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    struct screen screen = {
        .rows = 5, .columns = 20, .title = "r1: ended", .corner = "14:03:22", .footer = "q quit"};
    (void)state;
    screen_wrap("step 5/10\n" RED "n1 lost" END "\nexactly 20 columns..\nlast\n", 20, &lines);
    screen.lines = &lines;
    assert_frame(&screen, "\033[H"
                          "r1: ended   14:03:22\r\n"
                          "step 5/10" REST "\r\n" RED "n1 lost" END REST "\r\n"
                          "exactly 20 columns..\r\n"
                          "q quit" REST);
    screen.top = 2;
    screen.color = true;
    assert_frame(&screen, "\033[H" BOLD "r1: ended   14:03:22" END "\r\n"
                          "exactly 20 columns..\r\n"
                          "last" REST "\r\n" REST "\r\n" FAINT "q quit" END REST);
}

/* However small it is, each row is written once and the cursor stays on the screen. */
static void test_small_screens(void **state)
{
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    struct screen screen = {
        .columns = 6, .title = "run: running", .corner = "14:03", .lines = &lines, .footer = "q quit, l log"};
    (void)state;
    strlist_add(&lines, "one");
    strlist_add(&lines, "two");
    screen.rows = 1;
    assert_frame(&screen, "\033[Hone" REST);
    screen.rows = 2;
    assert_frame(&screen, "\033[Hone" REST "\r\nq quit");
    screen.rows = 3;
    assert_frame(&screen, "\033[Hrun: r\r\none" REST "\r\nq quit");
    screen.rows = 4;
    assert_frame(&screen, "\033[Hrun: r\r\none" REST "\r\ntwo" REST "\r\nq quit");
}

static void test_where_the_last_lines_are(void **state)
{
    (void)state;
    assert_int_equal(screen_room(24), 22);
    assert_int_equal(screen_last_top(22, 24), 0);
    assert_int_equal(screen_last_top(23, 24), 1);
    assert_int_equal(screen_last_top(300, 24), 278);
    assert_int_equal(screen_room(1), 1);
    assert_int_equal(screen_last_top(2, 1), 1);
    assert_int_equal(screen_last_top(0, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_small_screens),
        cmocka_unit_test(test_where_the_last_lines_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
