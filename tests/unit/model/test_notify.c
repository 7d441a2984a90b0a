/* Notification targets: valid URLs, and a secret that no message shows. */
#include "base/text.h"
#include "model/notify.h"
#include "test.h"

static const char *refused(const char *url, bool allow_http)
{
    static struct error err;
    err = ERROR_INIT;
    assert_int_equal(notify_url_check(url, allow_http, &err), -1);
    assert_ptr_equal(err.kind, &kind_usage);
    assert_null(strstr(err.text, "S3CRET"));
    assert_null(strstr(err.hint, "S3CRET"));
    return err.text;
}

static void test_urls_that_may_be_called(void **state)
{
    (void)state;
    static const char *const good[] = {
        "https://hooks.example.org/services/T0/B0/S3CRET",
        "https://h",
        "https://h:8443/?token=S3CRET#x",
        "https://[2001:db8::1]:443/hook",
        "https://10.0.0.1/a%20b",
    };
    FOR_ROWS(i, good, good[i]) {
        assert_int_equal(notify_url_check(good[i], false, NULL), 0);
    }
    assert_int_equal(notify_url_check("http://h/x", true, NULL), 0);
}

static void test_urls_that_may_not(void **state)
{
    (void)state;
    assert_string_equal(refused("http://h/S3CRET", false), "'http://h/…' is not encrypted, expected https");
    assert_string_equal(refused("ftp://h/S3CRET", true), "the URL does not begin with 'https://'");
    assert_string_equal(refused("S3CRET", true), "the URL does not begin with 'https://'");
    assert_string_equal(refused("HTTPS://h", true), "the URL does not begin with 'https://'");
    assert_string_equal(refused("https:///S3CRET", false), "the URL names no host");
    assert_string_equal(refused("https://:443/S3CRET", false), "the URL names no host");
    assert_string_equal(refused("https://me:S3CRET@h/x", false),
                        "the URL 'https://h/…' contains a user name");
    /* S11 */
    static const char *const hosts[] = {"https://[::1",      "https://[::1/x",    "https://[::1]x/",
                                        "https://[1.2.3.4]", "https://[::1]]/",   "https://a]/",
                                        "https://a..b/",     "https://256.1.1.1", "https://h:0/",
                                        "https://h:65536/",  "https://h:/",       "https://h:4x/",
                                        "https://-h/",       "https://[]/",       "https://[fe80::1%25eth0]/",
                                        "https://a*b/"};
    FOR_ROWS(i, hosts, hosts[i]) {
        assert_non_null(strstr(refused(hosts[i], false), "has no valid host and port"));
    }
    static const char *const odd[] = {"https://h/a b",      "https://h\\@evil/S3CRET", "https://h/\tS3CRET",
                                      "https://h/\xc3\xa9", "https://h/\x7f",          "https://h/{x}"};
    FOR_ROWS(i, odd, odd[i]) {
        assert_non_null(strstr(refused(odd[i], false), "contains a character that is not allowed in a URL"));
    }
    AUTO_STR struct str url = STR_INIT;
    str_add(&url, "https://h/");
    while (url.len <= NOTIFY_URL_LENGTH_MAX) {
        str_add_char(&url, 'x');
    }
    assert_string_equal(refused(str_text(&url), false), "the URL has 2049 bytes, at most 2048");
}

static void test_what_is_shown_of_a_url(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"https://h/S3CRET", "https://h/…"},
        {"http://h:81?S3CRET", "http://h:81/…"},
        {"https://me:S3CRET@h/x", "https://h/…"},
        {"https://a@b@h#S3CRET", "https://h/…"},
        {"S3CRET", "the URL"},
        {"https://h\x1b/S3CRET", "https://h?/…"},
    };
    FOR_ROWS(i, pairs, pairs[i][0]) {
        AUTO_STR struct str shown = STR_INIT;
        notify_url_shown(pairs[i][0], &shown);
        assert_string_equal(str_text(&shown), pairs[i][1]);
    }
}

static void test_a_new_target_has_the_defaults(void **state)
{
    (void)state;
    struct notify_targets targets = {0};
    for (int i = 0; i < 20; i++) {
        notify_targets_add(&targets, "https://h/");
    }
    const struct notify_target *target = &targets.items[19];
    assert_int_equal(target->on,
                     NOTIFY_BIT(NOTIFY_FAILED) | NOTIFY_BIT(NOTIFY_FINISHED) | NOTIFY_BIT(NOTIFY_STALLED));
    assert_int_equal(target->format, NOTIFY_JSON);
    assert_false(target->allow_http);
    notify_targets_release(&targets);
    assert_int_equal(targets.len, 0);
}

static void test_every_word_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < NOTIFY_EVENTS; i++) {
        assert_non_null(notify_event_names[i]);
    }
    for (int i = 0; i < NOTIFY_FORMATS; i++) {
        assert_non_null(notify_format_names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls_that_may_be_called), cmocka_unit_test(test_urls_that_may_not),
        cmocka_unit_test(test_what_is_shown_of_a_url),  cmocka_unit_test(test_a_new_target_has_the_defaults),
        cmocka_unit_test(test_every_word_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
