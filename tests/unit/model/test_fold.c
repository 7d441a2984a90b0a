/* Folding: who says the same, in what order, and who stands for a group. */

#include "base/str.h"
#include "model/fold.h"
#include "test.h"

static bool same_letter(const void *ctx, size_t a, size_t b)
{
    const char *text = ctx;
    return text[a] == text[b];
}

/* "0,2 1" */
static void assert_groups(const struct fold *fold, const char *wanted)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < fold->len; i++) {
        for (size_t j = 0; j < fold->groups[i].len; j++) {
            str_addf(&text, "%s%zu", j > 0 ? "," : i > 0 ? " " : "", fold->groups[i].items[j]);
        }
    }
    assert_string_equal(str_text(&text), wanted);
}

static void test_groups(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        const char *groups, *odd_first;
    } cases[] = {
        {"", 0, "", ""},
        {"a", 1, "0", "0"},
        {"aaa", 3, "0,1,2", "0,1,2"},
        {"abab", 4, "0,2 1,3", "0,2 1,3"},
        {"aabca", 5, "0,1,4 2 3", "2 3 0,1,4"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fold fold;
        fold_make(&fold, cases[i].count, same_letter, cases[i].text);
        assert_groups(&fold, cases[i].groups);
        fold_sort_odd_first(&fold);
        assert_groups(&fold, cases[i].odd_first);
        fold_release(&fold);
    }
}

static void test_nobody_is_alike(void **state)
{
    struct fold fold;
    (void)state;
    fold_make(&fold, 3, NULL, NULL);
    assert_groups(&fold, "0 1 2");
    fold_release(&fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_nobody_is_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
