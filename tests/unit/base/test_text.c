/* Numbers, durations, sizes, nearest names, patterns. */
#include "base/text.h"
#include "test.h"

static void test_starts_and_ends(void **state)
{
    (void)state;
    assert_true(text_starts("abc", ""));
    assert_true(text_starts("abc", "abc"));
    assert_false(text_starts("ab", "abc"));
    assert_false(text_starts("xbc", "a"));
    assert_true(text_ends("job.yaml", ".yaml"));
    assert_true(text_ends("abc", ""));
    assert_false(text_ends("l", ".yaml"));
    assert_false(text_ends("job.yml", ".yaml"));
}

static void test_lower(void **state)
{
    char text[] = "Gate-7.EXAMPLE \xc3\x84";

    (void)state;
    text_lower(text);
    assert_string_equal(text, "gate-7.example \xc3\x84");
}

static void test_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t min, max;
        bool ok;
        uint64_t value;
    } rows[] = {
        {"0", 0, 10, true, 0},
        {"0033", 0, 100, true, 33},
        {"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, false, 0},
        {"99999999999999999999999", 0, UINT64_MAX, false, 0},
        {"65535", 1, 65535, true, 65535},
        {"65536", 1, 65535, false, 0},
        {"0", 1, 65535, false, 0},
        {"", 0, 10, false, 0},
        {"-1", 0, 10, false, 0},
        {"+1", 0, 10, false, 0},
        {" 1", 0, 10, false, 0},
        {"1 ", 0, 10, false, 0},
        {"1x", 0, 10, false, 0},
        {"0x1", 0, 10, false, 0},
        {"1.0", 0, 10, false, 0},
        {"1e1", 0, 10, false, 0},
        {"\xD9\xA1", 0, 10, false, 0}, /* an Arabic digit one */
    };

    FOR_ROWS(i, rows, rows[i].text) {
        uint64_t value = 4711;
        bool ok = text_to_uint(rows[i].text, rows[i].min, rows[i].max, &value);
        if (ok != rows[i].ok || value != (ok ? rows[i].value : 4711)) {
            fail_msg("'%s' gave %d, %llu", rows[i].text, ok, (unsigned long long)value);
        }
    }
}

struct unit_row {
    const char *text;
    bool ok;
    uint64_t value;
};

static void check_units(const struct unit_row *rows, size_t count, bool (*convert)(const char *, uint64_t *))
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 4711;
        bool ok = convert(rows[i].text, &value);
        if (ok != rows[i].ok || value != (ok ? rows[i].value : 4711)) {
            fail_msg("'%s' gave %d, %llu", rows[i].text, ok, (unsigned long long)value);
        }
    }
}

static void test_durations(void **state)
{
    (void)state;
    static const struct unit_row rows[] = {
        {"0", true, 0},
        {"90", true, 90},
        {"90s", true, 90},
        {"10m", true, 600},
        {"2h", true, 7200},
        {"1d", true, 86400},
        {"36500d", true, TEXT_DURATION_MAX},
        {"3153600000", true, TEXT_DURATION_MAX},
        {"3153600001", false, 0},
        {"36501d", false, 0},
        {"18446744073709551615d", false, 0},
        {"", false, 0},
        {"s", false, 0},
        {"1.5h", false, 0},
        {"1h30m", false, 0},
        {"1H", false, 0},
        {"1w", false, 0},
        {"1ms", false, 0},
        {"1 s", false, 0},
        {"-1s", false, 0},
        {"off", false, 0},
    };

    check_units(rows, ARRAY_LEN(rows), text_to_duration);
}

static void test_durations_that_were_meant(void **state)
{
    (void)state;
    static const struct {
        const char *text, *meant; /* NULL: nobody can tell */
    } rows[] = {
        {"10minutes", "10m"}, {"10 min", "10m"}, {"1h30m", "90m"}, {"2 Hours", "2h"}, {"1H", "1h"},
        {"90sec", "90s"},     {"60s", "1m"},     {"1 day", "1d"},  {"10m", "10m"},    {"", NULL},
        {"10", NULL},         {"soon", NULL},    {"1.5h", NULL},   {"1w", NULL},      {"-1s", NULL},
        {"0m", NULL},         {"36501d", NULL},  {"10 m x", NULL},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        AUTO_FREE char *meant = text_duration_meant(rows[i].text);
        if (!meant != !rows[i].meant || (meant && strcmp(meant, rows[i].meant) != 0)) {
            fail_msg("'%s': %s, expected %s", rows[i].text, meant ? meant : "nothing",
                     rows[i].meant ? rows[i].meant : "nothing");
        }
    }
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct unit_row rows[] = {
        {"0", true, 0},
        {"1", true, 1},
        {"1K", true, 1024},
        {"16M", true, UINT64_C(16) << 20},
        {"100G", true, UINT64_C(100) << 30},
        {"2T", true, UINT64_C(2) << 40},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"8388607T", true, UINT64_C(8388607) << 40},
        {"8388608T", false, 0},
        {"18446744073709551615T", false, 0},
        {"", false, 0},
        {"K", false, 0},
        {"1k", false, 0},
        {"1KB", false, 0},
        {"1.5G", false, 0},
        {"1P", false, 0},
    };

    check_units(rows, ARRAY_LEN(rows), text_to_size);
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"start",  "stop",  "status",     "logs",      NULL,  "wait",
                                        "exec",   "hosts", "hostfile",   "dry-run",   "job", "",
                                        "remove", "check", "supervised", "on_failure"};
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"start", "start"},
        {"strat", "start"}, /* a transposition is one edit: not 'stop' */
        {"sotp", "stop"},
        {"hostfiel", "hostfile"},
        {"host", "hosts"},
        {"hots", "hosts"},
        {"stauts", "status"},
        {"STOP", "stop"},
        {"log", "logs"},
        {"jbo", "job"},
        {"dry_run", "dry-run"},
        {"onfailur", "on_failure"},
        {"superv", "supervised"}, /* more than 2 edits, but its beginning */
        {"supervizzd", "supervised"},
        {"suqervizzd", "supervised"}, /* three edits of ten */
        {"suqarvizzd", NULL},
        {"sup", "supervised"},
        {"su", NULL},
        {"foo", NULL},
        {"xyc", NULL},
        {"no", NULL},
        {"q", NULL},
        {"", NULL},
        {"completely-different", NULL},
    };

    FOR_ROWS(i, rows, rows[i].word) {
        const char *nearest = text_nearest(rows[i].word, names, ARRAY_LEN(names));
        bool same = nearest == NULL || rows[i].nearest == NULL ? nearest == rows[i].nearest
                                                               : strcmp(nearest, rows[i].nearest) == 0;
        if (!same) {
            fail_msg("'%s' gave '%s'", rows[i].word, nearest == NULL ? "(none)" : nearest);
        }
    }
    assert_null(text_nearest("start", names, 0));
}

static void test_nearest_does_not_compare_long_words(void **state)
{
    (void)state;
    char word[200];
    const char *const names[] = {word};

    memset(word, 'a', sizeof word);
    word[64] = '\0';
    assert_ptr_equal(text_nearest(word, names, 1), word);
    word[64] = 'a';
    word[65] = '\0';
    assert_null(text_nearest(word, names, 1));
    assert_null(text_nearest("aaaa", names, 1));
}

static void test_patterns(void **state)
{
    (void)state;
    static char nccl[] = "NCCL_*", key[] = "*_KEY", one[] = "UC?";
    char *const patterns[] = {nccl, key, one};

    assert_true(text_matches_any("NCCL_DEBUG", patterns, 3));
    assert_true(text_matches_any("API_KEY", patterns, 3));
    assert_true(text_matches_any("UCX", patterns, 3));
    assert_false(text_matches_any("UCX", patterns, 2));
    assert_false(text_matches_any("PATH", patterns, 3));
    assert_false(text_matches_any("XNCCL_", patterns, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_and_ends),
        cmocka_unit_test(test_lower),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_durations_that_were_meant),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_nearest_does_not_compare_long_words),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
