/* Heads of HTTP requests: whole, cut anywhere, too long, hostile. */
#include "test.h"
#include "transport/http/http_internal.h"

static int read_text(const char *text, struct http_request *out)
{
    return http_request_read(text, strlen(text), out);
}

static const struct {
    const char *name, *text;
    int status;
    const char *path, *accept;
    bool head;
} rows[] = {
    {"plain", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200, "/metrics", "", false},
    {"HEAD", "HEAD / HTTP/1.1\r\n\r\n", 200, "/", "", true},
    {"old", "GET /metrics HTTP/1.0\r\n\r\n", 200, "/metrics", "", false},
    {"bare line ends", "GET /metrics HTTP/1.1\nHost: x\n\n", 200, "/metrics", "", false},
    {"query", "GET /metrics?a=b&c HTTP/1.1\r\n\r\n", 200, "/metrics", "", false},
    {"accept", "GET / HTTP/1.1\r\nhost: x\r\naCCept: a/b;q=0.5, c/d\r\nX: y\r\n\r\n", 200, "/",
     " a/b;q=0.5, c/d", false},
    {"body behind", "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 200, "/", "", false},
    {"POST", "POST /metrics HTTP/1.1\r\n\r\n", 405, NULL, NULL, false},
    {"get", "get / HTTP/1.1\r\n\r\n", 405, NULL, NULL, false},
    {"HTTP/2", "GET / HTTP/2.0\r\n\r\n", 505, NULL, NULL, false},
    {"HTTP/0.9", "GET /\r\n\r\n", 400, NULL, NULL, false},
    {"no path", "GET metrics HTTP/1.1\r\n\r\n", 400, NULL, NULL, false},
    {"absolute", "GET http://x/ HTTP/1.1\r\n\r\n", 400, NULL, NULL, false},
    {"no version", "GET / \r\n\r\n", 400, NULL, NULL, false},
    {"other protocol", "\x16\x03\x01\x02\r\n\r\n", 400, NULL, NULL, false},
    {"escape", "GET /\033[2J HTTP/1.1\r\n\r\n", 400, NULL, NULL, false},
    {"tab in the path", "GET /a\tb HTTP/1.1\r\n\r\n", 400, NULL, NULL, false},
    {"half a version", "GET / HTTP/1. \n\n", 400, NULL, NULL, false},
    {"lone CR", "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400, NULL, NULL, false},
    {"empty", "\r\n\r\n", 400, NULL, NULL, false},
};

static void test_heads(void **state)
{
    (void)state;
    FOR_ROWS(i, rows, rows[i].name) {
        struct http_request request;
        assert_int_equal(read_text(rows[i].text, &request), rows[i].status);
        if (rows[i].status == 200) {
            assert_string_equal(request.path, rows[i].path);
            assert_string_equal(request.accept, rows[i].accept);
            assert_true(request.head == rows[i].head);
        }
        size_t head = strlen(rows[i].text) - (strstr(rows[i].text, "abc") ? 3 : 0);
        for (size_t len = 0; len < head; len++) { /* before its end nothing is decided */
            assert_int_equal(http_request_read(rows[i].text, len, &request), 0);
        }
    }
}

static void test_what_is_too_long(void **state)
{
    (void)state;
    struct http_request request;
    AUTO_STR struct str text = STR_INIT;
    str_add(&text, "GET /");
    for (int i = 0; i < HTTP_PATH_MAX; i++) {
        str_add_char(&text, 'a');
    }
    str_add(&text, " HTTP/1.1\r\n\r\n");
    assert_int_equal(read_text(str_text(&text), &request), 414);
    str_reset(&text);
    str_add(&text, "GET / HTTP/1.1\r\nAccept:");
    while (text.len < HTTP_HEAD_MAX) {
        str_add_char(&text, 'a');
    }
    assert_int_equal(http_request_read(text.data, text.len - 1, &request), 0);
    assert_int_equal(http_request_read(text.data, text.len, &request), 431);
    str_truncate(&text, 4000);
    str_add(&text, "\r\n\r\n");
    assert_int_equal(read_text(str_text(&text), &request), 200);
    assert_int_equal(strlen(request.accept), HTTP_ACCEPT_MAX - 1);
}

static void test_a_nul_is_refused(void **state)
{
    (void)state;
    static const char text[] = "GET /\0x HTTP/1.1\r\n\r\n";
    struct http_request request;
    assert_int_equal(http_request_read(text, sizeof(text) - 1, &request), 400);
}

static void test_answers(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    http_add_head(&out, 405, "text/plain", 12);
    assert_string_equal(str_text(&out),
                        "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain\r\nContent-Length: "
                        "12\r\nAllow: GET, HEAD\r\nCache-Control: no-store\r\nX-Content-Type-Options: "
                        "nosniff\r\nConnection: close\r\n\r\n");
    static const int sent[] = {200, 400, 404, 405, 414, 431, 505};
    for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
        assert_true(strcmp(http_status_text(sent[i]), "Error") != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_what_is_too_long),
        cmocka_unit_test(test_a_nul_is_refused),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
