/* What leaves in a notification: valid JSON for any bytes, bounded, without secrets, without mentions. */
#include "report/notify_internal.h"
#include "report_test.h"

static json_t *body_of(enum notify_format_id format, const struct notify_event *event,
                       const struct strlist *secrets)
{
    struct notice notice;
    AUTO_STR struct str body = STR_INIT;
    json_error_t error;
    notice_init(&notice, event, secrets);
    notify_formats[format]->build(&notice, &body);
    notice_release(&notice);
    json_t *parsed = json_loadb(str_text(&body), body.len, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(parsed);
    return parsed;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

/* The text a person sees, whatever the format. Caller frees. */
static char *shown(enum notify_format_id format, const struct notify_event *event,
                   const struct strlist *secrets)
{
    json_t *body = body_of(format, event, secrets);
    char *text = xstrdup(text_of(format == NOTIFY_FEISHU ? json_object_get(body, "content") : body, "text"));
    json_decref(body);
    return text;
}

static struct notify_event failed_event(struct strlist *hosts, struct strlist *lines)
{
    strlist_add(hosts, "g0033");
    strlist_add(hosts, "g0034");
    strlist_add(lines, "RuntimeError: <b> & \"quotes\"");
    return (struct notify_event){
        .kind = NOTIFY_FAILED,
        .time_ms = 1764447600000,
        .run = "r1",
        .job = "qwen",
        .run_id = "r1-0123abcd",
        .attempt = 2,
        .reason = "g0033: exit status 3",
        .exit_status = 3,
        .head = "login1",
        .hosts = hosts,
        .lines = lines,
    };
}

static void test_json_has_every_key(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT, lines = STRLIST_INIT;
    struct notify_event event = failed_event(&hosts, &lines);
    json_t *body = body_of(NOTIFY_JSON, &event, NULL);
    assert_int_equal(json_object_size(body), 13);
    assert_string_equal(text_of(body, "schema"), "mtlaunch/1");
    assert_string_equal(text_of(body, "event"), "failed");
    assert_string_equal(text_of(body, "time"), "2025-11-29T20:20:00Z");
    assert_string_equal(text_of(body, "run"), "r1");
    assert_string_equal(text_of(body, "job"), "qwen");
    assert_string_equal(text_of(body, "run_id"), "r1-0123abcd");
    assert_int_equal(json_integer_value(json_object_get(body, "attempt")), 2);
    assert_string_equal(text_of(body, "head"), "login1");
    assert_string_equal(text_of(body, "text"), "run 'r1' failed on g[0033-0034] (exit status 3)");
    assert_string_equal(text_of(body, "reason"), "g0033: exit status 3");
    assert_int_equal(json_integer_value(json_object_get(body, "exit_status")), 3);
    assert_int_equal(json_array_size(json_object_get(body, "hosts")), 2);
    assert_int_equal(json_array_size(json_object_get(body, "lines")), 1);
    json_decref(body);
}

static void test_unknown_is_null(void **state)
{
    (void)state;
    const struct notify_event event = {.kind = NOTIFY_LOST, .exit_status = -1};
    json_t *body = body_of(NOTIFY_JSON, &event, NULL);
    static const char *const keys[] = {"time",    "run",  "job",    "run_id",
                                       "attempt", "head", "reason", "exit_status"};
    FOR_ROWS(i, keys, keys[i]) {
        assert_true(json_is_null(json_object_get(body, keys[i])));
    }
    assert_int_equal(json_array_size(json_object_get(body, "hosts")), 0);
    assert_string_equal(text_of(body, "text"), "run '?' is lost");
    json_decref(body);
}

static void test_chats_get_title_reason_and_lines(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT, lines = STRLIST_INIT;
    struct notify_event event = failed_event(&hosts, &lines);
    AUTO_FREE char *slack = shown(NOTIFY_SLACK, &event, NULL);
    AUTO_FREE char *feishu = shown(NOTIFY_FEISHU, &event, NULL);
    assert_string_equal(slack, "run 'r1' failed on g[0033-0034] (exit status 3)\n"
                               "job qwen, attempt 2, started from login1\ng0033: exit status 3\n"
                               "&gt; RuntimeError: &lt;b&gt; &amp; \"quotes\"");
    assert_contains(feishu, "> RuntimeError: \xef\xbc\x9c"
                            "b> & \"quotes\"");
    json_t *body = body_of(NOTIFY_FEISHU, &event, NULL);
    assert_string_equal(text_of(body, "msg_type"), "text");
    json_decref(body);
}

static void test_a_log_mentions_nobody(void **state)
{
    (void)state;
    const struct notify_event event = {.kind = NOTIFY_FAILED,
                                       .run = "r",
                                       .exit_status = -1,
                                       .reason = "<!channel> <at user_id=\"all\">x</at>"};
    AUTO_FREE char *slack = shown(NOTIFY_SLACK, &event, NULL);
    AUTO_FREE char *feishu = shown(NOTIFY_FEISHU, &event, NULL);
    assert_null(strchr(slack, '<'));
    assert_null(strchr(feishu, '<'));
}

static void test_any_bytes_make_valid_json(void **state)
{
    (void)state;
    char all[256];
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    for (int i = 1; i < 256; i++) {
        all[i - 1] = (char)i;
    }
    all[255] = '\0';
    strlist_add(&lines, all);
    strlist_add(&lines, "\xe2\x82");                     /* a cut character */
    strlist_add(&lines, "\xed\xa0\x80\xf5\xff\xc0\xaf"); /* a surrogate, beyond, overlong */
    const struct notify_event event = {.kind = NOTIFY_FAILED,
                                       .run = all,
                                       .reason = all,
                                       .lines = &lines,
                                       .hosts = &lines,
                                       .exit_status = -1};
    for (int format = 0; format < NOTIFY_FORMATS; format++) {
        json_t *body = body_of((enum notify_format_id)format, &event, NULL);
        AUTO_FREE char *dumped = json_dumps(body, JSON_ENSURE_ASCII);
        assert_non_null(dumped);
        assert_null(strstr(dumped, "\\u001b")); /* no escape sequence reaches a terminal */
        json_decref(body);
    }
}

static void test_secrets_become_stars(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist secrets = STRLIST_INIT, lines = STRLIST_INIT, hosts = STRLIST_INIT;
    strlist_add(&secrets, "hunter22");
    strlist_add(&secrets, "hunter22-and-more");
    strlist_add(&secrets, "abc"); /* too short to be looked for */
    strlist_add(&secrets, "");
    strlist_add(&secrets, "p\xff\xfeq<&");
    strlist_add(&lines, "token=hunter22-and-more hunter22hunter22 abc p\xff\xfeq<&");
    strlist_add(&hosts, "host-hunter22");
    const struct notify_event event = {.kind = NOTIFY_FAILED,
                                       .run = "r",
                                       .job = "hunter22",
                                       .reason = "x hunter22",
                                       .lines = &lines,
                                       .hosts = &hosts};
    for (int format = 0; format < NOTIFY_FORMATS; format++) {
        json_t *body = body_of((enum notify_format_id)format, &event, &secrets);
        AUTO_FREE char *dumped = json_dumps(body, 0);
        assert_null(strstr(dumped, "hunter22"));
        assert_null(strstr(dumped, "and-more"));
        assert_contains(dumped, "token=*** ****** abc ***");
        json_decref(body);
    }
}

static void test_a_cut_never_leaves_a_part_of_a_secret(void **state)
{
    (void)state;
    AUTO_STR struct str line = STR_INIT;
    AUTO_STRLIST struct strlist secrets = STRLIST_INIT, lines = STRLIST_INIT;
    while (line.len < NOTICE_LINE_MAX - 4) {
        str_add_char(&line, 'x');
    }
    str_add(&line, "hunter22");
    strlist_add(&secrets, "hunter22");
    strlist_add(&lines, str_text(&line));
    const struct notify_event event = {.kind = NOTIFY_FAILED, .run = "r", .lines = &lines};
    AUTO_FREE char *text = shown(NOTIFY_SLACK, &event, &secrets);
    assert_null(strstr(text, "hunt"));
}

static void test_everything_is_bounded(void **state)
{
    (void)state;
    AUTO_STR struct str huge = STR_INIT;
    AUTO_STRLIST struct strlist lines = STRLIST_INIT, hosts = STRLIST_INIT;
    for (int i = 0; i < 50000; i++) {
        str_add(&huge, "\xe2\x82\xac");
    }
    for (int i = 0; i < 100; i++) {
        strlist_addf(&lines, "%d %s", i, str_text(&huge));
    }
    for (int i = 0; i < 2000; i++) {
        strlist_addf(&hosts, "h%c%d", 'a' + i % 7, i);
    }
    const struct notify_event event = {
        .kind = NOTIFY_FAILED, .run = "r", .reason = str_text(&huge), .lines = &lines, .hosts = &hosts};
    json_t *body = body_of(NOTIFY_JSON, &event, NULL);
    assert_int_equal(json_array_size(json_object_get(body, "hosts")), NOTICE_HOSTS_MAX);
    assert_int_equal(json_array_size(json_object_get(body, "lines")), NOTICE_LINES_MAX);
    assert_contains(text_of(body, "text"), " and 976 more");
    assert_true(strlen(text_of(body, "reason")) <= NOTICE_TEXT_MAX + 3);
    const char *last =
        json_string_value(json_array_get(json_object_get(body, "lines"), NOTICE_LINES_MAX - 1));
    assert_memory_equal(last, "99 ", 3);
    assert_string_equal(last + strlen(last) - 3, "…");
    json_decref(body);
    json_t *feishu = body_of(NOTIFY_FEISHU, &event, NULL);
    AUTO_FREE char *dumped = json_dumps(feishu, 0);
    assert_true(strlen(dumped) < 20 * 1024);
    json_decref(feishu);
}

static void test_feishu_says_in_its_body_whether_it_took_it(void **state)
{
    (void)state;
    static const struct {
        const char *body, *why;
        bool taken, again;
    } cases[] = {
        {"{\"StatusCode\":0,\"StatusMessage\":\"success\",\"code\":0,\"data\":{},\"msg\":\"success\"}", "",
         true, false},
        {"{\"StatusCode\":0}", "", true, false},
        {"{\"code\":19024,\"msg\":\"Key Words Not Found\"}", "refused with code 19024: Key Words Not Found",
         false, false},
        {"{\"code\":11232,\"msg\":\"frequency limited\"}", "refused with code 11232: frequency limited",
         false, true},
        {"{\"code\":9499,\"msg\":\"\\u001b[31m\"}", "refused with code 9499: ?[31m", false, false},
        {"{\"code\":1}", "refused with code 1", false, false},
        {"ok", "an answer that is not Feishu's", false, false},
        {"", "an answer that is not Feishu's", false, false},
        {"[]", "an answer that is not Feishu's", false, false},
        {"{\"code\":\"0\"}", "an answer that is not Feishu's", false, false},
    };
    FOR_ROWS(i, cases, cases[i].body) {
        AUTO_STR struct str why = STR_INIT;
        bool again = true;
        assert_int_equal(notify_feishu.accepted(cases[i].body, strlen(cases[i].body), &again, &why),
                         cases[i].taken);
        assert_int_equal(again, cases[i].again);
        assert_string_equal(str_text(&why), cases[i].why);
    }
}

static void test_every_format_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < NOTIFY_FORMATS; i++) {
        assert_non_null(notify_formats[i]);
        assert_non_null(notify_formats[i]->build);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_has_every_key),
        cmocka_unit_test(test_unknown_is_null),
        cmocka_unit_test(test_chats_get_title_reason_and_lines),
        cmocka_unit_test(test_a_log_mentions_nobody),
        cmocka_unit_test(test_any_bytes_make_valid_json),
        cmocka_unit_test(test_secrets_become_stars),
        cmocka_unit_test(test_a_cut_never_leaves_a_part_of_a_secret),
        cmocka_unit_test(test_everything_is_bounded),
        cmocka_unit_test(test_feishu_says_in_its_body_whether_it_took_it),
        cmocka_unit_test(test_every_format_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
