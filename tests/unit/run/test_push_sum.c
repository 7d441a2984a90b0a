/* Sums as sha256sum and cksum print them. */
#include "run/push_sum_internal.h"
#include "test.h"

/* As coreutils 9.1 prints them. */
static const struct {
    const char *text, *sha256, *cksum;
} rows[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "4294967295"},
    {"123456789", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225", "930766865"},
    {"a\n", "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7", "2418082923"},
};

static void test_rows(void **state)
{
    (void)state;
    FOR_ROWS(i, rows, rows[i].text) {
        for (size_t kind = 0; kind < PUSH_SUM_KINDS; kind++) {
            struct push_sum *sum = push_sum_new((enum push_sum_kind)kind);
            char text[65];
            for (const char *at = rows[i].text; *at != '\0'; at++) { /* however it is cut */
                push_sum_add(sum, at, 1);
            }
            push_sum_end(sum, text);
            assert_string_equal(text, kind == PUSH_SUM_SHA256 ? rows[i].sha256 : rows[i].cksum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
