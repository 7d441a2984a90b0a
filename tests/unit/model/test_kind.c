/* Error kinds: unique names, an exit code each, and which of several codes a command ends with. */
#include "test.h"

static void test_names_are_unique_words(void **state)
{
    (void)state;
    assert_true(kinds_all_count > 40);
    for (size_t i = 0; i < kinds_all_count; i++) {
        const char *name = kinds_all[i]->name;
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        assert_true(strlen(name) > 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(name, kinds_all[j]->name);
        }
    }
}

static void test_codes_are_those_of_the_table(void **state)
{
    static const int codes[] = {1, 2, 3, 4, 5, 6, 7, 8, 129, 130, 143};

    (void)state;
    for (size_t i = 0; i < kinds_all_count; i++) {
        size_t c = 0;
        while (c < ARRAY_LEN(codes) && codes[c] != kinds_all[i]->exit_code) {
            c++;
        }
        assert_true(c < ARRAY_LEN(codes));
    }
    /* every code of the table has a kind */
    FOR_ROWS(c, codes, NULL) {
        size_t i = 0;
        while (i < kinds_all_count && kinds_all[i]->exit_code != codes[c]) {
            i++;
        }
        assert_true(i < kinds_all_count);
    }
}

static void test_kinds_hold_base(void **state)
{
    bool usage = false;
    bool local = false;
    bool unsupported = false;

    (void)state;
    for (size_t i = 0; i < kinds_all_count; i++) {
        usage |= kinds_all[i] == &kind_usage;
        local |= kinds_all[i] == &kind_local;
        unsupported |= kinds_all[i] == &kind_not_supported;
    }
    assert_true(usage && local && unsupported);
}

static void test_examples(void **state)
{
    (void)state;
    assert_string_equal(kind_host_list.name, "host-list");
    assert_int_equal(kind_host_list.exit_code, 2);
    assert_string_equal(kind_hostkey_unknown.name, "hostkey-unknown");
    assert_int_equal(kind_hostkey_unknown.exit_code, 3);
    assert_int_equal(kind_not_proven.exit_code, 7);
}

static void test_worse_code(void **state)
{
    /* U12: 7, 8, 3, 4, 5, 6, 1 as documented, then the rest, then success */
    static const int order[] = {7, 8, 3, 4, 5, 6, 1, 143, 130, 2, 0};

    (void)state;
    FOR_ROWS(i, order, NULL) {
        for (size_t j = i; j < ARRAY_LEN(order); j++) {
            assert_int_equal(kind_worse_code(order[i], order[j]), order[i]);
            assert_int_equal(kind_worse_code(order[j], order[i]), order[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_unique_words),
        cmocka_unit_test(test_codes_are_those_of_the_table),
        cmocka_unit_test(test_kinds_hold_base),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_worse_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
