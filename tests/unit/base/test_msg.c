/* Messages: prefixes, levels, one write a line, nothing raw. stderr is a socket that keeps writes apart. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/msg.h"
#include "test.h"

struct capture {
    int real, from; /* the true stderr; where the writes arrive */
    char line[4096];
};

static int begin_capture(void **state)
{
    struct capture *capture = xcalloc(1, sizeof *capture);
    int ends[2];

    *state = capture;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) {
        return -1;
    }
    capture->real = dup(STDERR_FILENO);
    capture->from = ends[0];
    if (capture->real < 0 || dup2(ends[1], STDERR_FILENO) < 0) {
        return -1;
    }
    close(ends[1]);
    msg_set_level(MSG_NORMAL);
    return 0;
}

static int end_capture(void **state)
{
    struct capture *capture = *state;

    dup2(capture->real, STDERR_FILENO);
    close(capture->real);
    close(capture->from);
    free(capture);
    msg_set_before(NULL);
    return 0;
}

/* What the next write() wrote; NULL: there was none. */
static const char *next_write(struct capture *capture)
{
    ssize_t got = recv(capture->from, capture->line, sizeof capture->line - 1, MSG_DONTWAIT);

    if (got < 0) {
        return NULL;
    }
    capture->line[got] = '\0';
    return capture->line;
}

static void test_prefixes(void **state)
{
    msg_error("host '%s' is unknown", "a");
    assert_string_equal(next_write(*state), "mtlaunch: host 'a' is unknown\n");
    msg_hint("look at %d", 1);
    assert_string_equal(next_write(*state), "  hint: look at 1\n");
    msg_warn("an entry is dropped");
    assert_string_equal(next_write(*state), "mtlaunch: warning: an entry is dropped\n");
    msg_info("no host list: running on this machine alone");
    assert_string_equal(next_write(*state), "no host list: running on this machine alone\n");
    assert_null(next_write(*state));
}

static void say_all(void)
{
    msg_warn("w");
    msg_hint("of w");
    msg_info("i");
    msg_hint("of i");
    msg_verbose("v");
    msg_error("e");
    msg_hint("of e");
    msg_hint("more of e");
}

static void check_writes(struct capture *capture, const char *const *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = next_write(capture);
        assert_non_null(got);
        assert_string_equal(got, want[i]);
    }
    assert_null(next_write(capture));
}

static void test_levels(void **state)
{
    static const char *const quiet[] = {"mtlaunch: e\n", "  hint: of e\n", "  hint: more of e\n"};
    static const char *const normal[] = {"mtlaunch: warning: w\n", "  hint: of w\n", "i\n",
                                         "  hint: of i\n",         "mtlaunch: e\n",  "  hint: of e\n",
                                         "  hint: more of e\n"};
    static const char *const verbose[] = {
        "mtlaunch: warning: w\n", "  hint: of w\n",     "i\n", "  hint: of i\n", "v\n", "mtlaunch: e\n",
        "  hint: of e\n",         "  hint: more of e\n"};

    msg_set_level(MSG_QUIET);
    assert_int_equal(msg_get_level(), MSG_QUIET);
    say_all();
    check_writes(*state, quiet, ARRAY_LEN(quiet));
    msg_set_level(MSG_NORMAL);
    say_all();
    check_writes(*state, normal, ARRAY_LEN(normal));
    msg_set_level(MSG_VERBOSE);
    assert_int_equal(msg_get_level(), MSG_VERBOSE);
    say_all();
    check_writes(*state, verbose, ARRAY_LEN(verbose));
}

static void test_nothing_raw_passes(void **state)
{
    msg_error("a\x1B[2J\r\x07\tb\xFF\xC2\x9B");
    assert_string_equal(next_write(*state), "mtlaunch: a?[2J?? b\xEF\xBF\xBD?\n");
    assert_null(next_write(*state));
}

static void test_each_line_is_one_write(void **state)
{
    static const char *const want[] = {"mtlaunch: run 'r' has stalled\n", "    g1: step 5\n",
                                       "    g2: step 4\n"};

    msg_error("%s", "run 'r' has stalled\n    g1: step 5\n    g2: step 4");
    check_writes(*state, want, ARRAY_LEN(want));
}

/* S10: a newline in foreign text begins no line that can be taken for one of ours. */
static void test_a_line_cannot_be_forged(void **state)
{
    msg_warn("held by '%s'", "x\nmtlaunch: all is well\n  y\rz\xE2\x80\xAE"
                             "a'\n    quoted");
    assert_string_equal(next_write(*state), "mtlaunch: warning: held by 'x mtlaunch: all is well   y?z?a'\n");
    assert_string_equal(next_write(*state), "    quoted'\n");
    assert_null(next_write(*state));
}

static void clear_line(void)
{
    if (write(STDERR_FILENO, "<clear>", 7) != 7) {
        abort();
    }
}

static void test_before_is_called_once_and_only_when_shown(void **state)
{
    static const char *const want[] = {"<clear>", "mtlaunch: a\n", "    b\n"};

    msg_set_before(clear_line);
    msg_verbose("not shown");
    msg_error("a\n    b");
    check_writes(*state, want, ARRAY_LEN(want));
}

static void test_errno_is_left_alone(void **state)
{
    errno = EINTR;
    close(STDERR_FILENO); /* nowhere to write to */
    msg_error("unheard");
    assert_int_equal(errno, EINTR);
    assert_null(next_write(*state));
}

static void test_long_message(void **state)
{
    AUTO_FREE char *text = xcalloc(3001, 1);

    memset(text, 'x', 3000);
    msg_info("%s", text);
    const char *got = next_write(*state);
    assert_non_null(got);
    assert_int_equal(strlen(got), 3001);
}

/* Make stderr a pipe that takes nothing more and does not block; returns its reading end. */
static int fill_stderr(void)
{
    static const char block[4096];
    int ends[2];

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    while (write(STDERR_FILENO, block, sizeof block) > 0) {
        continue;
    }
    assert_int_equal(errno, EAGAIN);
    return ends[0];
}

static void test_slow_reader_gets_the_message(void **state)
{
    (void)state;
    AUTO_STR struct str got = STR_INIT;
    int from = fill_stderr();
    pid_t pid = fork_child();

    if (pid == 0) {
        msg_error("late");
        _exit(0);
    }
    close(STDERR_FILENO); /* the child's is the last one, so that the end can be seen */
    fcntl(from, F_SETFL, 0);
    read_to_end(from, &got);
    close(from);
    assert_int_equal(wait_for(pid), 0);
    assert_string_equal(got.data + got.len - 15, "mtlaunch: late\n");
}

static void test_stopped_reader_does_not_stop_us(void **state)
{
    (void)state;
    AUTO_CLOSE int from = fill_stderr();

    msg_error("nobody reads this");
    assert_true(from >= 0);
}

#define CAPTURED(test) cmocka_unit_test_setup_teardown(test, begin_capture, end_capture)

static void take_line(void *ctx, const char *line, size_t len)
{
    str_add_char(ctx, '[');
    str_add_mem(ctx, line, len);
}

/* Whoever draws over the terminal takes what would be written there. */
static void test_lines_are_taken(void **state)
{
    AUTO_STR struct str taken = STR_INIT;

    msg_set_taker(take_line, &taken);
    msg_warn("w");
    msg_write("made\nelsewhere", strlen("made\nelsewhere"));
    msg_set_taker(NULL, NULL);
    assert_null(next_write(*state));
    assert_string_equal(str_text(&taken), "[mtlaunch: warning: w\n[made\n[elsewhere");
    msg_write("again\n", strlen("again\n"));
    assert_string_equal(next_write(*state), "again\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAPTURED(test_prefixes),
        CAPTURED(test_levels),
        CAPTURED(test_nothing_raw_passes),
        CAPTURED(test_each_line_is_one_write),
        CAPTURED(test_a_line_cannot_be_forged),
        CAPTURED(test_lines_are_taken),
        CAPTURED(test_before_is_called_once_and_only_when_shown),
        CAPTURED(test_errno_is_left_alone),
        CAPTURED(test_long_message),
        CAPTURED(test_slow_reader_gets_the_message),
        CAPTURED(test_stopped_reader_does_not_stop_us),
    };
    return cmocka_run_group_tests_name("base/msg", tests, NULL, NULL);
}
