/* The search for many literals: overlapping ones, one inside another, bytes above 127; as strstr finds them.
 */
#include "insight/literals_internal.h"
#include "insight_test.h"

static const char *const words[] = {"he", "she", "his", "hers", "error: ", "\xe2\x96\x88", "ers"};

static struct literals *make(void)
{
    struct literals *literals = literals_new();
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        literals_add(literals, words[i], (uint16_t)i);
    }
    literals_build(literals);
    return literals;
}

static void assert_as_strstr(const struct literals *literals, const char *text)
{
    uint16_t found[16];
    uint16_t wanted[16];
    size_t wanted_len = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strstr(text, words[i])) {
            wanted[wanted_len++] = (uint16_t)i;
        }
    }
    assert_int_equal(literals_find(literals, text, strlen(text), found, ARRAY_LEN(found)), wanted_len);
    assert_memory_equal(found, wanted, wanted_len * sizeof(wanted[0]));
}

static void test_every_literal_of_a_line_is_found(void **state)
{
    (void)state;
    struct literals *literals = make();
    static const char *const texts[] = {"ushers", "shis",   "", "an error: she", "50 % \xe2\x96\x88",
                                        "hhhe",   "nothing"};
    FOR_ROWS(i, texts, texts[i]) {
        assert_as_strstr(literals, texts[i]);
    }
    literals_free(literals);
}

/* All texts of seven letters of a small alphabet. */
static void test_the_search_agrees_with_strstr(void **state)
{
    (void)state;
    struct literals *literals = make();
    static const char letters[] = "hesri";
    char text[8] = {0};
    for (unsigned long n = 0; n < 78125; n++) {
        unsigned long rest = n;
        for (size_t i = 0; i < 7; i++, rest /= 5) {
            text[i] = letters[rest % 5];
        }
        assert_as_strstr(literals, text);
    }
    literals_free(literals);
}

static void test_no_more_than_max_are_given(void **state)
{
    (void)state;
    struct literals *literals = make();
    uint16_t found[2];
    assert_int_equal(literals_find(literals, "ushers error: ", 14, found, 2), 2);
    literals_free(literals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_literal_of_a_line_is_found),
        cmocka_unit_test(test_the_search_agrees_with_strstr),
        cmocka_unit_test(test_no_more_than_max_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
