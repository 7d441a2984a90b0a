/* The all-reduce test: who meets whom, and what the rates and failures mean. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/comm.h"
#include "test.h"

static void test_every_node_meets_every_other_once(void **state)
{
    (void)state;
    for (size_t nodes = 2; nodes <= 33; nodes++) {
        bool met[33][33] = {{false}};
        size_t partner[33];
        size_t rounds = comm_count_rounds(nodes), count = 0;
        assert_true(rounds <= nodes);
        for (size_t round = 0; round < rounds; round++) {
            comm_find_partners(nodes, round, partner);
            size_t resting = 0;
            for (size_t i = 0; i < nodes; i++) {
                assert_true(partner[i] < nodes);
                assert_int_equal(partner[partner[i]], i);
                resting += partner[i] == i;
                if (partner[i] > i) {
                    assert_false(met[i][partner[i]]);
                    met[i][partner[i]] = true;
                    count++;
                }
            }
            assert_int_equal(resting, nodes % 2);
        }
        assert_int_equal(count, nodes * (nodes - 1) / 2);
    }
    assert_int_equal(comm_count_rounds(1), 0);
    assert_int_equal(comm_count_rounds(0), 0);
}

static void test_a_sample_is_spread(void **state)
{
    (void)state;
    size_t before = 0;
    for (size_t i = 0; i < COMM_ROUNDS_MAX; i++) {
        size_t round = comm_choose_round(64, COMM_ROUNDS_MAX, i);
        assert_true(round < comm_count_rounds(64));
        assert_true(i == 0 || round > before);
        before = round;
    }
    assert_true(before > 50);
    assert_int_equal(comm_choose_round(4, 3, 2), 2);
}

/* Nodes g1, g2 … */
static void make(struct comm_result *result, size_t count)
{
    *result = (struct comm_result){.backend = "nccl", .processes = 1, .count = count};
    result->nodes = xcalloc(count, sizeof(*result->nodes));
    for (size_t i = 0; i < count; i++) {
        result->nodes[i].label = xasprintf("g%zu", i + 1);
    }
}

static void set_rate(struct comm_result *result, size_t one, size_t other, double rate)
{
    struct comm_pair *pair = comm_get_pair(result, one, other);
    pair->rate = rate;
    if (rate <= 0 && !pair->error) {
        pair->error = xstrdup("g1: it broke");
    }
}

/* "SEVERITY HOSTS TITLE", a line a finding. */
static char *judged(const struct comm_result *result)
{
    AUTO_FINDINGS struct findings findings = FINDINGS_INIT;
    AUTO_STR struct str out = STR_INIT;
    comm_judge(result, &findings);
    for (size_t i = 0; i < findings.len; i++) {
        AUTO_FREE char *hosts = strlist_join(&findings.items[i].hosts, ",");
        assert_string_equal(findings.items[i].id, COMM_ID);
        str_addf(&out, "%s %s %s\n", finding_severity_name(findings.items[i].severity), hosts,
                 findings.items[i].text);
    }
    return str_detach(&out);
}

static void assert_judged(struct comm_result *result, const char *wanted)
{
    AUTO_FREE char *text = judged(result);
    assert_string_equal(text, wanted);
    comm_result_release(result);
}

/* All pairs of four nodes at a rate. */
static void make_four(struct comm_result *result, double rate)
{
    make(result, 4);
    for (size_t i = 0; i < 4; i++) {
        for (size_t other = i + 1; other < 4; other++) {
            set_rate(result, i, other, rate);
        }
    }
    result->whole_nodes = 4;
    result->whole_rate = rate;
}

static void test_what_rates_mean(void **state)
{
    (void)state;
    struct comm_result result;
    make_four(&result, 40e9);
    assert_judged(&result, "ok g1,g2,g3,g4 40.00 GB/s between two nodes (median), 40.00 GB/s together\n");

    make_four(&result, 40e9);
    for (size_t i = 0; i < 4; i++) {
        if (i != 2) {
            set_rate(&result, i, 2, 5e9);
        }
    }
    assert_judged(&result, "warn g3 it is slow: 5.00 GB/s at best, the other nodes reach 40.00 GB/s\n"
                           "ok g1,g2,g4 5.00 GB/s between two nodes (median), 40.00 GB/s together\n");

    make_four(&result, 40e9);
    set_rate(&result, 3, 0, 5e9);
    assert_judged(
        &result,
        "warn g1,g4 the path between g1 and g4 is slow: 5.00 GB/s; with other nodes both reach 40.00 GB/s\n"
        "ok g2,g3 40.00 GB/s between two nodes (median), 40.00 GB/s together\n");

    make_four(&result, 40e9);
    result.whole_rate = 4e9;
    assert_judged(&result,
                  "warn g1,g2,g3,g4 together the nodes reach 4.00 GB/s, the slowest pair alone 40.00 GB/s\n");

    make(&result, 2); /* nobody can say which of them is slow */
    set_rate(&result, 0, 1, 1e9);
    result.whole_nodes = 2;
    result.whole_rate = 1e9;
    assert_judged(&result, "ok g1,g2 1.00 GB/s between two nodes (median), 1.00 GB/s together\n");

    make(&result, 1);
    assert_judged(&result, "note g1 nothing to test: it is one process on one node\n");
}

static void test_what_failures_mean(void **state)
{
    (void)state;
    struct comm_result result;
    make_four(&result, 40e9);
    for (size_t i = 0; i < 4; i++) {
        if (i != 1) {
            set_rate(&result, i, 1, 0);
        }
    }
    assert_true(comm_fails_always(&result, 1, 3));
    assert_false(comm_fails_always(&result, 1, 4));
    assert_false(comm_fails_always(&result, 0, 1));
    assert_judged(&result,
                  "fail g2 no all-reduce with any other node succeeded, but those between the others did\n"
                  "ok g1,g3,g4 40.00 GB/s between two nodes (median), 40.00 GB/s together\n");

    make_four(&result, 40e9);
    set_rate(&result, 0, 1, 0);
    assert_judged(&result,
                  "fail g1,g2 no all-reduce between g1 and g2 succeeded, but with other nodes it did\n"
                  "ok g3,g4 40.00 GB/s between two nodes (median), 40.00 GB/s together\n");

    make_four(&result, 0);
    result.whole_nodes = 0;
    result.nodes[3].problem = xstrdup("torch cannot be used");
    assert_judged(&result, "fail g4 torch cannot be used\n"
                           "fail g1,g2,g3 no all-reduce between any two of these nodes succeeded\n");

    make_four(&result, 40e9);
    result.whole_rate = 0;
    assert_judged(&result,
                  "fail g1,g2,g3,g4 no all-reduce over 4 nodes together succeeded, but in pairs it did\n");
}

static void test_what_the_transport_means(void **state)
{
    (void)state;
    struct comm_result result;
    make_four(&result, 40e9);
    for (size_t i = 0; i < 4; i++) {
        result.nodes[i].transport = xstrdup(i == 2 ? "Socket" : "RoCE");
        result.nodes[i].fast_ports = i < 2;
    }
    assert_judged(&result, "warn g3 NCCL uses Socket, on the other nodes RoCE\n"
                           "ok g1,g2,g4 40.00 GB/s between two nodes (median), 40.00 GB/s together\n");
    make(&result, 2);
    set_rate(&result, 0, 1, 1e9);
    for (size_t i = 0; i < 2; i++) {
        result.nodes[i].transport = xstrdup("Socket");
        result.nodes[i].fast_ports = true;
    }
    assert_judged(&result, "warn g1 NCCL uses sockets although InfiniBand or RoCE ports are up\n"
                           "warn g2 NCCL uses sockets although InfiniBand or RoCE ports are up\n");
}

static void test_what_may_be_left(void **state)
{
    (void)state;
    struct comm_result result;
    make_four(&result, 40e9);
    assert_false(comm_left_something(&result));
    struct finding *finding = findings_add(&result.left, COMM_ID, FINDING_FAIL, "could not verify");
    strlist_add(&finding->hosts, "g1");
    assert_true(comm_left_something(&result));
    assert_judged(&result, "ok g1,g2,g3,g4 40.00 GB/s between two nodes (median), 40.00 GB/s together\n"
                           "fail g1 could not verify\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_node_meets_every_other_once),
        cmocka_unit_test(test_a_sample_is_spread),
        cmocka_unit_test(test_what_rates_mean),
        cmocka_unit_test(test_what_failures_mean),
        cmocka_unit_test(test_what_the_transport_means),
        cmocka_unit_test(test_what_may_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
