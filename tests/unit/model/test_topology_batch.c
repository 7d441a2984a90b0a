/* How processes split a model and a batch. */

#include "model/topology.h"
#include "test.h"

static void assert_refused(const struct error *err, const char *text, const char *hint)
{
    assert_ptr_equal(err->kind, &kind_plan);
    assert_string_equal(err->text, text);
    assert_string_equal(err->hint, hint);
}

static void test_world(void **state)
{
    (void)state;
    static const struct {
        struct topology_split split;
        unsigned world, data_parallel;
    } cases[] = {
        {{1, 1, 1, 1, 1}, 1, 1},           {{1, 1, 1, 1, 1}, 32, 32}, {{4, 1, 1, 1, 4}, 16, 4},
        {{4, 1, 1, 1, 4}, 32, 8},          {{4, 2, 2, 1, 4}, 32, 2},  {{8, 4, 1, 1, 8}, 32, 1},
        {{1, 1, 1, 32, 1}, 32, 32},        {{2, 2, 1, 8, 1}, 32, 8},  {{1024, 64, 16, 1, 1024}, 1u << 20, 1},
        {{1, 3, 1, 1, 1}, 3 * 1024, 1024},
    };
    FOR_ROWS(i, cases, NULL) {
        assert_int_equal(topology_split_world(&cases[i].split, cases[i].world, NULL), cases[i].data_parallel);
    }
}

static void test_world_refused(void **state)
{
    (void)state;
    static const struct {
        struct topology_split split;
        unsigned world;
        const char *text, *hint;
    } cases[] = {
        {{4, 2, 1, 1, 4},
         12,
         "world size 12 is not divisible by 8 (tensor 4 x pipeline 2 x context 1 parallel)",
         "use 8 or 16 processes in all, or other parallel sizes"},
        {{8, 1, 2, 1, 8},
         8,
         "world size 8 is not divisible by 16 (tensor 8 x pipeline 1 x context 2 parallel)",
         "use 16 processes in all, or other parallel sizes"},
        {{1, 2, 1, 3, 1},
         32,
         "world size 32 is not divisible by 6 (expert tensor 1 x expert 3 x pipeline 2 parallel)",
         "use 30 or 36 processes in all, or other parallel sizes"},
        {{1u << 20, 1u << 20, 1u << 20, 1, 1},
         32,
         "world size 32 is not divisible by 1152921504606846976 (tensor 1048576 x pipeline 1048576 x "
         "context 1048576 parallel)",
         "use 1152921504606846976 processes in all, or other parallel sizes"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        struct error err = ERROR_INIT;
        assert_int_equal(topology_split_world(&cases[i].split, cases[i].world, &err), 0);
        assert_refused(&err, cases[i].text, cases[i].hint);
    }
}

static void test_batch(void **state)
{
    (void)state;
    assert_int_equal(topology_split_batch(2048, 16, 8, NULL), 16);
    assert_int_equal(topology_split_batch(2048, 16, 32, NULL), 4);
    assert_int_equal(topology_split_batch(4, 1, 4, NULL), 1);
    assert_int_equal(topology_split_batch(1u << 30, 1, 1, NULL), 1u << 30);
    assert_int_equal(topology_split_batch(1u << 30, 1u << 30, 1, NULL), 1);
}

static void test_batch_refused(void **state)
{
    (void)state;
    static const struct {
        unsigned global, micro, data_parallel;
        const char *text, *hint;
    } cases[] = {
        {2048, 16, 24,
         "global batch size 2048 is not divisible by micro batch size 16 times data-parallel size 24, which "
         "is "
         "384",
         "use a global batch size of 1920 or 2304"},
        {4, 1, 8,
         "global batch size 4 is not divisible by micro batch size 1 times data-parallel size 8, which is 8",
         "use a global batch size of 8"},
        {7, 1u << 30, 1u << 20,
         "global batch size 7 is not divisible by micro batch size 1073741824 times data-parallel size "
         "1048576, which is 1125899906842624",
         "use a global batch size of 1125899906842624"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        struct error err = ERROR_INIT;
        assert_int_equal(topology_split_batch(cases[i].global, cases[i].micro, cases[i].data_parallel, &err),
                         0);
        assert_refused(&err, cases[i].text, cases[i].hint);
    }
}

/* Every size that is named in a hint works, and no other between them does. */
static void test_nearest_sizes_are_right(void **state)
{
    (void)state;
    for (unsigned unit = 2; unit < 40; unit++) {
        for (unsigned global = 1; global < 200; global++) {
            struct error err = ERROR_INIT;
            unsigned below = 0, above = 0;
            if (global % unit == 0) {
                continue;
            }
            assert_int_equal(topology_split_batch(global, 1, unit, &err), 0);
            int found = sscanf(err.hint, "use a global batch size of %u or %u", &below, &above);
            assert_int_equal(found, global > unit ? 2 : 1);
            if (found == 1) {
                above = below;
                below = 0;
            }
            assert_true(below < global && global < above && above - below == unit);
            assert_int_equal(topology_split_batch(above, 1, unit, NULL), above / unit);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_world_refused),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_batch_refused),
        cmocka_unit_test(test_nearest_sizes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
