/* Events of runs on their way to the notifier: which are told, how often, and what else sees them. */
#include "report/console.h"
#include "report/notify.h"
#include "report_test.h"

static unsigned seen_before;

static void count_event(void *ctx, const struct run *run, const char *event, const char *host,
                        const char *text)
{
    (void)ctx;
    (void)run;
    (void)event;
    (void)host;
    (void)text;
    seen_before++;
}

struct fixture {
    struct report_style style;
    struct failures failures;
    struct console console;
    struct notifier *notifier;
    struct run run;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    struct notify_targets targets = {0};
    notify_targets_add(&targets, "https://127.0.0.1:1/")->on = ~0U; /* nothing is posted: nobody works it */
    fixture->notifier = notifier_new(&targets, NULL, NULL);
    assert_non_null(fixture->notifier);
    notify_targets_release(&targets);
    console_init(&fixture->console, &fixture->style, &fixture->failures, 1);
    seen_before = 0;
    fixture->console.observer.event = count_event;
    console_notify(&fixture->console, fixture->notifier);
    run_init(&fixture->run);
    fixture->run.attempt = 1;
    strcpy(fixture->run.id, "r-0123abcd");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    notifier_free(fixture->notifier);
    console_release(&fixture->console);
    run_release(&fixture->run);
    free(fixture);
    return 0;
}

static size_t waiting_after(struct fixture *fixture, const char *event)
{
    fixture->console.observer.event(&fixture->console, &fixture->run, event, NULL, "text");
    return notifier_waiting(fixture->notifier);
}

static void test_an_end_is_told_once_an_attempt(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(waiting_after(fixture, "started"), 1);
    assert_int_equal(waiting_after(fixture, "stalled"), 2);
    assert_int_equal(waiting_after(fixture, "stalled"), 3);
    assert_int_equal(waiting_after(fixture, "failed"), 4);
    assert_int_equal(waiting_after(fixture, "failed"), 4);
    assert_int_equal(waiting_after(fixture, "stopped"), 4);
    fixture->run.attempt = 2;
    assert_int_equal(waiting_after(fixture, "restarted"), 5);
    assert_int_equal(waiting_after(fixture, "failed"), 6);
}

static void test_other_events_are_nobodys(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(waiting_after(fixture, "stopping"), 0);
    assert_int_equal(waiting_after(fixture, "start-interrupted"), 0);
}

static void test_who_saw_events_before_still_does(void **state)
{
    struct fixture *fixture = *state;
    waiting_after(fixture, "stopping");
    waiting_after(fixture, "started");
    assert_int_equal(seen_before, 2);
    assert_ptr_equal(fixture->console.observer.works[RUN_WORK_NOTIFIER].ctx, fixture->notifier);
    console_notify(&fixture->console, NULL);
    assert_ptr_equal(fixture->console.observer.event, count_event);
    assert_null(fixture->console.observer.works[RUN_WORK_NOTIFIER].ready);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_end_is_told_once_an_attempt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_events_are_nobodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_saw_events_before_still_does, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
