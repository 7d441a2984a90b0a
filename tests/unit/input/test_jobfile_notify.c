/* The key 'notify': defaults, every error with its place, and never a token in a message. */
#include "jobfile_test.h"
#include "model/notify.h"

static void test_defaults_and_all_that_can_be_said(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\n"
                                                "notify:\n"
                                                "  - {url: \"https://h/T0KEN\"}\n"
                                                "  - url: http://h:81/T0KEN\n"
                                                "    on: [started, lost]\n"
                                                "    format: feishu\n"
                                                "    allow_http: true\n"
                                                "  - {url: \"https://h/x\", on: stopped, format: null}\n",
                                                NULL);
    assert_read(&got);
    assert_int_equal(got.job.notify.len, 3);
    const struct notify_target *target = got.job.notify.items;
    assert_string_equal(target[0].url, "https://h/T0KEN");
    assert_int_equal(target[0].on, NOTIFY_ON_DEFAULT);
    assert_int_equal(target[0].format, NOTIFY_JSON);
    assert_false(target[0].allow_http);
    assert_int_equal(target[1].on, NOTIFY_BIT(NOTIFY_STARTED) | NOTIFY_BIT(NOTIFY_LOST));
    assert_int_equal(target[1].format, NOTIFY_FEISHU);
    assert_true(target[1].allow_http);
    assert_int_equal(target[2].on, NOTIFY_BIT(NOTIFY_STOPPED));
}

static void test_an_empty_list_asks_for_nothing(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\nnotify: []\n", NULL);
    assert_read(&got);
    assert_int_equal(got.job.notify.len, 0);
}

static void test_errors_have_a_place_and_no_token(void **state)
{
    (void)state;
    static const struct {
        const char *notify, *text, *hint;
        unsigned line, column;
    } cases[] = {
        {"notify: [{url: \"http://h/T0KEN\"}]",
         "'notify[0].url': 'http://h/…' is not encrypted, expected https",
         "use https, or add 'allow_http: true' to the target", 2, 16},
        {"notify:\n  - url: http://h/T0KEN\n    allow_http: false",
         "'notify[0].url': 'http://h/…' is not encrypted, expected https",
         "use https, or add 'allow_http: true' to the target", 3, 10},
        {"notify: [{url: \"ftp://h/T0KEN\"}]", "'notify[0].url': the URL does not begin with 'https://'",
         NULL, 2, 16},
        {"notify: [\"https://h/T0KEN\"]",
         "'notify[0]' is a string, expected a mapping with url, on, format, allow_http",
         "write {url: https://…}", 2, 10},
        {"notify: https://h/T0KEN", "'notify' is a string, expected a list of mappings",
         "write 'notify: [{url: https://…}]'", 2, 9},
        {"notify: {url: \"https://h/T0KEN\"}", "'notify' is a mapping, expected a list of mappings",
         "write 'notify: [{url: https://…}]'", 2, 9},
        {"notify: [{on: [failed]}]", "'notify[0]' has no url", "write '{url: https://…}'", 2, 10},
        {"notify: [{url: }]", "'notify[0]' has no url", "write '{url: https://…}'", 2, 10},
        {"notify: [{url: \"\"}]", "'notify[0].url' is empty", NULL, 2, 16},
        {"notify: [{url: [\"https://h/T0KEN\"]}]", "'notify[0].url' is a list, expected a string", NULL, 2,
         16},
        {"notify: [{url: \"https://h/T0KEN\", on: [faild]}]",
         "'notify[0].on' is 'faild', allowed: started, failed, finished, stalled, restarted, stopped, lost",
         "did you mean 'failed'?", 2, 40},
        {"notify: [{url: \"https://h/T0KEN\", on: []}]", "'notify[0].on' is empty", NULL, 2, 39},
        {"notify: [{url: \"https://h/T0KEN\", on: {a: b}}]",
         "'notify[0].on' is a mapping, expected a list of strings", "write 'on: [VALUE, VALUE]'", 2, 39},
        {"notify: [{url: \"https://h/T0KEN\", on: [[failed]]}]",
         "'notify[0].on' is a list, expected a string",
         "write one text, in quotes if the brackets belong to it", 2, 40},
        {"notify: [{url: \"https://h/T0KEN\", format: teams}]",
         "'notify[0].format' is 'teams', allowed: json, slack, feishu", "write 'format: json'", 2, 43},
        {"notify: [{url: \"https://h/T0KEN\", allow_http: yes}]",
         "'notify[0].allow_http' is neither true nor false", "write 'allow_http: false'", 2, 47},
        {"notify: [{urll: \"https://h/T0KEN\"}]", "unknown key 'notify[0].urll'", "did you mean 'url'?", 2,
         11},
        {"notify: [{token: \"T0KEN\"}]", "unknown key 'notify[0].token'",
         "choose one of: url, on, format, allow_http", 2, 11},
        {"notify: [{\"url:https://h/T0KEN\": x}]", "unknown key in 'notify[0]'", NULL, 2, 11},
    };
    FOR_ROWS(i, cases, cases[i].notify) {
        AUTO_FREE char *spec = xasprintf("program: x\n%s\n", cases[i].notify);
        AUTO_OUTCOME struct outcome got = read_spec(spec, NULL);
        assert_int_equal(got.result, -1);
        assert_string_equal(got.err.text, cases[i].text);
        if (cases[i].hint) {
            assert_string_equal(got.err.hint, cases[i].hint);
        }
        assert_int_equal(got.err.line, cases[i].line);
        assert_int_equal(got.err.column, cases[i].column);
        assert_int_equal(got.err.kind->exit_code, 2);
        assert_string_equal(got.err.source, "");
        assert_null(strstr(got.err.hint, "T0KEN"));
    }
}

static void test_too_many(void **state)
{
    (void)state;
    AUTO_STR struct str spec = STR_INIT;
    str_add(&spec, "program: x\nnotify:\n");
    for (int i = 0; i <= NOTIFY_TARGETS_MAX; i++) {
        str_add(&spec, "  - {url: \"https://h/\"}\n");
    }
    AUTO_OUTCOME struct outcome got = read_spec(str_text(&spec), NULL);
    assert_string_equal(got.err.text, "'notify' has 17 entries, at most 16");
}

static void test_a_mistake_beside_it_shows_no_token(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_spec("{program: x, notify: [{url: \"https://h/T0KEN\"}], launchr: y}\n", NULL);
    assert_string_equal(got.err.text, "unknown key 'launchr'");
    assert_null(strstr(got.err.source, "T0KEN"));
}

static void test_an_option_is_named_without_its_value(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    strlist_add(&sets, "notify=[{url: \"http://h/T0KEN\"}]");
    const struct job_request request = {.home = "/home/u", .sets = &sets};
    AUTO_OUTCOME struct outcome got = read_spec("program: x\n", &request);
    assert_int_equal(got.result, -1);
    assert_ptr_equal(got.err.kind, &kind_usage);
    assert_string_equal(got.err.file, "--set notify");
    assert_null(strstr(got.err.text, "T0KEN"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_and_all_that_can_be_said),
        cmocka_unit_test(test_an_empty_list_asks_for_nothing),
        cmocka_unit_test(test_errors_have_a_place_and_no_token),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_a_mistake_beside_it_shows_no_token),
        cmocka_unit_test(test_an_option_is_named_without_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
