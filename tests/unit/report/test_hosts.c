/* The host list as text and JSON. */
#include "report/hosts.h"
#include "report_test.h"

struct fixture {
    struct hostlist list;
    struct report_host hosts[3];
};

static int set_up(void **state)
{
    static const char entries[] = "g[1-2] slots=8 addr=10.0.0.1 env.API_KEY=s3cr3t,root@login:2222";
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    struct error err = ERROR_INIT;
    assert_int_equal(
        hostlist_parse(&fixture->list, entries, strlen(entries), HOSTLIST_COMMAS, "--hosts", 0, NULL, &err),
        0);
    for (size_t i = 0; i < 2; i++) {
        fixture->list.items[i].env.items[0].secret = true;
    }
    fixture->hosts[0] = (struct report_host){
        .host = &fixture->list.items[0], .hostname = "g1", .user = "me", .port = 22, .local = true};
    fixture->hosts[1] = (struct report_host){
        .host = &fixture->list.items[1], .hostname = "g2.example", .user = "me", .port = 22};
    fixture->hosts[2] = (struct report_host){
        .host = &fixture->list.items[2], .hostname = "login", .user = "root", .port = 2222};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    hostlist_release(&fixture->list);
    free(fixture);
    return 0;
}

static void test_json(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_hosts_json(fixture->hosts, &fixture->list, &out);
    assert_lacks(str_text(&out), "s3cr3t");
    json_t *answer = answer_object(&out);
    assert_keys(answer, "schema hosts folded");
    assert_string_equal(json_string_value(json_object_get(answer, "folded")), "g[1-2],login");
    json_t *first = json_array_get(json_object_get(answer, "hosts"), 0);
    assert_keys(first, "rank name user port addr slots ifname local env");
    assert_true(json_is_null(json_object_get(first, "user")));
    assert_true(json_is_null(json_object_get(first, "port")));
    assert_true(json_is_true(json_object_get(first, "local")));
    assert_int_equal(json_integer_value(json_object_get(first, "slots")), 8);
    assert_string_equal(json_string_value(json_object_get(json_object_get(first, "env"), "API_KEY")), "***");
    json_t *last = json_array_get(json_object_get(answer, "hosts"), 2);
    assert_int_equal(json_integer_value(json_object_get(last, "rank")), 2);
    assert_int_equal(json_integer_value(json_object_get(last, "port")), 2222);
    assert_string_equal(json_string_value(json_object_get(last, "user")), "root");
    assert_true(json_is_null(json_object_get(last, "slots")));
    assert_true(json_is_false(json_object_get(last, "local")));
    json_decref(answer);
}

static void test_text(void **state)
{
    struct fixture *fixture = *state;
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    report_hosts_text(fixture->hosts, 3, &style, &out);
    assert_string_equal(str_text(&out), "NODE  HOST   VIA                       ADDR      SLOTS\n"
                                        "   0  g1     here, without ssh         10.0.0.1      8\n"
                                        "   1  g2     ssh me@g2.example         10.0.0.1      8\n"
                                        "   2  login  ssh root@login port 2222\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_json), TEST(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
