/* What exec prints: gathered groups, the JSON of a host, labelled lines with a reader that is slow or gone.
 */
#include <signal.h>

#include "report/exec.h"
#include "report/output.h"
#include "report_test.h"

#define RULE "---------------\n"

struct fixture {
    struct report_exec report;
    struct strlist labels;
    struct failures failures;
    struct report_style style;
};

static void begin(struct fixture *fixture, enum report_exec_mode mode, int hosts)
{
    *fixture = (struct fixture){.style = REPORT_STYLE_PLAIN};
    for (int i = 1; i <= hosts; i++) {
        strlist_addf(&fixture->labels, "g%04d", i);
    }
    report_exec_init(&fixture->report, mode, &fixture->style, &fixture->labels, &fixture->failures, true);
}

static void end(struct fixture *fixture)
{
    report_exec_release(&fixture->report);
    strlist_release(&fixture->labels);
    failures_release(&fixture->failures);
}

static bool say(struct fixture *fixture, size_t host, int stream, const char *text)
{
    const struct run_exec_observer *observer = &fixture->report.observer;

    return observer->output(observer->ctx, host, stream, text, strlen(text));
}

static void finish(struct fixture *fixture, size_t host, int status, const char *signal)
{
    const struct run_exec_observer *observer = &fixture->report.observer;
    struct error none = ERROR_INIT;
    struct run_exec_end how = {.error = &none, .exit_status = status, .signal = signal, .elapsed_ms = 1500};

    observer->ended(observer->ctx, host, &how);
}

static void lose(struct fixture *fixture, size_t host, const struct error_kind *kind)
{
    const struct run_exec_observer *observer = &fixture->report.observer;
    struct error err = ERROR_INIT;
    struct run_exec_end how = {.error = &err, .exit_status = -1, .signal = ""};

    error_set(&err, kind, "what failed");
    observer->ended(observer->ctx, host, &how);
}

static void test_gather(void **state)
{
    struct fixture fixture;
    AUTO_STR struct str out = STR_INIT, err = STR_INIT;

    (void)state;
    begin(&fixture, REPORT_EXEC_GATHER, 6);
    for (size_t i = 0; i < 6; i++) {
        say(&fixture, i, 1, i == 2 ? "other\r\033[1m" : "same\n");
        say(&fixture, i, 1, i == 2 ? "" : "\nend\n");
    }
    say(&fixture, 4, 2, "trouble\n");
    /* The order of the ends does not show. */
    for (size_t i = 6; i-- > 0;) {
        if (i != 5) {
            finish(&fixture, i, 0, "");
        }
    }
    lose(&fixture, 5, &kind_connection_lost);
    report_exec_gathered(&fixture.report, 1, &out);
    assert_string_equal(str_text(&out), RULE "g[0001-0002,0004-0006] (5)\n" RULE "same\n\nend\n" RULE
                                             "g0003\n" RULE "?[1m\n");
    report_exec_gathered(&fixture.report, 2, &err);
    assert_string_equal(str_text(&err), RULE "g0005\n" RULE "trouble\n");
    end(&fixture);
}

/* A stream of one byte more than is kept. */
static char *make_long(void)
{
    char *text = xcalloc(REPORT_EXEC_KEEP + 2, 1);

    memset(text, 'x', REPORT_EXEC_KEEP + 1);
    return text;
}

static void test_gather_says_what_is_cut(void **state)
{
    struct fixture fixture;
    AUTO_FREE char *text = make_long();
    AUTO_STR struct str out = STR_INIT;

    (void)state;
    begin(&fixture, REPORT_EXEC_GATHER, 2);
    say(&fixture, 0, 1, text);
    say(&fixture, 1, 1, text);
    finish(&fixture, 0, 0, "");
    finish(&fixture, 1, 0, "");
    report_exec_gathered(&fixture.report, 1, &out);
    assert_non_null(strstr(str_text(&out), "g[0001-0002] (2) the first 1 MiB\n"));
    assert_int_equal(out.len, strlen(RULE RULE "g[0001-0002] (2) the first 1 MiB\n") + REPORT_EXEC_KEEP + 1);
    end(&fixture);
}

static void check_host(struct fixture *fixture, size_t host, const char *expected)
{
    AUTO_STR struct str out = STR_INIT;

    report_exec_host_json(&fixture->report, host, &out);
    assert_string_equal(str_text(&out), expected);
}

static void test_json_of_a_host(void **state)
{
    struct fixture fixture;
    AUTO_FREE char *text = make_long();
    const struct run_exec_observer *observer = &fixture.report.observer;
    AUTO_STR struct str cut = STR_INIT;

    (void)state;
    begin(&fixture, REPORT_EXEC_JSON, 4);
    assert_true(observer->output(observer->ctx, 0, 1, "a\0\xff\x1b\n", 5));
    say(&fixture, 0, 2, "err");
    finish(&fixture, 0, 3, "");
    finish(&fixture, 1, 137, "KILL");
    lose(&fixture, 2, &kind_refused);
    say(&fixture, 3, 2, text);
    finish(&fixture, 3, 0, "");
    check_host(&fixture, 0,
               "{\"host\":\"g0001\",\"exit_status\":3,\"signal\":null,\"error\":null,"
               "\"stdout\":\"a\\u0000\xef\xbf\xbd\\u001B\\n\",\"stderr\":\"err\",\"truncated\":false,"
               "\"seconds\":1.5}");
    check_host(&fixture, 1,
               "{\"host\":\"g0002\",\"exit_status\":137,\"signal\":\"KILL\",\"error\":null,"
               "\"stdout\":\"\",\"stderr\":\"\",\"truncated\":false,\"seconds\":1.5}");
    check_host(&fixture, 2,
               "{\"host\":\"g0003\",\"exit_status\":null,\"signal\":null,\"error\":{\"kind\":\"refused\","
               "\"code\":3,\"message\":\"what failed\",\"hint\":null},"
               "\"stdout\":\"\",\"stderr\":\"\",\"truncated\":false,\"seconds\":null}");
    report_exec_host_json(&fixture.report, 3, &cut);
    assert_non_null(strstr(str_text(&cut), "\",\"truncated\":true,"));
    assert_true(cut.len > REPORT_EXEC_KEEP && cut.len < REPORT_EXEC_KEEP + 200);
    end(&fixture);
}

/* Put fd in place of stdout; returns what stood there. */
static int swap_stdout(int fd)
{
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);

    assert_true(saved >= 0);
    assert_true(dup2(fd, STDOUT_FILENO) >= 0);
    return saved;
}

static void put_back(int saved)
{
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
}

static void test_labels_and_codes(void **state)
{
    struct fixture fixture;
    struct error err = ERROR_INIT;
    char text[200] = "";
    int ends[2], saved, code;

    (void)state;
    begin(&fixture, REPORT_EXEC_LABEL, 3);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    saved = swap_stdout(ends[1]);
    say(&fixture, 1, 1, "whole\nhal");
    say(&fixture, 0, 1, "first\n");
    say(&fixture, 1, 1, "f");
    finish(&fixture, 1, 7, "");
    finish(&fixture, 0, 130, "");
    finish(&fixture, 2, 0, "");
    code = report_exec_finish(&fixture.report, false, &err);
    put_back(saved);
    assert_int_equal(code, 130);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "g0002: whole\ng0001: first\ng0002: half\n");
    close(ends[0]);
    close(ends[1]);
    end(&fixture);
}

static void test_failures_come_before_statuses(void **state)
{
    static const struct {
        const struct error_kind *kinds[2];
        int code;
    } cases[] = {{{&kind_time_limit, NULL}, 5}, {{&kind_time_limit, &kind_refused}, 3}, {{NULL, NULL}, 9}};

    (void)state;
    FOR_ROWS(i, cases, NULL) {
        struct fixture fixture;
        struct error err = ERROR_INIT;
        begin(&fixture, REPORT_EXEC_GATHER, 3);
        for (size_t host = 0; host < 2; host++) {
            if (cases[i].kinds[host] != NULL) {
                lose(&fixture, host, cases[i].kinds[host]);
            } else {
                finish(&fixture, host, 0, "");
            }
        }
        finish(&fixture, 2, 9, "");
        assert_int_equal(report_exec_finish(&fixture.report, false, &err), cases[i].code);
        end(&fixture);
    }
}

static void test_a_slow_reader_makes_it_full(void **state)
{
    struct fixture fixture;
    const struct run_exec_observer *observer = &fixture.report.observer;
    AUTO_FREE char *text = make_long();
    AUTO_FREE char *taken = xcalloc(1, 1 << 20);
    int ends[2], saved;

    (void)state;
    begin(&fixture, REPORT_EXEC_PLAIN, 1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    saved = swap_stdout(ends[1]);
    bool before = observer->full(observer->ctx) == -1;
    bool said = say(&fixture, 0, 1, text); /* more than a pipe holds; does not wait */
    bool full = observer->full(observer->ctx) == STDOUT_FILENO;
    ssize_t total = 0;
    bool went_on = true;
    while (total < (ssize_t)REPORT_EXEC_KEEP && went_on) {
        ssize_t len = read(ends[0], taken, 1 << 20);
        total += len;
        went_on = len > 0 && observer->writable(observer->ctx);
    }
    bool after = observer->full(observer->ctx) == -1;
    close(ends[0]);
    bool gone = !say(&fixture, 0, 1, text);
    put_back(saved);
    close(ends[1]);
    assert_true(before && said && full && went_on && after && gone);
    assert_ptr_equal(fixture.report.output_error.kind, &kind_output_closed);
    end(&fixture);
}

static void test_tick_sees_that_the_reader_is_gone(void **state)
{
    struct fixture fixture;
    const struct run_exec_observer *observer = &fixture.report.observer;
    int ends[2], saved;

    (void)state;
    begin(&fixture, REPORT_EXEC_LABEL, 1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    saved = swap_stdout(ends[1]);
    bool there = observer->tick(observer->ctx);
    close(ends[0]);
    bool gone = !observer->tick(observer->ctx);
    put_back(saved);
    close(ends[1]);
    assert_true(there && gone);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_gather_says_what_is_cut),
        cmocka_unit_test(test_json_of_a_host),
        cmocka_unit_test(test_labels_and_codes),
        cmocka_unit_test(test_failures_come_before_statuses),
        cmocka_unit_test(test_a_slow_reader_makes_it_full),
        cmocka_unit_test(test_tick_sees_that_the_reader_is_gone),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
