/* Times as people and JSON see them. */
#include "base/clock.h"
#include "test.h"

static void test_utc(void **state)
{
    (void)state;
    char buffer[CLOCK_TEXT_SIZE];

    assert_string_equal(clock_format_utc(0, buffer), "1970-01-01T00:00:00Z");
    assert_string_equal(clock_format_utc(INT64_C(1795980600999), buffer), "2026-11-29T19:30:00Z");
    assert_string_equal(clock_format_utc(INT64_C(951782400000), buffer), "2000-02-29T00:00:00Z");
    /* What no calendar holds stays writable. */
    assert_string_equal(clock_format_utc(-1, buffer), "1970-01-01T00:00:00Z");
    assert_string_equal(clock_format_utc(INT64_MAX, buffer), "9999-12-31T00:00:00Z");
    assert_string_equal(clock_format_utc(INT64_MIN, buffer), "1970-01-01T00:00:00Z");
}

static void test_local(void **state)
{
    (void)state;
    char buffer[CLOCK_TEXT_SIZE];

    setenv("TZ", "XYZ-1", 1); /* one hour east */
    assert_string_equal(clock_format_local(INT64_C(1795980600000), buffer), "2026-11-29 20:30:00");
    setenv("TZ", "UTC0", 1);
    assert_string_equal(clock_format_local(INT64_C(1795980600000), buffer), "2026-11-29 19:30:00");
    setenv("TZ", "XYZ-14", 1);
    assert_int_equal(strlen(clock_format_local(INT64_MAX, buffer)), 19);
    unsetenv("TZ");
}

static void test_spans(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *want;
    } rows[] = {
        {-5, "0s"},
        {0, "0s"},
        {7, "7s"},
        {59, "59s"},
        {60, "1m00s"},
        {192, "3m12s"},
        {3599, "59m59s"},
        {3600, "1h00m"},
        {18120, "5h02m"},
        {86399, "23h59m"},
        {86400, "1d00h"},
        {183600, "2d03h"},
        {INT64_MAX, "106751991167300d15h"},
    };
    char buffer[CLOCK_TEXT_SIZE];

    FOR_ROWS(i, rows, rows[i].want) {
        assert_string_equal(clock_format_span(rows[i].seconds, buffer), rows[i].want);
    }
}

static void test_clocks_run(void **state)
{
    (void)state;
    int64_t mono = clock_mono_ms(), real = clock_real_ms();

    assert_true(mono > 0);
    assert_true(real > INT64_C(1600000000000)); /* milliseconds, not seconds: after 2020 */
    assert_true(clock_mono_ms() >= mono);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utc),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_clocks_run),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
