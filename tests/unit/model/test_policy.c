/* What follows from failures, silence and stalls; order of ends; pauses. */

#include "model/policy.h"
#include "model/run.h"
#include "test.h"

#define NODES 3

static void make_run(struct run *run, enum node_state a, enum node_state b, enum node_state c)
{
    run_init(run);
    run_nodes_alloc(run, NODES);
    run->nodes[0].state = a;
    run->nodes[1].state = b;
    run->nodes[2].state = c;
}

static void test_defaults_and_names(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    assert_int_equal(policy.on_failure, POLICY_STOP);
    assert_int_equal(policy.on_lost, POLICY_KEEP);
    assert_int_equal(policy.on_stall, POLICY_KEEP);
    assert_int_equal(policy.lost_after_s, 300);
    assert_int_equal(policy.backoff_s, 10);
    enum policy_act act;
    for (int i = POLICY_STOP; i <= POLICY_RESTART; i++) {
        assert_true(policy_act_from_name(policy_act_name((enum policy_act)i), &act));
        assert_int_equal(act, i);
    }
    assert_false(policy_act_from_name("never", &act));
    policy_release(&policy);
}

/* --- decisions ---------------------------------------------------------------------------------- */

enum { A_MINUTE = 60000 };

static const struct {
    const char *title;
    enum node_state nodes[NODES];
    enum policy_act on_failure, on_lost, on_stall;
    int64_t silent_s[NODES]; /* how long; 0: it answers */
    bool stalled, no_restart, starting, stopping;
    unsigned restarts, max;
    enum policy_finish finish_on;
    enum policy_step step;
    enum policy_cause cause;
    long node;
} cases[] = {
    {"all is well", {NODE_RUNNING, NODE_RUNNING, NODE_RUNNING}, .node = -1},
    {"a failure stops the others",
     {NODE_RUNNING, NODE_FAILED, NODE_RUNNING},
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FAILED,
     .node = 1},
    {"a failure of the last one stops nothing",
     {NODE_EXITED, NODE_FAILED, NODE_STOPPED},
     .cause = POLICY_CAUSE_FAILED,
     .node = 1},
    {"U5: node 0 has ended with 0, and the others are stopped",
     {NODE_EXITED, NODE_RUNNING, NODE_FAILED},
     .finish_on = POLICY_FINISH_RANK0,
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FINISHED,
     .node = 0},
    {"U5: another node that ends with 0 changes nothing",
     {NODE_RUNNING, NODE_EXITED, NODE_EXITED},
     .finish_on = POLICY_FINISH_RANK0,
     .node = -1},
    {"U5: a node 0 that fails is a failure",
     {NODE_FAILED, NODE_RUNNING, NODE_RUNNING},
     .finish_on = POLICY_FINISH_RANK0,
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FAILED,
     .node = 0},
    {"keep",
     {NODE_RUNNING, NODE_FAILED, NODE_RUNNING},
     .on_failure = POLICY_KEEP,
     .cause = POLICY_CAUSE_NONE,
     .node = -1},
    {"restart",
     {NODE_RUNNING, NODE_FAILED, NODE_RUNNING},
     .on_failure = POLICY_RESTART,
     .max = 1,
     .step = POLICY_STEP_RESTART,
     .cause = POLICY_CAUSE_FAILED,
     .node = 1},
    {"restart although nothing lives any more",
     {NODE_FAILED, NODE_EXITED, NODE_EXITED},
     .on_failure = POLICY_RESTART,
     .max = 1,
     .step = POLICY_STEP_RESTART,
     .cause = POLICY_CAUSE_FAILED,
     .node = 0},
    {"restarts are used up: the others are stopped",
     {NODE_RUNNING, NODE_FAILED, NODE_RUNNING},
     .on_failure = POLICY_RESTART,
     .restarts = 2,
     .max = 2,
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FAILED,
     .node = 1},
    {"a restart is forbidden: the others are stopped",
     {NODE_RUNNING, NODE_FAILED, NODE_RUNNING},
     .on_failure = POLICY_RESTART,
     .max = 2,
     .no_restart = true,
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FAILED,
     .node = 1},
    {"nothing while it starts", {NODE_RUNNING, NODE_FAILED, NODE_PENDING}, .starting = true, .node = -1},
    {"nothing while it is stopped", {NODE_RUNNING, NODE_FAILED, NODE_RUNNING}, .stopping = true, .node = -1},
    {"silence alone ends nothing",
     {NODE_RUNNING, NODE_LOST, NODE_RUNNING},
     .on_lost = POLICY_KEEP,
     .silent_s = {0, 900, 0},
     .cause = POLICY_CAUSE_NONE,
     .node = -1},
    {"on_lost: stop, too early",
     {NODE_RUNNING, NODE_LOST, NODE_RUNNING},
     .on_lost = POLICY_STOP,
     .silent_s = {0, 299, 0},
     .node = -1},
    {"on_lost: stop",
     {NODE_RUNNING, NODE_LOST, NODE_LOST},
     .on_lost = POLICY_STOP,
     .silent_s = {0, 300, 301},
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_LOST,
     .node = 2},
    {"on_lost: restart",
     {NODE_RUNNING, NODE_LOST, NODE_RUNNING},
     .on_lost = POLICY_RESTART,
     .max = 1,
     .silent_s = {0, 301, 0},
     .step = POLICY_STEP_RESTART,
     .cause = POLICY_CAUSE_LOST,
     .node = 1},
    {"no node answers: the head's network, not theirs",
     {NODE_LOST, NODE_LOST, NODE_LOST},
     .on_lost = POLICY_STOP,
     .silent_s = {900, 900, 900},
     .node = -1},
    {"a node that has ended is not lost",
     {NODE_RUNNING, NODE_EXITED, NODE_RUNNING},
     .on_lost = POLICY_STOP,
     .silent_s = {0, 900, 0},
     .node = -1},
    {"a failure comes before a silence",
     {NODE_FAILED, NODE_LOST, NODE_RUNNING},
     .on_lost = POLICY_RESTART,
     .max = 3,
     .silent_s = {0, 900, 0},
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_FAILED,
     .node = 0},
    {"a stall is told",
     {NODE_RUNNING, NODE_RUNNING, NODE_RUNNING},
     .on_stall = POLICY_KEEP,
     .stalled = true,
     .cause = POLICY_CAUSE_STALLED,
     .node = -1},
    {"on_stall: stop",
     {NODE_RUNNING, NODE_RUNNING, NODE_RUNNING},
     .on_stall = POLICY_STOP,
     .stalled = true,
     .step = POLICY_STEP_STOP,
     .cause = POLICY_CAUSE_STALLED,
     .node = -1},
};

static void test_decisions(void **state)
{
    (void)state;
    FOR_ROWS(i, cases, cases[i].title) {
        struct run run;
        int64_t silent[NODES];
        const int64_t now = INT64_C(10000) * A_MINUTE;
        make_run(&run, cases[i].nodes[0], cases[i].nodes[1], cases[i].nodes[2]);
        run.policy.on_failure = cases[i].on_failure;
        run.policy.on_lost =
            cases[i].on_lost == POLICY_STOP && cases[i].silent_s[1] == 0 ? POLICY_KEEP : cases[i].on_lost;
        run.policy.on_stall = cases[i].on_stall;
        run.policy.finish_on = cases[i].finish_on;
        run.policy.restart_max = cases[i].max;
        run.restarts = cases[i].restarts;
        run.starting = cases[i].starting;
        run.stopping = cases[i].stopping;
        for (size_t n = 0; n < NODES; n++) {
            silent[n] = cases[i].silent_s[n] == 0 ? 0 : now - cases[i].silent_s[n] * 1000;
        }
        const struct policy_view view = {
            .now_ms = now,
            .silent_since_ms = silent,
            .stalled = cases[i].stalled,
            .no_restart = cases[i].no_restart,
        };
        struct policy_decision got = policy_decide(&run, &view);
        if (got.step != cases[i].step || (cases[i].step != POLICY_STEP_NONE &&
                                          (got.cause != cases[i].cause || got.node != cases[i].node))) {
            fail_msg("%s: step %d, cause %d, node %ld", cases[i].title, got.step, got.cause, got.node);
        }
        run_release(&run);
    }
}

static void test_why_there_is_no_restart(void **state)
{
    (void)state;
    struct run run;
    const int64_t silent[NODES] = {0};
    make_run(&run, NODE_FAILED, NODE_RUNNING, NODE_RUNNING);
    run.policy.on_failure = POLICY_RESTART;
    run.policy.restart_max = 1;
    struct policy_view view = {.now_ms = 1, .silent_since_ms = silent, .no_restart = true};
    assert_true(policy_decide(&run, &view).forbidden);
    view.no_restart = false;
    run.restarts = 1;
    assert_true(policy_decide(&run, &view).used_up);
    run_release(&run);
}

static void test_texts_that_forbid_a_restart(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    assert_null(policy_forbids_restart(&policy, "anything"));
    strlist_add(&policy.no_restart_on, "CUDA out of memory");
    strlist_add(&policy.no_restart_on, "loss is nan");
    strlist_add(&policy.no_restart_on, "assert (x");
    assert_string_equal(policy_forbids_restart(&policy, "a\nRuntimeError: CUDA out of memory. Tried"),
                        "CUDA out of memory");
    assert_string_equal(policy_forbids_restart(&policy, "step 3: loss is nan\nend"), "loss is nan");
    assert_string_equal(policy_forbids_restart(&policy, "assert (x > 0)"), "assert (x");
    assert_null(policy_forbids_restart(&policy, "loss is low"));
    struct policy copy;
    policy_init(&copy);
    policy_copy(&copy, &policy);
    assert_int_equal(copy.no_restart_on.len, 3);
    policy_release(&copy);
    policy_release(&policy);
}

/* --- time --------------------------------------------------------------------------------------- */

static void test_ends_are_put_in_order_by_the_heads_clock(void **state)
{
    (void)state;
    struct run run;
    make_run(&run, NODE_FAILED, NODE_FAILED, NODE_STOPPED);
    /* Node 0's clock is an hour ahead of node 1's; by uptime node 1 ended 0.4 s before node 0. */
    run.nodes[0].ended_ms = 1000000;
    run.nodes[1].ended_ms = 1000000 + 3600 * 1000;
    run.nodes[0].ended_uptime_ms = 50400;
    run.nodes[1].ended_uptime_ms = 90000;
    run.nodes[2].ended_uptime_ms = 1;
    policy_note_clock(&run.nodes[0], 51000, 2000900, false);
    policy_note_clock(&run.nodes[0], 52000, 2001600, false); /* this one came faster */
    policy_note_clock(&run.nodes[0], 53000, 2003000, false);
    policy_note_clock(&run.nodes[1], 91000, 2000200, false);
    assert_int_equal(policy_end_ms(&run.nodes[0]), 2000000);
    assert_int_equal(policy_end_ms(&run.nodes[1]), 1999200);
    assert_int_equal(run_first_failure(&run), 1);
    policy_note_clock(&run.nodes[1], 100, 3000000, true);
    assert_int_equal(run.nodes[1].clock_ms, 2999900);
    policy_note_clock(&run.nodes[2], 0, 5, false); /* an answer without uptime says nothing */
    assert_int_equal(run.nodes[2].clock_ms, 0);
    assert_int_equal(policy_end_ms(&run.nodes[2]), 0);
    run_release(&run);
}

static void test_stall(void **state)
{
    (void)state;
    struct run run;
    bool behind[NODES];
    make_run(&run, NODE_RUNNING, NODE_RUNNING, NODE_EXITED);
    int64_t grown[NODES] = {100000, 70000, 0};
    assert_false(policy_is_stalled(&run, grown, 900000));
    run.policy.stall_s = 60;
    assert_false(policy_is_stalled(&run, grown, 159999));
    assert_true(policy_is_stalled(&run, grown, 160000));
    assert_int_equal(policy_find_behind(&run, grown, 21000, behind), 1);
    assert_true(behind[1] && !behind[0] && !behind[2]);
    assert_int_equal(policy_find_behind(&run, grown, 30000, behind), 0);
    grown[1] = 0; /* nothing is known of it yet */
    assert_false(policy_is_stalled(&run, grown, 900000));
    run.nodes[0].state = run.nodes[1].state = NODE_LOST;
    assert_false(policy_is_stalled(&run, grown, 900000));
    run_release(&run);
}

static void test_pauses(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    assert_int_equal(policy_backoff_ms(&policy, 1), 10000);
    assert_int_equal(policy_backoff_ms(&policy, 2), 20000);
    assert_int_equal(policy_backoff_ms(&policy, 1000), 600000);
    policy.backoff_s = 3600;
    assert_int_equal(policy_backoff_ms(&policy, 5), 3600000);
    policy.backoff_s = 0;
    assert_int_equal(policy_backoff_ms(&policy, 9), 0);
    assert_int_equal(policy_beat_s(&policy), 10);
    policy.stall_s = 8;
    assert_int_equal(policy_beat_s(&policy), 2);
    policy.stall_s = 1;
    assert_int_equal(policy_beat_s(&policy), 1);
    assert_int_equal(policy_retry_ms(1, 0), 750);
    assert_int_equal(policy_retry_ms(1, UINT32_MAX), 1250);
    assert_int_equal(policy_retry_ms(3, UINT32_MAX / 2), 3999);
    assert_int_equal(policy_retry_ms(4000000000U, UINT32_MAX), 37500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_and_names),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_why_there_is_no_restart),
        cmocka_unit_test(test_texts_that_forbid_a_restart),
        cmocka_unit_test(test_ends_are_put_in_order_by_the_heads_clock),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
