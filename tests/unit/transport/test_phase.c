/* The table of a link's phases: every row is whole, and its time-out says what has not happened. */

#include "test.h"
#include "transport/ssh/phase_internal.h"

/* A phase whose time is up has an error; one that has no time of its own, or only pauses, has none. */
static void test_rows(void **state)
{
    (void)state;
    for (int phase = 0; phase < SSH_PHASES; phase++) {
        const struct ssh_phase_row *row = ssh_phase_row(phase);
        bool fails = row->limit != SSH_LIMIT_NONE && row->limit != SSH_LIMIT_PAUSE;
        if (!row->name || fails != (row->kind != NULL) || fails != (row->words != NULL)) {
            print_error("phase %d ('%s') lacks a part\n", phase, row->name ? row->name : "?");
        }
        assert_non_null(row->name);
        assert_int_equal(fails, row->kind != NULL);
        assert_int_equal(fails, row->words != NULL);
        for (int other = 0; other < phase; other++) {
            assert_string_not_equal(row->name, ssh_phase_row(other)->name);
        }
    }
}

static void test_time_out(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    ssh_phase_time_out(SSH_PHASE_CONNECT, "port 22", 1500, &err);
    assert_ptr_equal(err.kind, &kind_timed_out);
    assert_string_equal(err.text, "port 22: no answer within 1.5 s");
    assert_non_null(strstr(err.hint, "--connect-timeout"));
    ssh_phase_time_out(SSH_PHASE_LOOKUP, "'g1' port 22", 10000, &err);
    assert_ptr_equal(err.kind, &kind_name_not_resolved);
    assert_string_equal(err.text, "'g1' port 22: the name was not resolved within 10 s");
    ssh_phase_time_out(SSH_PHASE_CHANNEL, NULL, 10000, &err);
    assert_string_equal(err.text, "the ssh server opened no channel within 10 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_time_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
