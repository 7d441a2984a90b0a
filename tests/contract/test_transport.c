/* The contract of fleet.h, one suite held against every transport: the local one and both clients to a real
 * sshd. */
#include "fixture.h"

#define STATUSES 18 /* 0, 15, 30 … 255: more at once than the 10 sessions of a connection */

static void test_statuses(void **state)
{
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &subject->endpoint);
    struct outcome *outcomes = xcalloc(STATUSES, sizeof(*outcomes));

    /* More at once than sshd's MaxSessions allows: the rest has to queue. */
    for (int i = 0; i < STATUSES; i++) {
        AUTO_FREE char *command = xasprintf("exit %d", 15 * i);
        struct exec_request request = {.command = command};
        outcome_ask(&outcomes[i], fleet, host, &request);
    }
    assert_int_equal(fleet_run(fleet), 0);
    for (int i = 0; i < STATUSES; i++) {
        assert_ended(&outcomes[i], 15 * i);
        assert_true(outcomes[i].result.started);
        assert_string_equal(outcomes[i].result.signal, "");
        outcome_release(&outcomes[i]);
    }
    free(outcomes);
    fleet_free(fleet);
}

static void test_signals(void **state)
{
    static const struct {
        const char *command, *name;
        int status;
    } cases[] = {
        {"kill -TERM $$", "TERM", 143}, {"kill -KILL $$", "KILL", 137}, {"kill -SEGV $$", "SEGV", 139}};
    struct subject *subject = *state;

    FOR_ROWS(i, cases, cases[i].command) {
        struct outcome outcome = {0};
        run_command(&subject->endpoint, cases[i].command, &outcome);
        assert_ended(&outcome, cases[i].status);
        /* OpenSSH's client does not tell the signal: the status alone, as sh gives it. */
        assert_string_equal(outcome.result.signal, subject->endpoint.openssh ? "" : cases[i].name);
        outcome_release(&outcome);
    }
}

static void test_streams_apart(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};

    run_command(&subject->endpoint, "printf out; printf err >&2; printf more", &outcome);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "outmore");
    assert_string_equal(str_text(&outcome.err), "err");
    outcome_release(&outcome);
}

static void test_not_found(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};

    run_command(&subject->endpoint, "no-such-command-here", &outcome);
    assert_ended(&outcome, 127);
    outcome_release(&outcome);
}

static void test_home(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};
    AUTO_FREE char *wanted = xasprintf("%s\n", subject->world.home);

    run_command(&subject->endpoint, "pwd", &outcome);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), wanted);
    outcome_release(&outcome);
}

/* Every byte, in both directions at once and far above every buffer on the way. */
static void test_echo(void **state)
{
    static const size_t sizes[] = {1, 65536, 1 << 20, 5 << 20};
    struct subject *subject = *state;

    FOR_ROWS(i, sizes, NULL) {
        struct outcome outcome = {0};
        AUTO_FREE char *bytes = xcalloc(1, sizes[i]);
        struct exec_request request = {.command = "cat", .input = bytes, .input_len = sizes[i]};
        for (size_t b = 0; b < sizes[i]; b++) {
            bytes[b] = (char)(b * 7 + b / 256);
        }
        run_request(&subject->endpoint, &request, &outcome);
        assert_ended(&outcome, 0);
        assert_int_equal(outcome.out.len, sizes[i]);
        assert_memory_equal(outcome.out.data, bytes, sizes[i]);
        outcome_release(&outcome);
    }
}

static void test_no_input_is_empty(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};

    run_command(&subject->endpoint, "cat; echo end", &outcome);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "end\n");
    outcome_release(&outcome);
}

static void test_unread_input(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};
    AUTO_FREE char *bytes = xcalloc(1, 4 << 20);
    struct exec_request request = {.command = "exit 4", .input = bytes, .input_len = 4 << 20};

    run_request(&subject->endpoint, &request, &outcome);
    assert_ended(&outcome, 4);
    outcome_release(&outcome);
}

static void test_much_output(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};

    run_command(&subject->endpoint, "head -c 8388608 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero >&2",
                &outcome);
    assert_ended(&outcome, 0);
    assert_int_equal(outcome.out.len, 8388608);
    assert_int_equal(strspn(outcome.out.data, "x"), 8388608);
    assert_int_equal(outcome.err.len, 300000);
    outcome_release(&outcome);
}

/*
 * A command without end that prints its pid. OpenSSH's server sends no signals to what root runs (it has no
 * helper process for root), and its client asks for none: there the end of the standard input must do.
 */
static struct exec_request endless(const struct subject *subject)
{
    bool no_signals = !subject->endpoint.local && (subject->endpoint.openssh || geteuid() == 0);

    return (struct exec_request){.command = no_signals ? "echo $$; exec cat" : "echo $$; exec sleep 1000",
                                 .hold_input = no_signals};
}

/* The command's pid, which it prints itself. */
static pid_t pid_of(const struct outcome *outcome)
{
    pid_t pid = (pid_t)strtol(str_text(&outcome->out), NULL, 10);

    assert_true(pid > 1);
    return pid;
}

static void test_timeout(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};
    struct exec_request request = endless(subject);

    request.timeout_ms = 700;
    run_request(&subject->endpoint, &request, &outcome);
    assert_failed(&outcome, &kind_time_limit);
    assert_true(outcome.result.started);
    assert_true(outcome.result.elapsed_ms >= 700);
    WAIT_FOR(is_gone(pid_of(&outcome)));
    outcome_release(&outcome);
}

static void test_cancel(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {.cancel_on_data = true};
    struct exec_request request = endless(subject);

    run_request(&subject->endpoint, &request, &outcome);
    assert_failed(&outcome, &kind_interrupted);
    WAIT_FOR(is_gone(pid_of(&outcome)));
    outcome_release(&outcome);
}

static void test_cancel_queued(void **state)
{
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &subject->endpoint);
    struct exec_request request = {.command = "echo never"};
    struct outcome first = {0}, second = {0};

    outcome_ask(&first, fleet, host, &request);
    outcome_ask(&second, fleet, host, &request);
    fleet_cancel(fleet, first.id);
    fleet_cancel(fleet, first.id);
    fleet_cancel(fleet, 12345);
    assert_int_equal(first.ends, 0); /* never from inside */
    fleet_run(fleet);
    assert_failed(&first, &kind_interrupted);
    assert_false(first.result.started);
    assert_int_equal(first.out.len, 0);
    assert_ended(&second, 0);
    fleet_free(fleet);
    outcome_release(&second);
}

/* What still runs when the fleet is freed is killed. */
static void stop_fleet(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct outcome *outcome = ctx;

    outcome_data(ctx, host, stream, bytes, len);
    fleet_stop(outcome->fleet);
}

static void test_free_kills(void **state)
{
    static const struct exec_handler handler = {.data = stop_fleet, .done = outcome_done};
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(0, 0);
    struct exec_request request = endless(subject);
    struct outcome outcome = {.fleet = fleet};

    fleet_exec(fleet, fleet_add_host(fleet, &subject->endpoint), &request, &handler, &outcome);
    assert_int_equal(fleet_run(fleet), 1);
    fleet_free(fleet);
    assert_int_equal(outcome.ends, 0);
    WAIT_FOR(is_gone(pid_of(&outcome)));
    outcome_release(&outcome);
}

static void test_background_child(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};
    int64_t began = clock_mono_ms();

    run_command(&subject->endpoint, "sleep 1000 & echo $!; exit 3", &outcome);
    assert_ended(&outcome, 3);
    assert_true(clock_mono_ms() - began < PATIENCE_MS);
    assert_false(is_gone(pid_of(&outcome))); /* it is not ours to end */
    kill(pid_of(&outcome), SIGKILL);
    outcome_release(&outcome);
}

/* Output that a child writes shortly after the command's end still arrives. */
static void test_late_output(void **state)
{
    struct subject *subject = *state;
    struct outcome outcome = {0};

    run_command(&subject->endpoint, "(sleep 0.1; echo late) & exit 0", &outcome);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "late\n");
    outcome_release(&outcome);
}

/* Each waits for the other: only together they end. */
static void test_several_at_once(void **state)
{
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &subject->endpoint);
    AUTO_FREE char *reads = xasprintf("cat %s/fifo", subject->world.dir);
    AUTO_FREE char *writes = xasprintf("echo hello >%s/fifo", subject->world.dir);
    struct exec_request requests[2] = {{.command = reads, .timeout_ms = PATIENCE_MS},
                                       {.command = writes, .timeout_ms = PATIENCE_MS}};
    struct outcome outcomes[2] = {{0}};

    run_shell("rm -f %s/fifo && mkfifo %s/fifo", subject->world.dir, subject->world.dir);
    for (int i = 0; i < 2; i++) {
        outcome_ask(&outcomes[i], fleet, host, &requests[i]);
    }
    fleet_run(fleet);
    assert_ended(&outcomes[0], 0);
    assert_ended(&outcomes[1], 0);
    assert_string_equal(str_text(&outcomes[0].out), "hello\n");
    fleet_free(fleet);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* A follower that runs holds no place of the fan-out: with room for one host, another one ends it. */
static void test_follower_frees_its_place(void **state)
{
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(1, 0);
    AUTO_FREE char *reads = xasprintf("cat %s/fifo", subject->world.dir);
    AUTO_FREE char *writes = xasprintf("echo hello >%s/fifo", subject->world.dir);
    struct exec_request follow = {.command = reads, .follow = true, .timeout_ms = PATIENCE_MS};
    struct exec_request other = {.command = writes, .timeout_ms = PATIENCE_MS};
    struct outcome outcomes[2] = {{0}};

    run_shell("rm -f %s/fifo && mkfifo %s/fifo", subject->world.dir, subject->world.dir);
    outcome_ask(&outcomes[0], fleet, fleet_add_host(fleet, &subject->endpoint), &follow);
    outcome_ask(&outcomes[1], fleet, fleet_add_host(fleet, &subject->endpoint), &other);
    fleet_run(fleet);
    assert_ended(&outcomes[0], 0);
    assert_ended(&outcomes[1], 0);
    fleet_free(fleet);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* With room for one host, the second starts when the first has ended. */
static void test_fanout(void **state)
{
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(1, 0);
    AUTO_FREE char *command =
        xasprintf("mkdir %s/one || exit 9; sleep 0.1; rmdir %s/one", subject->world.dir, subject->world.dir);
    struct exec_request request = {.command = command};
    struct outcome outcomes[4] = {{0}};

    for (int i = 0; i < 4; i++) {
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &subject->endpoint), &request);
    }
    fleet_run(fleet);
    for (int i = 0; i < 4; i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
}

/* One after another from inside done, and again in a later run of the loop. */
struct chain {
    struct fleet *fleet;
    unsigned left, ended;
};

static void chain_done(void *ctx, size_t host, const struct exec_result *result);
static const struct exec_handler chain_handler = {.data = NULL, .done = chain_done};

static void chain_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct chain *chain = ctx;
    struct exec_request request = {.command = "echo dropped"};

    chain->ended += result->error.kind == NULL && result->exit_status == 0;
    if (chain->left-- > 0) {
        fleet_exec(chain->fleet, host, &request, &chain_handler, chain);
    }
}

static void test_chain(void **state)
{
    struct subject *subject = *state;
    struct chain chain = {.fleet = make_fleet(0, 0)};
    size_t host = fleet_add_host(chain.fleet, &subject->endpoint);
    struct exec_request request = {.command = "true"};

    for (unsigned turn = 1; turn <= 2; turn++) {
        chain.left = 4;
        fleet_exec(chain.fleet, host, &request, &chain_handler, &chain);
        assert_int_equal(fleet_run(chain.fleet), 0);
        assert_int_equal(chain.ended, 5 * turn);
    }
    fleet_free(chain.fleet);
}

/* SIGTERM while a command runs, answered by cancelling all. */
static void on_signal(void *ctx, int number)
{
    assert_int_equal(number, SIGTERM);
    fleet_cancel_all(ctx);
}

static void raise_term(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    outcome_data(ctx, host, stream, bytes, len);
    kill(getpid(), SIGTERM);
}

static void test_signal(void **state)
{
    static const struct exec_handler handler = {.data = raise_term, .done = outcome_done};
    struct subject *subject = *state;
    struct fleet *fleet = make_fleet(0, 0);
    struct exec_request request = endless(subject);
    struct outcome outcome = {.fleet = fleet};

    fleet_on_signal(fleet, on_signal, fleet);
    fleet_exec(fleet, fleet_add_host(fleet, &subject->endpoint), &request, &handler, &outcome);
    fleet_run(fleet);
    assert_failed(&outcome, &kind_interrupted);
    fleet_free(fleet);
    WAIT_FOR(is_gone(pid_of(&outcome)));
    outcome_release(&outcome);
}

static void add_letter(void *ctx)
{
    struct str *text = ctx;

    str_add_char(text, (char)('a' + text->len));
}

static void test_timers(void **state)
{
    struct fleet *fleet = make_fleet(0, 0);
    AUTO_STR struct str text = STR_INIT;
    int64_t began = clock_mono_ms();
    uint64_t third;

    (void)state;
    fleet_timer(fleet, 50, add_letter, &text);
    fleet_timer(fleet, 0, add_letter, &text);
    third = fleet_timer(fleet, 60000, add_letter, &text);
    fleet_timer_cancel(fleet, third);
    fleet_timer_cancel(fleet, third);
    assert_int_equal(fleet_run(fleet), 0);
    assert_string_equal(str_text(&text), "ab");
    assert_true(clock_mono_ms() - began >= 50);
    fleet_free(fleet);
}

static size_t count_files(void)
{
    size_t count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void test_no_file_is_left(void **state)
{
    struct subject *subject = *state;
    size_t before = 0;

    for (int turn = 0; turn < 3; turn++) {
        struct outcome outcome = {0};
        if (turn == 1) {
            before = count_files(); /* what the libraries keep is open now */
        }
        run_command(&subject->endpoint, "ls -l /proc/self/fd | grep -c -- '->'", &outcome);
        assert_ended(&outcome, 0);
        outcome_release(&outcome);
    }
    assert_int_equal(count_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_streams_apart),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_home),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_no_input_is_empty),
        cmocka_unit_test(test_unread_input),
        cmocka_unit_test(test_much_output),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_queued),
        cmocka_unit_test(test_free_kills),
        cmocka_unit_test(test_background_child),
        cmocka_unit_test(test_late_output),
        cmocka_unit_test(test_several_at_once),
        cmocka_unit_test(test_follower_frees_its_place),
        cmocka_unit_test(test_fanout),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_no_file_is_left),
    };
    int failed = cmocka_run_group_tests_name("local", tests, subject_set_up_local, subject_tear_down);

    failed += cmocka_run_group_tests_name("openssh", tests, subject_set_up_openssh, subject_tear_down);
    failed += cmocka_run_group_tests_name("jump", tests, subject_set_up_jump, subject_tear_down);
    return failed + cmocka_run_group_tests_name("ssh", tests, subject_set_up_ssh, subject_tear_down);
}
