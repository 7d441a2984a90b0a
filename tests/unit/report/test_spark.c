/* Lines of bars. */
#include <math.h>

#include "report/spark.h"
#include "report_test.h"

#define GAP ((double)NAN)

static void test_bars(void **state)
{
    static const struct {
        const char *name;
        double values[10];
        size_t len, width, bars;
        const char *wanted;
    } cases[] = {
        {"rising", {0, 1, 2, 3, 4, 5, 6, 7}, 8, 20, 8, "▁▂▃▄▅▆▇█"},
        {"falling", {8.3, 5.1, 3.9, 3.2}, 4, 20, 4, "█▄▂▁"},
        {"negative", {-2, 0, 2}, 3, 20, 3, "▁▅█"},
        {"all equal", {2, 2, 2}, 3, 20, 3, "▁▁▁"},
        {"one", {5}, 1, 20, 1, "▁"},
        {"a gap", {0, GAP, 7}, 3, 20, 3, "▁ █"},
        {"means of shares", {0, 0, 4, 4, 8, 8}, 6, 3, 3, "▁▅█"},
        {"a gap within a share", {0, GAP, 8, 8}, 4, 2, 2, "▁█"},
        {"shares of unequal size", {0, 0, 9, 9, 9}, 5, 2, 2, "▁█"},
        {"none", {0}, 0, 20, 0, ""},
        {"none is finite", {GAP, (double)INFINITY}, 2, 20, 0, ""},
        {"no room", {1, 2}, 2, 0, 0, ""},
        {"the largest numbers", {-1e308, 1e308}, 2, 2, 2, "▁█"},
        {"the largest numbers in one share", {1e308, 1e308, 0, 0}, 4, 2, 2, "█▁"},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].name) {
        AUTO_STR struct str out = STR_INIT;
        assert_int_equal(spark_add(cases[i].values, cases[i].len, cases[i].width, &out), cases[i].bars);
        assert_string_equal(str_text(&out), cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
