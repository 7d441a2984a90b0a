/* U23: a known failure is found by its line in a log, and the hint says what to do. */

#include "model/remedy.h"
#include "test.h"

/* One log's end for each row, as the program wrote it, and a word of the action. */
static const struct {
    const char *log;
    const char *word;
} samples[] = {
    {"        multi_tenant=True,\n        ^^^^^^^^^^^^^^^^^^\n    )\n    ^\n"
     "RuntimeError: use_libuv was requested but PyTorch was build without libuv support\n",
     "USE_LIBUV=0"},
};

static void test_each_row_is_found_in_its_sample(void **state)
{
    (void)state;
    assert_int_equal(remedies_len, sizeof samples / sizeof samples[0]);
    for (size_t i = 0; i < remedies_len; i++) {
        const char *action = remedy_find(samples[i].log);
        assert_ptr_equal(action, remedies[i].action);
        assert_non_null(strstr(action, samples[i].word));
    }
}

/* Later versions of torch write "built". */
static void test_the_corrected_spelling_is_found_too(void **state)
{
    (void)state;
    assert_non_null(
        remedy_find("use_libuv was requested but PyTorch was built without libuv support, run with "
                    "USE_LIBUV=0 to disable it."));
}

static void test_other_text_has_no_remedy(void **state)
{
    (void)state;
    assert_null(remedy_find(NULL));
    assert_null(remedy_find(""));
    assert_null(remedy_find("USE_LIBUV=1 libuv use_libuv was requested\nRuntimeError: shape mismatch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_is_found_in_its_sample),
        cmocka_unit_test(test_the_corrected_spelling_is_found_too),
        cmocka_unit_test(test_other_text_has_no_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
