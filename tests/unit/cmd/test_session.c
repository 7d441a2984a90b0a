/* The answer of commands about runs: one object, with the error unless the picture says it. */
#include "cmd/session_internal.h"
#include "cmd_test.h"

struct fixture {
    struct stage stage;
    struct cmd_call call;
    struct session session;
    struct run run;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    struct error err = ERROR_INIT;
    stage_begin(&fixture->stage);
    fixture->call.style = REPORT_STYLE_PLAIN;
    if (session_open(&fixture->session, &fixture->call, STDOUT_FILENO, &err) != 0) {
        fail_msg("%s", err.text);
    }
    run_init(&fixture->run);
    fixture->run.name = xstrdup("r1");
    fixture->run.state = RUN_STOPPING;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    run_release(&fixture->run);
    session_close(&fixture->session);
    cmd_call_release(&fixture->call);
    stage_end(&fixture->stage);
    free(fixture);
    return 0;
}

static void assert_answer(struct fixture *fixture, const struct run_stop_result *stop,
                          const struct error_kind *kind, bool error_shown)
{
    struct error err = ERROR_INIT;
    fixture->call.style.json = true;
    error_set(&err, kind, "it went wrong");
    assert_int_equal(session_answer(&fixture->session, &fixture->run, stop, -1, &err), -1);
    assert_true(fixture->call.answered);
    AUTO_FREE char *text = stage_text(&fixture->stage, 1);
    assert_contains(text, "\"run\":\"r1\"");
    if (error_shown) {
        assert_contains(text, "\"message\":\"it went wrong\"");
    } else {
        assert_lacks(text, "\"error\"");
    }
    if (stop) {
        assert_contains(text, "\"survivors\":[]");
    }
    assert_int_equal(ftruncate(fixture->stage.caught[1], 0), 0);
    lseek(fixture->stage.caught[1], 0, SEEK_SET);
}

static void test_errors_in_json(void **state)
{
    const struct run_stop_result stop = {0};
    assert_answer(*state, NULL, &kind_run_live, true);
    assert_answer(*state, NULL, &kind_not_proven, true);
    assert_answer(*state, NULL, &kind_time_limit, true);
    assert_answer(*state, NULL, &kind_run_failed, false);
    assert_answer(*state, NULL, &kind_run_stopped, false);
    assert_answer(*state, NULL, &kind_run_lost, false);
    assert_answer(*state, &stop, &kind_not_proven, false);
    assert_answer(*state, &stop, &kind_interrupted, true);
}

static void test_text_names_what_was_cleaned(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    struct run_stop_result stop = {0};
    strlist_add(&stop.cleaned, "g1: killed 2 leftover processes\033");
    assert_int_equal(session_answer(&fixture->session, &fixture->run, &stop, 0, &err), 0);
    AUTO_FREE char *text = stage_text(&fixture->stage, 1);
    assert_contains(text, "r1: stopping");
    assert_contains(text, "g1: killed 2 leftover processes?\n");
    strlist_release(&stop.cleaned);
}

static void test_defaults_and_options(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(fixture->session.context.fanout, 64);
    assert_int_equal(fixture->session.context.connect_timeout_ms, 0);
    assert_false(fixture->session.context.die_armed);

    struct session other = {0};
    struct error err = ERROR_INIT;
    fixture->call.options.fanout = (struct option_uint){true, 3};
    fixture->call.options.connect_timeout = (struct option_uint){true, 2};
    setenv("MTLAUNCH_TEST_DIE_AT", "7", 1);
    assert_int_equal(session_open(&other, &fixture->call, STDOUT_FILENO, &err), 0);
    unsetenv("MTLAUNCH_TEST_DIE_AT");
    assert_int_equal(other.context.fanout, 3);
    assert_int_equal(other.context.connect_timeout_ms, 2000);
    assert_true(other.context.die_armed);
    assert_int_equal(other.context.die_at, 7);
    session_close(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_errors_in_json), TEST(test_text_names_what_was_cleaned),
                                       TEST(test_defaults_and_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
