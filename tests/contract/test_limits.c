/* A machine that has no more to give: what cannot be opened or started here is said to be so, and whose it
 * is. */
#include "fixture.h"

static void test_no_more_files(void **state)
{
    const struct rlimit before = file_limits();

    for (int local = 0; local <= 1; local++) {
        struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", local == 1);
        struct fleet *fleet = make_fleet(0, 0);
        struct exec_request request = {.command = "true"};
        struct outcome outcome = {0};
        outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
        limit_files(lowest_free_file(), before.rlim_max);
        fleet_run(fleet);
        limit_files(before.rlim_cur, before.rlim_max);
        assert_failed(&outcome, &kind_local);
        assert_non_null(strstr(outcome.result.error.text,
                               local == 1 ? "/bin/sh cannot be started" : "no more files can be opened"));
        fleet_free(fleet);
        endpoint_release(&endpoint);
        outcome_release(&outcome);
    }
}

static void test_no_loop(void **state)
{
    struct error err = ERROR_INIT;
    const struct rlimit before = file_limits();
    struct fleet *fleet;

    (void)state;
    limit_files(lowest_free_file(), before.rlim_max);
    fleet = fleet_new(NULL, &err);
    limit_files(before.rlim_cur, before.rlim_max);
    assert_null(fleet);
    assert_true(error_is(&err, &kind_local));
    assert_non_null(strstr(err.text, "the event loop cannot be made"));
    fleet_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_more_files),
        cmocka_unit_test(test_no_loop),
    };

    return cmocka_run_group_tests(tests, world_set_up, world_tear_down);
}
