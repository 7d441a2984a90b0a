/* The arithmetic of comparisons, against figures that were worked out by hand. */
#include "model/throughput.h"
#include "test.h"

#define SEQUENCE 20480
#define TOKENS   34e9

/* As it is printed with so many decimals. */
static void assert_printed(double value, int decimals, const char *wanted)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*f", decimals, value);
    assert_string_equal(text, wanted);
}

/* Eight GPUs a node, a sample a GPU; the last two against two nodes of InfiniBand. */
static const struct {
    const char *name;
    unsigned nodes, global_batch;
    double step_time_s;
    const char *samples, *speedup, *efficiency, *tokens, *hours;
} rows[] = {
    {"1 node", 1, 8, 4.76, "1.6807", "1.000", "100.00", "34420", "274.4"},
    {"2 nodes, 25 Gb Ethernet", 2, 16, 20.71, "0.7726", "0.460", "22.98", "15822", "596.9"},
    {"4 nodes, Ethernet", 4, 32, 27.75, "1.1532", "0.686", "17.15", "23617", "399.9"},
    {"2 nodes, InfiniBand 400 Gb", 2, 16, 5.36, "2.9851", "1.776", "88.81", "61134", "154.5"},
    {"3 nodes, InfiniBand", 3, 24, 6.22, "3.8585", "2.296", "76.53", "79023", "119.5"},
};

static void test_scaling(void **state)
{
    (void)state;
    FOR_ROWS(i, rows, rows[i].name) {
        double samples = throughput_samples(rows[i].global_batch, rows[i].step_time_s);
        double tokens = throughput_tokens(samples, SEQUENCE);
        double speedup = throughput_speedup(samples, throughput_samples(8, 4.76));
        assert_printed(samples, 4, rows[i].samples);
        assert_printed(speedup, 3, rows[i].speedup);
        assert_printed(throughput_efficiency(speedup, rows[i].nodes) * 100, 2, rows[i].efficiency);
        assert_printed(tokens, 0, rows[i].tokens);
        assert_printed(throughput_hours(TOKENS, tokens), 1, rows[i].hours);
    }
}

/* Another framework on the same two nodes, with a quarter of the batch: five times the steps per second are
 * no fivefold speed. */
static void test_steps_of_another_batch(void **state)
{
    (void)state;
    double samples = throughput_samples(4, 1.05);
    assert_printed(samples, 4, "3.8095");
    assert_printed(throughput_speedup(samples, throughput_samples(16, 5.36)), 3, "1.276");
    assert_printed(throughput_tokens(samples, SEQUENCE), 0, "78019");
    assert_printed(throughput_hours(TOKENS, throughput_tokens(samples, SEQUENCE)), 1, "121.1");
}

/* 85 million samples one by one, and 1.7 million packed ones, 32 in a step of 5 s. */
static void test_hours_of_samples(void **state)
{
    (void)state;
    double samples = throughput_samples(32, 5);
    assert_printed(throughput_hours(85e6, samples), 1, "3689.2");
    assert_printed(throughput_hours(1.7e6, samples), 1, "73.8");
}

static void test_utilization(void **state)
{
    (void)state;
    assert_printed(throughput_utilization(400, 989), 4, "0.4044");
}

/* What is not known makes nothing known. */
static void test_unknown(void **state)
{
    (void)state;
    assert_true(throughput_samples(-1, 5) < 0);
    assert_true(throughput_samples(8, -1) < 0);
    assert_true(throughput_samples(8, 0) < 0);
    assert_true(throughput_tokens(-1, 512) < 0);
    assert_true(throughput_tokens(3, -1) < 0);
    assert_true(throughput_speedup(3, -1) < 0);
    assert_true(throughput_speedup(-1, 3) < 0);
    assert_true(throughput_efficiency(-1, 2) < 0);
    assert_true(throughput_utilization(-1, 989) < 0);
    assert_true(throughput_utilization(32, -1) < 0);
    assert_true(throughput_hours(TOKENS, -1) < 0);
    assert_true(throughput_hours(TOKENS, 0) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaling),          cmocka_unit_test(test_steps_of_another_batch),
        cmocka_unit_test(test_hours_of_samples), cmocka_unit_test(test_utilization),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
