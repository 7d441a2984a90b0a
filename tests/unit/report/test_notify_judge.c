/* What an answer of a receiver means: delivered, again after a pause, or the end. */
#include "report/notify_internal.h"
#include "report_test.h"

static const struct notify_limits limits = {
    .total_ms = 600000, .backoff_ms = 1000, .retry_after_max_ms = 120000};

static struct notify_verdict judge(int status, int64_t retry_after_s, unsigned tries, int64_t age_ms,
                                   struct str *why)
{
    const struct http_answer answer = {.status = status, .retry_after_s = retry_after_s, .body = ""};
    return notify_judge(&answer, &notify_json, &limits, tries, age_ms, why);
}

static void test_statuses(void **state)
{
    (void)state;
    static const struct {
        int status, what;
    } cases[] = {
        {200, NOTIFY_DELIVERED}, {204, NOTIFY_DELIVERED}, {299, NOTIFY_DELIVERED}, {301, NOTIFY_GIVE_UP},
        {304, NOTIFY_GIVE_UP},   {400, NOTIFY_GIVE_UP},   {401, NOTIFY_GIVE_UP},   {404, NOTIFY_GIVE_UP},
        {408, NOTIFY_RETRY},     {410, NOTIFY_GIVE_UP},   {429, NOTIFY_RETRY},     {500, NOTIFY_RETRY},
        {503, NOTIFY_RETRY},     {599, NOTIFY_RETRY},     {600, NOTIFY_GIVE_UP},   {100, NOTIFY_GIVE_UP},
    };
    FOR_ROWS(i, cases, NULL) {
        AUTO_STR struct str why = STR_INIT;
        assert_int_equal(judge(cases[i].status, 0, 1, 0, &why).what, cases[i].what);
        if (cases[i].what != NOTIFY_DELIVERED) {
            assert_contains(str_text(&why), "answered with status ");
        }
    }
}

static void test_pauses_grow_up_to_a_minute(void **state)
{
    (void)state;
    static const unsigned expected[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    for (unsigned i = 0; i < ARRAY_LEN(expected); i++) {
        AUTO_STR struct str why = STR_INIT;
        assert_int_equal(judge(500, 0, i + 1, 0, &why).wait_ms, expected[i]);
    }
    AUTO_STR struct str why = STR_INIT;
    assert_int_equal(judge(500, 0, 4000000000U, 0, &why).wait_ms, 60000);
}

static void test_retry_after_is_heeded_with_a_cap(void **state)
{
    (void)state;
    AUTO_STR struct str why = STR_INIT;
    assert_int_equal(judge(429, 7, 1, 0, &why).wait_ms, 7000);
    assert_int_equal(judge(503, 7, 6, 0, &why).wait_ms, 32000); /* never sooner than the pause */
    assert_int_equal(judge(429, 86400, 1, 0, &why).wait_ms, 120000);
    assert_int_equal(judge(429, INT64_MAX, 1, 0, &why).wait_ms, 120000);
    assert_int_equal(judge(429, -5, 1, 0, &why).wait_ms, 1000);
}

static void test_an_old_event_is_given_up(void **state)
{
    (void)state;
    AUTO_STR struct str why = STR_INIT;
    assert_int_equal(judge(500, 0, 1, 599000, &why).what, NOTIFY_RETRY);
    assert_int_equal(judge(500, 0, 1, 599001, &why).what, NOTIFY_GIVE_UP);
    assert_int_equal(judge(200, 0, 1, 700000, &why).what, NOTIFY_DELIVERED);
}

static void test_network_errors_and_redirects(void **state)
{
    (void)state;
    AUTO_STR struct str why = STR_INIT;
    struct http_answer answer = {.problem = "it did not answer in time", .retryable = true, .body = ""};
    assert_int_equal(notify_judge(&answer, &notify_json, &limits, 1, 0, &why).what, NOTIFY_RETRY);
    assert_string_equal(str_text(&why), "it did not answer in time");
    answer = (struct http_answer){.problem = "its certificate is not trusted", .body = ""};
    assert_int_equal(notify_judge(&answer, &notify_json, &limits, 1, 0, &why).what, NOTIFY_GIVE_UP);
    answer = (struct http_answer){.status = 307, .redirected = true, .body = ""};
    str_reset(&why);
    assert_int_equal(notify_judge(&answer, &notify_json, &limits, 1, 0, &why).what, NOTIFY_GIVE_UP);
    assert_string_equal(str_text(&why),
                        "answered with status 307, a redirect to another place, which is not followed");
}

static void test_a_format_may_refuse_a_good_status(void **state)
{
    (void)state;
    AUTO_STR struct str why = STR_INIT;
    const char *limited = "{\"code\":11232,\"msg\":\"frequency limited\"}";
    struct http_answer answer = {.status = 200, .body = limited, .body_len = strlen(limited)};
    assert_int_equal(notify_judge(&answer, &notify_feishu, &limits, 1, 0, &why).what, NOTIFY_RETRY);
    answer.body = "{\"code\":19001}";
    answer.body_len = strlen(answer.body);
    assert_int_equal(notify_judge(&answer, &notify_feishu, &limits, 1, 0, &why).what, NOTIFY_GIVE_UP);
    assert_int_equal(notify_judge(&answer, &notify_slack, &limits, 1, 0, &why).what, NOTIFY_DELIVERED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_pauses_grow_up_to_a_minute),
        cmocka_unit_test(test_retry_after_is_heeded_with_a_cap),
        cmocka_unit_test(test_an_old_event_is_given_up),
        cmocka_unit_test(test_network_errors_and_redirects),
        cmocka_unit_test(test_a_format_may_refuse_a_good_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
