/* One signal at a time: blocked it waits, unblocked it arrives, and others are left alone. */
#include <signal.h>

#include "base/signals.h"
#include "test.h"

static volatile sig_atomic_t arrived;

static void on_signal(int number)
{
    (void)number;
    arrived++;
}

static void test_block(void **state)
{
    (void)state;
    arrived = 0;
    signal(SIGUSR1, on_signal);
    signal_block(SIGUSR1);
    assert_true(signal_is_blocked(SIGUSR1));
    assert_false(signal_is_blocked(SIGUSR2));
    raise(SIGUSR1);
    assert_int_equal(arrived, 0);
    signal_unblock(SIGUSR1);
    assert_int_equal(arrived, 1);
    assert_false(signal_is_blocked(SIGUSR1));
    signal(SIGUSR1, SIG_DFL);
}

static void test_ignored(void **state)
{
    (void)state;
    assert_false(signal_is_ignored(SIGUSR2));
    signal(SIGUSR2, SIG_IGN);
    assert_true(signal_is_ignored(SIGUSR2));
    signal(SIGUSR2, SIG_DFL);
    assert_false(signal_is_ignored(SIGUSR2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
