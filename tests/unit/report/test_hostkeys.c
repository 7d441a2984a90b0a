/* Host keys that are not known: equal ones on one line, whatever stands between them. */
#include "report/hostkeys.h"
#include "report_test.h"

static const struct report_hostkey keys[] = {
    {"g1", "ssh-ed25519", "SHA256:aa", "/h/known_hosts"},
    {"jump", "ssh-rsa", "SHA256:bb", "/h/known_hosts"},
    {"g2", "ssh-ed25519", "SHA256:aa", "/h/known_hosts"},
    {"g2", "ssh-ed25519", "SHA256:aa", "/h/known_hosts"}, /* by two ways */
};

static void test_text(void **state)
{
    AUTO_STR struct str text = STR_INIT;
    (void)state;
    report_hostkeys_text(keys, ARRAY_LEN(keys), &text);
    assert_string_equal(str_text(&text), "g[1-2]: ssh-ed25519 SHA256:aa\njump: ssh-rsa SHA256:bb\n");
}

static void test_json(void **state)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_FAILURES struct failures failures = FAILURES_INIT;
    struct error one = ERROR_INIT, failed = ERROR_INIT;
    (void)state;
    error_set(&one, &kind_refused, "nobody listens");
    failures_add(&failures, "g3", &one);
    error_set(&failed, &kind_hostkey_unknown, "nobody to ask");
    report_hostkeys_json(keys, ARRAY_LEN(keys), 0, &failures, &failed, &text);
    assert_string_equal(
        str_text(&text),
        "{\"schema\":\"mtlaunch/"
        "1\",\"keys\":[{\"hosts\":[\"g1\",\"g2\"],\"folded\":\"g[1-2]\",\"type\":\"ssh-ed25519\","
        "\"fingerprint\":\"SHA256:aa\",\"file\":\"/h/"
        "known_hosts\"},{\"hosts\":[\"jump\"],\"folded\":\"jump\",\"type\":"
        "\"ssh-rsa\",\"fingerprint\":\"SHA256:bb\",\"file\":\"/h/"
        "known_hosts\"}],\"added\":0,\"errors\":[{\"kind\":"
        "\"refused\",\"code\":3,\"message\":\"nobody "
        "listens\",\"hint\":null,\"hosts\":[\"g3\"],\"file\":null,\"line\":"
        "null,\"column\":null}],\"error\":{\"kind\":\"hostkey-unknown\",\"code\":3,\"message\":\"nobody to "
        "ask\",\"hint\":"
        "null,\"hosts\":[],\"file\":null,\"line\":null,\"column\":null}}\n");
}

static void test_nothing(void **state)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_FAILURES struct failures failures = FAILURES_INIT;
    (void)state;
    report_hostkeys_text(NULL, 0, &text);
    assert_int_equal(text.len, 0);
    report_hostkeys_json(NULL, 0, 0, &failures, NULL, &text);
    assert_string_equal(str_text(&text),
                        "{\"schema\":\"mtlaunch/1\",\"keys\":[],\"added\":0,\"errors\":[],\"error\":null}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
