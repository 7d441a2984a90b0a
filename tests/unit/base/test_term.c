/* What the streams can show, with a terminal of our own. */
#include <sys/ioctl.h>
#include <termios.h>

#include "base/term.h"
#include "test.h"

struct terminal {
    int master, fd;
};

static int open_terminal(void **state)
{
    struct terminal *terminal = xcalloc(1, sizeof *terminal);

    *state = terminal;
    unsetenv("COLUMNS");
    terminal->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal->master < 0 || grantpt(terminal->master) != 0 || unlockpt(terminal->master) != 0) {
        return -1;
    }
    terminal->fd = open(ptsname(terminal->master), O_RDWR | O_NOCTTY);
    return terminal->fd < 0 ? -1 : 0;
}

static int close_terminal(void **state)
{
    struct terminal *terminal = *state;

    unsetenv("COLUMNS");
    close(terminal->fd);
    close(terminal->master);
    free(terminal);
    return 0;
}

static void set_width(const struct terminal *terminal, unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};

    assert_int_equal(ioctl(terminal->master, TIOCSWINSZ, &size), 0);
}

static void test_tty(void **state)
{
    const struct terminal *terminal = *state;
    AUTO_CLOSE int file = open("/dev/null", O_RDWR);

    assert_true(term_is_tty(terminal->fd));
    assert_false(term_is_tty(file));
    assert_false(term_is_tty(-1));
}

static void test_width_of_the_terminal(void **state)
{
    const struct terminal *terminal = *state;
    AUTO_CLOSE int file = open("/dev/null", O_RDWR);

    set_width(terminal, 132);
    assert_int_equal(term_columns(terminal->fd), 132);
    set_width(terminal, 0); /* unknown */
    assert_int_equal(term_columns(terminal->fd), 80);
    set_width(terminal, 3);
    assert_int_equal(term_columns(terminal->fd), 20);
    assert_int_equal(term_columns(file), 80);
    assert_int_equal(term_columns(-1), 80);
}

static void test_width_by_environment(void **state)
{
    const struct terminal *terminal = *state;
    AUTO_CLOSE int file = open("/dev/null", O_RDWR);

    set_width(terminal, 132);
    setenv("COLUMNS", "100", 1);
    assert_int_equal(term_columns(file), 100);
    assert_int_equal(term_columns(terminal->fd), 100);
    setenv("COLUMNS", "5", 1);
    assert_int_equal(term_columns(file), 20);
    static const char *const useless[] = {"", "0", "wide", "-3", "10001", "99999999999999999999"};
    FOR_ROWS(i, useless, useless[i]) {
        setenv("COLUMNS", useless[i], 1);
        assert_int_equal(term_columns(file), 80);
        assert_int_equal(term_columns(terminal->fd), 132);
    }
}

static void test_size(void **state)
{
    const struct terminal *terminal = *state;
    size_t rows = 0, columns = 0;

    setenv("COLUMNS", "100", 1); /* of a screen only its own size counts */
    set_width(terminal, 132);
    term_size(terminal->fd, &rows, &columns);
    assert_int_equal(rows, 24);
    assert_int_equal(columns, 132);
    set_width(terminal, 0);
    term_size(terminal->fd, &rows, &columns);
    assert_int_equal(columns, 80);
    term_size(-1, &rows, &columns);
    assert_int_equal(rows, 24);
    assert_int_equal(columns, 80);
}

static void test_what_can_be_drawn_over(void **state)
{
    const struct terminal *terminal = *state;
    AUTO_CLOSE int file = open("/dev/null", O_RDWR);

    setenv("TERM", "xterm", 1);
    assert_true(term_can_redraw(terminal->fd));
    assert_false(term_can_redraw(file));
    setenv("TERM", "dumb", 1);
    assert_false(term_can_redraw(terminal->fd));
    unsetenv("TERM");
    assert_false(term_can_redraw(terminal->fd));
}

static void test_color(void **state)
{
    const struct terminal *terminal = *state;
    AUTO_CLOSE int file = open("/dev/null", O_RDWR);

    assert_true(term_use_color(terminal->fd, TERM_COLOR_AUTO, NULL));
    assert_true(term_use_color(terminal->fd, TERM_COLOR_AUTO, ""));
    assert_false(term_use_color(terminal->fd, TERM_COLOR_AUTO, "1"));
    assert_false(term_use_color(terminal->fd, TERM_COLOR_NEVER, NULL));
    assert_false(term_use_color(file, TERM_COLOR_AUTO, NULL));
    assert_true(term_use_color(file, TERM_COLOR_ALWAYS, "1"));
}

#define WITH_TERMINAL(test) cmocka_unit_test_setup_teardown(test, open_terminal, close_terminal)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TERMINAL(test_tty),
        WITH_TERMINAL(test_width_of_the_terminal),
        WITH_TERMINAL(test_width_by_environment),
        WITH_TERMINAL(test_size),
        WITH_TERMINAL(test_what_can_be_drawn_over),
        WITH_TERMINAL(test_color),
    };
    return cmocka_run_group_tests_name("base/term", tests, NULL, NULL);
}
