/* What a node's answers mean: observations, stops and starts become states and reasons. */

#include "run/judge_internal.h"
#include "test.h"

#define ID "r-00000001"

static char id_text[] = ID;
static char other_id[] = "r-00000002";
static char kill_text[] = "KILL";

static struct run_node new_node(enum node_state state)
{
    return (struct run_node){.state = state, .exit_status = -1, .started_ms = 1000};
}

static struct node_observation seen_life(enum node_life life)
{
    return (struct node_observation){
        .life = life,
        .status = -1,
        .keeper_alive = true,
        .found_run_id = id_text,
        .found_attempt = 2,
        .started_s = 50,
        .now_s = 100,
    };
}

static void expect(struct run_node *node, enum node_state state, const char *reason)
{
    assert_string_equal(node_state_name(node->state), node_state_name(state));
    if (reason == NULL) {
        assert_null(node->reason);
    } else {
        assert_non_null(node->reason);
        assert_non_null(strstr(node->reason, reason));
    }
    run_node_release(node);
}

static void observe(struct run_node *node, const struct node_observation *seen)
{
    judge_observation(node, seen, ID, 2);
}

static void test_running_and_exits(void **state)
{
    (void)state;
    struct run_node node = new_node(NODE_PENDING);
    struct node_observation seen = seen_life(NODE_LIFE_RUNNING);
    seen.pid = 77;
    observe(&node, &seen);
    assert_int_equal(node.pid, 77);
    assert_int_equal(node.started_ms, 50000);
    expect(&node, NODE_RUNNING, NULL);

    node = new_node(NODE_RUNNING);
    seen.keeper_alive = false;
    observe(&node, &seen);
    expect(&node, NODE_RUNNING, "keeper is gone");

    node = new_node(NODE_RUNNING);
    seen = seen_life(NODE_LIFE_EXITED);
    seen.status = 0;
    seen.ended_s = 60;
    observe(&node, &seen);
    assert_int_equal(node.ended_ms, 60000);
    expect(&node, NODE_EXITED, NULL);

    node = new_node(NODE_LOST);
    seen.status = 3;
    observe(&node, &seen);
    assert_int_equal(node.exit_status, 3);
    expect(&node, NODE_FAILED, "exit status 3");

    node = new_node(NODE_RUNNING);
    seen.status = 137;
    seen.signal = kill_text;
    observe(&node, &seen);
    assert_string_equal(node.signal, "KILL");
    expect(&node, NODE_FAILED, "out of memory");
}

static void test_a_signalled_node_is_stopped_whatever_its_status(void **state)
{
    (void)state;
    static const int statuses[] = {0, 1, 143};
    FOR_ROWS(i, statuses, NULL) {
        struct run_node node = new_node(NODE_RUNNING);
        struct node_observation seen = seen_life(NODE_LIFE_EXITED);
        node.signalled = true;
        seen.status = statuses[i];
        observe(&node, &seen);
        assert_int_equal(node.exit_status, statuses[i]);
        expect(&node, NODE_STOPPED, NULL);
    }
    struct run_node node = new_node(NODE_RUNNING);
    struct node_observation seen = seen_life(NODE_LIFE_GONE);
    node.signalled = true;
    observe(&node, &seen);
    expect(&node, NODE_STOPPED, NULL);
}

/* A stop is under way, or did not come to its proof. What it has not reached ends by itself. */
static void test_a_stop_that_missed_a_node_does_not_count(void **state)
{
    static const struct {
        bool missed;
        enum node_state before, after;
    } cases[] = {
        {false, NODE_RUNNING, NODE_STOPPED},
        {false, NODE_LOST, NODE_STOPPED},
        {true, NODE_RUNNING, NODE_FAILED},
        {true, NODE_LOST, NODE_FAILED},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct run run = {.stopping = true};
        struct run_node node = new_node(cases[i].before);
        struct node_observation seen = seen_life(NODE_LIFE_EXITED);
        node.stop_missed = cases[i].missed;
        seen.status = 3;
        judge_note_stop(&run, &node);
        observe(&node, &seen);
        expect(&node, cases[i].after, cases[i].missed ? "status 3" : NULL);
    }
}

static void test_gone(void **state)
{
    (void)state;
    struct run_node node = new_node(NODE_RUNNING);
    struct node_observation seen = seen_life(NODE_LIFE_GONE);
    observe(&node, &seen);
    assert_int_equal(node.ended_ms, 100000);
    expect(&node, NODE_FAILED, "without an exit status");
    node = new_node(NODE_RUNNING);
    seen.rebooted = true;
    observe(&node, &seen);
    expect(&node, NODE_FAILED, "restarted");
    node = new_node(NODE_RUNNING);
    seen.rebooted = false;
    seen.pid_reused = true;
    observe(&node, &seen);
    expect(&node, NODE_FAILED, "another process");
}

static void test_files_of_others_prove_nothing(void **state)
{
    (void)state;
    struct run_node node = new_node(NODE_PENDING);
    struct node_observation seen = seen_life(NODE_LIFE_RUNNING);
    seen.found_run_id = other_id;
    node.started_ms = 0;
    observe(&node, &seen);
    expect(&node, NODE_PENDING, NULL);

    node = new_node(NODE_PENDING);
    node.started_ms = 0;
    seen = seen_life(NODE_LIFE_EXITED);
    seen.found_attempt = 1; /* of an earlier attempt */
    seen.status = 0;
    observe(&node, &seen);
    expect(&node, NODE_PENDING, NULL);

    node = new_node(NODE_RUNNING);
    seen = seen_life(NODE_LIFE_NONE);
    observe(&node, &seen);
    expect(&node, NODE_FAILED, "state file was removed");

    node = new_node(NODE_RUNNING);
    seen = seen_life(NODE_LIFE_UNRECORDED);
    seen.found_attempt = 0;
    observe(&node, &seen);
    expect(&node, NODE_RUNNING, "state file was removed");

    node = new_node(NODE_RUNNING);
    seen = seen_life(NODE_LIFE_ELSEWHERE);
    observe(&node, &seen);
    expect(&node, NODE_LOST, "another host");
}

static void test_setup_failures_and_silence(void **state)
{
    (void)state;
    struct run_node node = new_node(NODE_RUNNING);
    struct node_observation seen = seen_life(NODE_LIFE_EXITED);
    seen.status = 5;
    seen.never_ran = true;
    seen.setup_line = 2;
    observe(&node, &seen);
    expect(&node, NODE_FAILED, "setup line 2 ended with status 5");

    node = new_node(NODE_RUNNING);
    seen = seen_life(NODE_LIFE_STARTING);
    observe(&node, &seen);
    expect(&node, NODE_RUNNING, "setup");

    struct error err = ERROR_INIT;
    error_set(&err, &kind_timed_out, "no answer in 10 s");
    node = new_node(NODE_RUNNING);
    node.pid = 9;
    judge_silence(&node, &err);
    assert_int_equal(node.pid, 9);
    expect(&node, NODE_LOST, "no answer in 10 s");
}

static void test_stop(void **state)
{
    (void)state;
    struct run_node node = new_node(NODE_RUNNING);
    struct node_stop stop = {.was_alive = true, .status = 1};
    judge_stop(&node, &stop, false);
    expect(&node, NODE_STOPPED, NULL);

    node = new_node(NODE_RUNNING); /* killed with its keeper by us: no exit file */
    stop = (struct node_stop){.was_alive = true, .status = -1};
    judge_stop(&node, &stop, false);
    expect(&node, NODE_STOPPED, NULL);

    node = new_node(NODE_RUNNING); /* had ended by itself before */
    stop = (struct node_stop){.was_alive = false, .status = 0};
    judge_stop(&node, &stop, false);
    expect(&node, NODE_EXITED, NULL);

    node = new_node(NODE_RUNNING); /* the same, but an earlier stop may have ended it */
    stop = (struct node_stop){.was_alive = false, .status = 143};
    judge_stop(&node, &stop, true);
    expect(&node, NODE_STOPPED, NULL);

    node = new_node(NODE_FAILED); /* failed before: that stays */
    judge_set_reason(&node, "exit status 3");
    stop = (struct node_stop){.was_alive = false, .status = 3};
    judge_stop(&node, &stop, true);
    expect(&node, NODE_FAILED, "status 3");

    node = new_node(NODE_PENDING);
    node.started_ms = 0;
    stop = (struct node_stop){.was_alive = false, .status = -1};
    judge_stop(&node, &stop, true);
    expect(&node, NODE_PENDING, NULL);

    node = new_node(NODE_LOST);
    stop = (struct node_stop){.was_alive = false, .status = -1};
    judge_stop(&node, &stop, false);
    expect(&node, NODE_FAILED, "without an exit status");

    node = new_node(NODE_RUNNING);
    stop = (struct node_stop){.was_alive = true, .status = -1, .survivors = {.total = 2}};
    judge_stop(&node, &stop, false);
    expect(&node, NODE_STOPPED, "2 processes could not be ended");
}

static void start_row(enum node_start_stage stage, const struct error_kind *kind, enum node_state want,
                      const char *text)
{
    char output[] = "line one\nline \033[31mtwo\n";
    char problem[] = "disk full";
    char host[] = "h", user[] = "u";
    struct run_node node = new_node(NODE_PENDING);
    struct error err = ERROR_INIT;
    struct node_start start = {
        .stage = stage,
        .status = 7,
        .setup_line = 3,
        .output = output,
        .problem = problem,
        .foreign = {.run_id = other_id, .host = host, .user = user, .pid = 5, .lives = true},
    };
    assert_int_equal(judge_start(&node, &start, "r", &err), -1);
    assert_ptr_equal(err.kind, kind);
    assert_non_null(strstr(err.text, text));
    assert_null(strchr(err.text, '\033'));
    assert_int_equal(node.state, want);
    assert_non_null(node.reason);
    run_node_release(&node);
}

static void test_starts_that_fail(void **state)
{
    (void)state;
    start_row(NODE_START_FOREIGN, &kind_run_foreign, NODE_PENDING, ID[0] == 'r' ? "r-00000002" : "");
    start_row(NODE_START_LIVE, &kind_run_live, NODE_PENDING, "earlier attempt");
    start_row(NODE_START_PORT, &kind_port_taken, NODE_PENDING, "master port");
    start_row(NODE_START_CLAIM, &kind_artifacts_unwritable, NODE_FAILED, "disk full");
    start_row(NODE_START_SETUP, &kind_setup_failed, NODE_FAILED, "setup line 3 ended with status 7");
    start_row(NODE_START_EXEC, &kind_start_failed, NODE_FAILED, "can't be executed (status 7)");
    start_row(NODE_START_COMMAND, &kind_start_failed, NODE_FAILED, "exit status 7:\n    line one\n    line");
    start_row(NODE_START_TIMEOUT, &kind_time_limit, NODE_FAILED, "start_timeout");
}

static void test_starts_that_work(void **state)
{
    (void)state;
    char log[] = "/x/logs/r_node0.log";
    struct error err = ERROR_INIT;
    struct run_node node = new_node(NODE_PENDING);
    struct node_start start = {
        .stage = NODE_START_STARTED, .pid = 12, .log = log, .status = -1, .started_s = 9};
    assert_int_equal(judge_start(&node, &start, "r", &err), 0);
    assert_int_equal(node.pid, 12);
    assert_int_equal(node.started_ms, 9000);
    assert_string_equal(node.log, log);
    expect(&node, NODE_RUNNING, NULL);
    node = new_node(NODE_PENDING);
    start.ended = true;
    assert_int_equal(judge_start(&node, &start, "r", &err), 0);
    assert_int_equal(node.exit_status, 0);
    expect(&node, NODE_EXITED, NULL);
}

static void test_the_outcome_is_that_of_the_first_failure(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    run_nodes_alloc(&run, 3);
    struct run_attempt *attempt = run_add_attempt(&run);
    attempt->number = 1;
    run.started_ms = 1000;
    for (size_t i = 0; i < 3; i++) {
        run.nodes[i].label = xasprintf("g%zu", i);
        run.nodes[i].state = NODE_FAILED;
        run.nodes[i].exit_status = 10 + (int)i;
        run.nodes[i].ended_ms = 9000 - (int64_t)i * 1000;
    }
    run.nodes[2].state = NODE_STOPPED; /* the earliest end, but by our own signal */
    judge_set_reason(&run.nodes[1], "exit status 11");
    assert_int_equal(judge_run(&run, 20000), RUN_FAILED);
    assert_int_equal(run.exit_status, 11);
    assert_string_equal(run.reason, "g1 (node 1): exit status 11");
    assert_true(run.ended_ms == 9000);
    assert_string_equal(run.attempts[0].reason, run.reason);
    assert_int_equal(run.attempts[0].state, RUN_FAILED);

    for (size_t i = 0; i < 3; i++) {
        run.nodes[i].state = NODE_EXITED;
    }
    assert_int_equal(judge_run(&run, 20000), RUN_FINISHED);
    assert_int_equal(run.exit_status, 0);
    run.nodes[0].state = NODE_STOPPED;
    assert_int_equal(judge_run(&run, 20000), RUN_STOPPED);
    assert_int_equal(run.exit_status, -1);
    run.nodes[0].state = NODE_RUNNING;
    assert_int_equal(judge_run(&run, 20000), RUN_RUNNING);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_running_and_exits),
        cmocka_unit_test(test_a_signalled_node_is_stopped_whatever_its_status),
        cmocka_unit_test(test_a_stop_that_missed_a_node_does_not_count),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_files_of_others_prove_nothing),
        cmocka_unit_test(test_setup_failures_and_silence),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_starts_that_fail),
        cmocka_unit_test(test_starts_that_work),
        cmocka_unit_test(test_the_outcome_is_that_of_the_first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
