/* States of runs and nodes: names, what counts as live, the derivation "first that fits". */

#include "model/run.h"
#include "test.h"

#define MAX_NODES 3

static const struct {
    const char *title;
    bool starting, stopping;
    enum node_state nodes[MAX_NODES];
    size_t count;
    enum run_state want;
} rows[] = {
    {"stop under way", false, true, {NODE_RUNNING, NODE_STOPPED}, 2, RUN_STOPPING},
    {"stop before start", true, true, {NODE_PENDING}, 1, RUN_STOPPING},
    {"start under way", true, false, {NODE_RUNNING, NODE_PENDING}, 2, RUN_STARTING},
    {"all run", false, false, {NODE_RUNNING, NODE_RUNNING}, 2, RUN_RUNNING},
    {"one done early", false, false, {NODE_RUNNING, NODE_EXITED}, 2, RUN_RUNNING},
    {"one failed", false, false, {NODE_RUNNING, NODE_FAILED}, 2, RUN_DEGRADED},
    {"one lost", false, false, {NODE_RUNNING, NODE_LOST}, 2, RUN_DEGRADED},
    {"one stopped", false, false, {NODE_STOPPED, NODE_RUNNING}, 2, RUN_DEGRADED},
    {"one pending", false, false, {NODE_PENDING, NODE_RUNNING}, 2, RUN_DEGRADED},
    {"lost beside failed", false, false, {NODE_FAILED, NODE_LOST}, 2, RUN_LOST},
    {"lost beside exited", false, false, {NODE_EXITED, NODE_LOST}, 2, RUN_LOST},
    {"failed, others stopped", false, false, {NODE_STOPPED, NODE_FAILED, NODE_STOPPED}, 3, RUN_FAILED},
    {"never started", false, false, {NODE_PENDING, NODE_PENDING}, 2, RUN_FAILED},
    {"stopped", false, false, {NODE_STOPPED, NODE_STOPPED}, 2, RUN_STOPPED},
    {"stopped, one was done", false, false, {NODE_EXITED, NODE_STOPPED}, 2, RUN_STOPPED},
    {"all done", false, false, {NODE_EXITED, NODE_EXITED}, 2, RUN_FINISHED},
};

static void test_derivation(void **state)
{
    (void)state;
    FOR_ROWS(i, rows, rows[i].title) {
        struct run run;
        run_init(&run);
        run_nodes_alloc(&run, rows[i].count);
        run.starting = rows[i].starting;
        run.stopping = rows[i].stopping;
        for (size_t n = 0; n < rows[i].count; n++) {
            run.nodes[n].state = rows[i].nodes[n];
        }
        if (run_derive_state(&run) != rows[i].want) {
            fail_msg("%s: got %s, want %s", rows[i].title, run_state_name(run_derive_state(&run)),
                     run_state_name(rows[i].want));
        }
        run_release(&run);
    }
}

static void test_written_off_counts_as_stopped(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    run_nodes_alloc(&run, 2);
    run.nodes[0].state = NODE_STOPPED;
    run.nodes[1].state = NODE_LOST;
    assert_int_equal(run_derive_state(&run), RUN_LOST);
    run.nodes[1].written_off = true;
    assert_int_equal(run_derive_state(&run), RUN_STOPPED);
    run_release(&run);
}

static void test_names_round_trip(void **state)
{
    (void)state;
    for (int i = NODE_PENDING; i <= NODE_LOST; i++) {
        enum node_state back = NODE_PENDING;
        assert_true(node_state_from_name(node_state_name((enum node_state)i), &back));
        assert_int_equal(back, i);
    }
    for (int i = RUN_STOPPING; i <= RUN_FINISHED; i++) {
        enum run_state back = RUN_FINISHED;
        assert_true(run_state_from_name(run_state_name((enum run_state)i), &back));
        assert_int_equal(back, i);
    }
    enum run_state unused = RUN_LOST;
    assert_false(run_state_from_name("dead", &unused));
    enum node_state node_unused = NODE_LOST;
    assert_false(node_state_from_name("", &node_unused));
}

static void test_live_states(void **state)
{
    (void)state;
    assert_true(run_state_is_live(RUN_STARTING));
    assert_true(run_state_is_live(RUN_RUNNING));
    assert_true(run_state_is_live(RUN_DEGRADED));
    assert_true(run_state_is_live(RUN_STOPPING));
    assert_true(run_state_is_live(RUN_LOST));
    assert_false(run_state_is_live(RUN_FAILED));
    assert_false(run_state_is_live(RUN_STOPPED));
    assert_false(run_state_is_live(RUN_FINISHED));
}

static void test_node_predicates(void **state)
{
    (void)state;
    struct run run;
    const enum node_state all[] = {NODE_PENDING, NODE_RUNNING, NODE_EXITED,
                                   NODE_FAILED,  NODE_STOPPED, NODE_LOST};
    const bool ended[] = {false, false, true, true, true, false};
    const bool may_run[] = {false, true, false, false, false, true};
    run_init(&run);
    run_nodes_alloc(&run, 2);
    run.nodes[0].state = NODE_EXITED;
    FOR_ROWS(i, all, NULL) {
        run.nodes[1].state = all[i];
        assert_int_equal(node_state_has_ended(all[i]), ended[i]);
        assert_int_equal(node_state_may_run(all[i]), may_run[i]);
        assert_int_equal(run_has_open_node(&run), !ended[i]);
        assert_int_equal(run_has_lost_node(&run), all[i] == NODE_LOST);
    }
    run_release(&run);
}

static void test_first_failure(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    run_nodes_alloc(&run, 4);
    assert_int_equal(run_first_failure(&run), -1);
    run.nodes[0].state = NODE_STOPPED;
    run.nodes[0].ended_ms = 1000;
    run.nodes[1].state = NODE_FAILED; /* could not start: no time of its own */
    run.nodes[2].state = NODE_FAILED;
    run.nodes[2].ended_ms = 9000;
    run.nodes[3].state = NODE_FAILED;
    run.nodes[3].ended_ms = 8000;
    assert_int_equal(run_first_failure(&run), 3);
    run_release(&run);
}

/* A reason is one line, whatever is quoted below it. */
static void test_reasons_are_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason, *shown;
    } cases[] = {
        {"exit status 3", "exit status 3", "exit status 3"},
        {"exit status 3:\n    why", "exit status 3: why", "exit status 3: why"},
        {"exit status 3:\n    one\n      two\n    ====", "exit status 3: two",
         "exit status 3: two\n    one\n      two\n    ===="},
        {"exit status 3:\n    -", "exit status 3", "exit status 3"},
        {"not started\n    é", "not started: é", "not started: é"},
        {"\n", "", ""},
        {NULL, NULL, ""},
    };
    struct run run;
    run_init(&run);
    FOR_ROWS(i, cases, cases[i].text) {
        AUTO_STR struct str shown = STR_INIT;
        strlist_add(&run.cause.hosts, "g1");
        run.cause.hint = xstrdup("of the reason before");
        run_set_reason(&run, cases[i].text ? xstrdup(cases[i].text) : NULL);
        if (cases[i].reason) {
            assert_string_equal(run.reason, cases[i].reason);
        } else {
            assert_null(run.reason);
        }
        run_add_reason(&run, &shown);
        assert_string_equal(str_text(&shown), cases[i].shown);
        assert_null(run.cause.hint);
        assert_int_equal(run.cause.hosts.len, 0);
    }
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivation),           cmocka_unit_test(test_written_off_counts_as_stopped),
        cmocka_unit_test(test_names_round_trip),     cmocka_unit_test(test_live_states),
        cmocka_unit_test(test_first_failure),        cmocka_unit_test(test_node_predicates),
        cmocka_unit_test(test_reasons_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
