/* Errors as people and scripts see them: place, caret, hint, folded hosts, JSON. */
#include "report/failure.h"
#include "report_test.h"

static void assert_text(const struct error *err, const char *expected)
{
    AUTO_STR struct str out = STR_INIT;
    failure_text(err, NULL, false, &out);
    assert_string_equal(str_text(&out), expected);
}

static void test_text_alone(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    error_set(&err, &kind_usage, "unknown command 'strat'");
    assert_text(&err, "mtlaunch: unknown command 'strat'\n");
    error_hint(&err, "did you mean 'start'?");
    assert_text(&err, "mtlaunch: unknown command 'strat'\n  hint: did you mean 'start'?\n");
}

static void test_place_line_and_caret(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    error_set(&err, &kind_job_file, "unknown key 'worldir'");
    error_at(&err, "job.yaml", 3, 1);
    error_source(&err, "worldir: /x", 11);
    error_hint(&err, "did you mean 'workdir'?");
    assert_text(&err, "mtlaunch: job.yaml:3:1: unknown key 'worldir'\n"
                      "  worldir: /x\n"
                      "  ^\n"
                      "  hint: did you mean 'workdir'?\n");
}

static void test_place_without_column_or_line(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    error_set(&err, &kind_job_file, "empty");
    error_at(&err, "job.yaml", 0, 0);
    assert_text(&err, "mtlaunch: job.yaml: empty\n");
    error_at(&err, NULL, 4, 0);
    error_source(&err, "x", 1);
    assert_text(&err, "mtlaunch: job.yaml:4: empty\n  x\n");
}

/* A caret stands under its character whatever stands before it: é is one column, 日 two, a tab a tab. */
static void test_caret_counts_columns_not_bytes(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    error_set(&err, &kind_job_file, "bad");
    error_at(&err, "f", 1, 5);
    error_source(&err, "é日\tbX", strlen("é日\tbX"));
    assert_text(&err, "mtlaunch: f:1:5: bad\n  é日\tbX\n     \t ^\n");
}

static void test_caret_behind_the_end(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    error_set(&err, &kind_job_file, "unclosed");
    error_at(&err, "f", 1, 99);
    error_source(&err, "ab", 2);
    assert_text(&err, "mtlaunch: f:1:99: unclosed\n  ab\n    ^\n");
}

static void test_nothing_reaches_the_terminal_raw(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_job_file, "a\033[2Jb\n    c\x7f");
    error_at(&err, "f\033]0;x\a", 1, 1);
    error_source(&err, "\033[31m", 5);
    error_hint(&err, "h\ri\nj");
    strlist_add(&hosts, "n\0331");
    failure_text(&err, &hosts, false, &out);
    for (size_t i = 0; i < out.len; i++) {
        assert_true(out.data[i] == '\n' || (unsigned char)out.data[i] >= ' ');
    }
    assert_lacks(str_text(&out), "\x7f");
    assert_contains(str_text(&out), "a?[2Jb\n    c?\n"); /* lines of a log are quoted below */
    assert_contains(str_text(&out), "hint: h?i j\n");
    strlist_release(&hosts);
}

/* S10: what a node said in an error begins no line at the margin. */
static void test_a_line_cannot_be_forged(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_job_file, "held by pid 5 (%s)",
              "x\nmtlaunch: run 'r' has finished\n  hint: rm -rf\n    y");
    error_hint(&err, "see '%s'", "a\nmtlaunch: forged");
    failure_text(&err, NULL, false, &out);
    assert_string_equal(str_text(&out),
                        "mtlaunch: held by pid 5 (x mtlaunch: run 'r' has finished   hint: rm -rf\n    y)\n"
                        "  hint: see 'a mtlaunch: forged'\n");
    str_reset(&out);
    error_set(&err, &kind_job_file,
              "a\xE2\x80\xAE"
              "b\xE2\x80\xA8\xE2\x81\xA9\x7F");
    failure_json(&err, NULL, &out);
    assert_contains(str_text(&out), "\"a\\u202eb\\u2028\\u2069\\u007f\"");
}

static void test_hosts_are_folded(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_FAILURES struct failures failures = FAILURES_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_refused, "connection refused");
    const char *const hosts[] = {"g0033", "g0034", "g0035", "g0036", "g0034"};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        failures_add(&failures, hosts[i], &err);
    }
    assert_int_equal(failures.len, 1);
    assert_int_equal(failures.items[0].hosts.len, 4);
    failure_text(&failures.items[0].error, &failures.items[0].hosts, false, &out);
    assert_string_equal(str_text(&out), "mtlaunch: g[0033-0036]: connection refused\n");
}

static void test_different_failures_stay_apart(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_FAILURES struct failures failures = FAILURES_INIT;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    assert_int_equal(failures_code(&failures), 0);
    error_set(&err, &kind_workdir_missing, "'/x': no such folder");
    failures_add(&failures, "a", &err);
    assert_true(failures_has(&failures, &err));
    assert_int_equal(failures_code(&failures), 4);
    error_set(&err, &kind_refused, "'/x': no such folder"); /* equal text, another class */
    assert_false(failures_has(&failures, &err));
    failures_add(&failures, "b", &err);
    error_hint(&err, "look");
    failures_add(&failures, "a", &err);
    assert_int_equal(failures.len, 3);
    assert_int_equal(failures_code(&failures), 3);
    failures_hosts(&failures, &hosts);
    assert_int_equal(hosts.len, 2);
    assert_string_equal(hosts.items[0], "a");
    assert_string_equal(hosts.items[1], "b");
}

static void test_json_has_every_key(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_hostkey_unknown, "host key unknown");
    strlist_add(&hosts, "a");
    failure_json(&err, &hosts, &out);
    json_t *answer = answer_object(&out);
    assert_keys(answer, "schema error");
    json_t *error = json_object_get(answer, "error");
    assert_keys(error, "kind code message hint hosts file line column");
    assert_string_equal(json_string_value(json_object_get(error, "kind")), "hostkey-unknown");
    assert_int_equal(json_integer_value(json_object_get(error, "code")), 3);
    assert_true(json_is_null(json_object_get(error, "hint")));
    assert_true(json_is_null(json_object_get(error, "file")));
    assert_true(json_is_null(json_object_get(error, "line")));
    assert_true(json_is_null(json_object_get(error, "column")));
    assert_int_equal(json_array_size(json_object_get(error, "hosts")), 1);
    json_decref(answer);
    strlist_release(&hosts);
}

static void test_json_with_odd_bytes(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_job_file, "a\033\xff\x7f\xc2\x9b\"é");
    error_at(&err, "f", 7, 9);
    failure_json(&err, NULL, &out);
    for (size_t i = 0; i + 1 < out.len; i++) {
        assert_true((unsigned char)out.data[i] >= ' ' && out.data[i] != 0x7f);
    }
    assert_lacks(str_text(&out), "\xc2\x9b");
    json_t *answer = answer_object(&out);
    json_t *error = json_object_get(answer, "error");
    assert_string_equal(json_string_value(json_object_get(error, "message")),
                        "a\033\xef\xbf\xbd\x7f\xc2\x9b\"é");
    assert_int_equal(json_integer_value(json_object_get(error, "line")), 7);
    assert_int_equal(json_array_size(json_object_get(error, "hosts")), 0);
    json_decref(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_alone),
        cmocka_unit_test(test_place_line_and_caret),
        cmocka_unit_test(test_place_without_column_or_line),
        cmocka_unit_test(test_caret_counts_columns_not_bytes),
        cmocka_unit_test(test_caret_behind_the_end),
        cmocka_unit_test(test_nothing_reaches_the_terminal_raw),
        cmocka_unit_test(test_a_line_cannot_be_forged),
        cmocka_unit_test(test_hosts_are_folded),
        cmocka_unit_test(test_different_failures_stay_apart),
        cmocka_unit_test(test_json_has_every_key),
        cmocka_unit_test(test_json_with_odd_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
