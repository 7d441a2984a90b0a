/* Held against every transport: input that comes bit by bit, output that has to wait. */
#include "fixture.h"

/* A command that is given its input bit by bit. */
struct feeding {
    struct outcome outcome;
    struct str given;
    unsigned pieces;
    bool was_started;
    char piece[40000];
};

static void feed_data(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct feeding *feeding = ctx;

    assert_true(feeding->was_started);
    outcome_data(&feeding->outcome, host, stream, bytes, len);
}

static void feed_done(void *ctx, size_t host, const struct exec_result *result)
{
    outcome_done(&((struct feeding *)ctx)->outcome, host, result);
}

static void feed_started(void *ctx, size_t host)
{
    (void)host;
    ((struct feeding *)ctx)->was_started = true;
}

static void feed_more(void *ctx, size_t host)
{
    struct feeding *feeding = ctx;

    (void)host;
    assert_true(feeding->was_started);
    if (++feeding->pieces > 30) {
        fleet_input_end(feeding->outcome.fleet, feeding->outcome.id);
        return;
    }
    memset(feeding->piece, 'a' + (int)feeding->pieces % 26, sizeof(feeding->piece));
    str_add_mem(&feeding->given, feeding->piece, sizeof(feeding->piece));
    fleet_input(feeding->outcome.fleet, feeding->outcome.id, feeding->piece, sizeof(feeding->piece));
}

static const struct exec_handler feeder = {
    .data = feed_data, .done = feed_done, .started = feed_started, .drained = feed_more};

static void run_feeding(const struct subject *subject, const char *command, struct feeding *feeding)
{
    struct exec_request request = {.command = command, .input = "begin", .input_len = 5, .hold_input = true};
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &subject->endpoint);

    str_add(&feeding->given, "begin");
    feeding->outcome.fleet = fleet;
    feeding->outcome.id = fleet_exec(fleet, host, &request, &feeder, feeding);
    assert_int_equal(fleet_run(fleet), 0);
    assert_ended(&feeding->outcome, 0);
    fleet_free(fleet);
}

static void test_more_input(void **state)
{
    struct feeding feeding = {0};

    run_feeding(*state, "cat", &feeding);
    assert_int_equal(feeding.pieces, 31);
    assert_int_equal(feeding.outcome.out.len, feeding.given.len);
    assert_memory_equal(feeding.outcome.out.data, feeding.given.data, feeding.given.len);
    outcome_release(&feeding.outcome);
    str_release(&feeding.given);
}

static void test_more_input_unread(void **state)
{
    struct feeding feeding = {0};

    run_feeding(*state, "exec <&-; sleep 0.5; echo out", &feeding);
    assert_string_equal(str_text(&feeding.outcome.out), "out\n");
    outcome_release(&feeding.outcome);
    str_release(&feeding.given);
}

struct pausing {
    struct outcome outcome;
    size_t most;   /* bytes by the end of the pause */
    bool at_start; /* pause before the first byte, not behind it */
    bool has_resumed;
};

static void resume(void *ctx)
{
    struct pausing *pausing = ctx;

    pausing->most = pausing->outcome.out.len;
    pausing->has_resumed = true;
    fleet_pause_output(pausing->outcome.fleet, false);
}

static void pause_now(struct pausing *pausing)
{
    fleet_pause_output(pausing->outcome.fleet, true);
    fleet_timer(pausing->outcome.fleet, 1300, resume, pausing); /* longer than an end waits for output */
}

static void pause_started(void *ctx, size_t host)
{
    struct pausing *pausing = ctx;

    (void)host;
    if (pausing->at_start) {
        pause_now(pausing);
    }
}

static void pause_data(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct pausing *pausing = ctx;

    if (!pausing->at_start && pausing->outcome.out.len == 0) {
        pause_now(pausing);
    }
    outcome_data(&pausing->outcome, host, stream, bytes, len);
}

static void pause_done(void *ctx, size_t host, const struct exec_result *result)
{
    outcome_done(&((struct pausing *)ctx)->outcome, host, result);
}

static const struct exec_handler pauser = {.data = pause_data, .done = pause_done, .started = pause_started};

static void run_pausing(const struct subject *subject, const char *command, struct pausing *pausing)
{
    struct exec_request request = {.command = command};
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &subject->endpoint);

    pausing->outcome.fleet = fleet;
    pausing->outcome.id = fleet_exec(fleet, host, &request, &pauser, pausing);
    assert_int_equal(fleet_run(fleet), 0);
    assert_ended(&pausing->outcome, 0);
    assert_true(pausing->has_resumed);
    fleet_free(fleet);
}

static void test_pause(void **state)
{
    struct pausing much = {0}, little = {.at_start = !((struct subject *)*state)->endpoint.local};

    run_pausing(*state, "head -c 12000000 /dev/zero", &much);
    assert_int_equal(much.outcome.out.len, 12000000);
    assert_true(much.most < 2000000);
    /* What has ended in a pause is heard to its end. */
    run_pausing(*state, "echo; sleep 0.1; head -c 30000 /dev/zero", &little);
    assert_int_equal(little.outcome.out.len, 30001);
    outcome_release(&much.outcome);
    outcome_release(&little.outcome);
}

static void count(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void test_await(void **state)
{
    struct fleet *fleet = make_fleet(0, 0);
    unsigned read_calls = 0, write_calls = 0, file_calls = 0, cancelled_calls = 0;
    int ends[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint64_t cancelled;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fleet_await(fleet, ends[0], false, count, &read_calls);
    fleet_await(fleet, ends[1], true, count, &write_calls);
    fleet_await(fleet, file, false, count, &file_calls);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(fleet_run(fleet), 0);
    assert_int_equal(read_calls, 1);
    assert_int_equal(write_calls, 1);
    assert_int_equal(file_calls, 1);
    cancelled = fleet_await(fleet, ends[0], false, count, &cancelled_calls);
    fleet_await_cancel(fleet, cancelled);
    assert_int_equal(fleet_run(fleet), 0);
    assert_int_equal(cancelled_calls, 0);
    fleet_await(fleet, ends[0], false, count, &cancelled_calls); /* given up by free */
    fleet_free(fleet);
    assert_int_equal(cancelled_calls, 0);
    close(ends[0]);
    close(ends[1]);
    close(file);
}

struct background {
    struct fleet *fleet;
    int from, other; /* what it reads; whose end it brings about */
    unsigned calls;
};

static void take_byte(void *ctx)
{
    struct background *background = ctx;
    char byte;

    background->calls++;
    assert_int_equal(read(background->from, &byte, 1), 1);
    if (byte == 'e') {
        fleet_background_end(background->fleet, background->from);
    }
}

static void stop(void *ctx)
{
    fleet_stop(ctx);
}

/* Other work of the caller: two descriptors, each with its own callback, one of which ends itself. */
static void test_background(void **state)
{
    struct fleet *fleet = make_fleet(0, 0);
    int one[2], two[2];

    (void)state;
    assert_int_equal(pipe2(one, O_CLOEXEC), 0);
    assert_int_equal(pipe2(two, O_CLOEXEC), 0);
    struct background first = {.fleet = fleet, .from = one[0]}, second = {.fleet = fleet, .from = two[0]};
    assert_int_equal(fleet_background(fleet, one[0], take_byte, &first, NULL), 0);
    assert_int_equal(fleet_background(fleet, two[0], take_byte, &second, NULL), 0);
    assert_int_equal(fleet_run(fleet), 0); /* they alone keep nothing running */
    assert_int_equal(write(one[1], "ab", 2), 2);
    assert_int_equal(write(two[1], "ex", 2), 2);
    fleet_timer(fleet, 200, stop, fleet);
    assert_int_equal(fleet_run(fleet), 1);
    assert_int_equal(first.calls, 2);
    assert_int_equal(second.calls, 1); /* "x" is left */
    fleet_free(fleet);
    for (int i = 0; i < 2; i++) {
        close(one[i]);
        close(two[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_input), cmocka_unit_test(test_more_input_unread),
        cmocka_unit_test(test_pause),      cmocka_unit_test(test_await),
        cmocka_unit_test(test_background),
    };
    int failed = cmocka_run_group_tests_name("local", tests, subject_set_up_local, subject_tear_down);

    failed += cmocka_run_group_tests_name("openssh", tests, subject_set_up_openssh, subject_tear_down);
    return failed + cmocka_run_group_tests_name("ssh", tests, subject_set_up_ssh, subject_tear_down);
}
