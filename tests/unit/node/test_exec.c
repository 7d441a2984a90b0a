/* What is sent for a command that is not of a run, and where its own output begins. */

#include "node/exec.h"
#include "test.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define BEGIN "\n@@" NONCE " runs\n"

static void build(struct node_call *call, bool input, unsigned long limit_s, const char *first,
                  const char *second)
{
    AUTO_STRLIST struct strlist command = STRLIST_INIT;
    const struct node_exec_options options = {
        .command = &command, .input = input, .limit_s = limit_s, .mark = "mark"};

    strlist_add(&command, first);
    if (second != NULL) {
        strlist_add(&command, second);
    }
    node_request_exec(&options, NONCE, call);
}

static void test_request(void **state)
{
    AUTO_NODE_CALL struct node_call one = NODE_CALL_INIT, two = NODE_CALL_INIT;

    (void)state;
    build(&one, false, 0, "echo it's", NULL);
    assert_string_equal(one.nonce, NONCE);
    assert_non_null(strstr(one.command, "exec /bin/sh -c 'IFS= read -r mt_l"));
    assert_null(strchr(one.command, '!'));
    assert_non_null(strstr(str_text(&one.input), "\nset -- /bin/sh -c -- 'echo it'\\''s'\n"));
    assert_non_null(strstr(str_text(&one.input), "\nmt_input=\nmt_limit=\n"));
    assert_int_equal(strncmp(str_text(&one.input), NONCE "\n", sizeof(NONCE)), 0);
    assert_string_equal(one.input.data + one.input.len - sizeof(NONCE), NONCE "\n");
    build(&two, true, 90, "a\nb", "");
    assert_non_null(strstr(str_text(&two.input), "\nset -- 'a'\"$mt_n\"'b' ''\n"));
    assert_non_null(strstr(str_text(&two.input), "\nmt_input=1\nmt_limit=90\n"));
}

static void test_end_request(void **state)
{
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;

    (void)state;
    node_request_exec_end("abc", NONCE, &call);
    assert_non_null(strstr(str_text(&call.input), "\nmt_target=abc\n"));
    assert_string_equal(call.input.data + call.input.len - sizeof(NONCE), NONCE "\n");
}

/* Feed text in pieces of a size; what comes through is appended to own. */
static void feed(struct node_exec_stream *stream, const char *text, size_t len, size_t piece, struct str *own)
{
    for (size_t at = 0; at < len; at += piece) {
        const char *bytes = text + at;
        size_t count = len - at < piece ? len - at : piece;
        node_exec_stream_take(stream, &bytes, &count);
        str_add_mem(own, bytes, count);
    }
}

static void test_stream_begins_behind_the_mark(void **state)
{
    static const char text[] = "noise\n@@" NONCE BEGIN "own\n" BEGIN "is the command's now\0too";
    static const char own_text[] = "own\n" BEGIN "is the command's now\0too";

    (void)state;
    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        struct node_exec_stream stream = {.nonce = NONCE};
        AUTO_STR struct str own = STR_INIT;
        feed(&stream, text, sizeof(text) - 1, piece, &own);
        assert_true(stream.begun);
        assert_int_equal(own.len, sizeof(own_text) - 1);
        assert_memory_equal(own.data, own_text, own.len);
        node_exec_stream_release(&stream);
    }
}

static void test_much_noise_is_not_kept(void **state)
{
    struct node_exec_stream stream = {.nonce = NONCE};
    AUTO_STR struct str noise = STR_INIT, own = STR_INIT;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        str_add(&noise, "noise of a start-up file\n");
    }
    feed(&stream, noise.data, noise.len, 30000, &own);
    assert_true(stream.reader.last.len <= 2 * NODE_READER_LAST_MAX);
    assert_int_equal(own.len, 0);
    str_add(&noise, BEGIN "x");
    feed(&stream, noise.data, noise.len, noise.len, &own);
    assert_string_equal(str_text(&own), "x");
    node_exec_stream_release(&stream);
}

/* S2: a frame, then noise and pieces that move the buffer, with "runs" where the old frame's word stood. */
static void test_a_mark_that_scrolls_away(void **state)
{
    struct node_exec_stream stream = {.nonce = NONCE};
    AUTO_STR struct str first = STR_INIT, second = STR_INIT, own = STR_INIT;

    (void)state;
    str_add(&first, "\n@@" NONCE " xxxx\n");
    while (first.len < 300) {
        str_add_char(&first, 'A');
    }
    while (second.len < 30000) {
        str_add(&second, second.len == 36 ? "runs\n" : "B");
    }
    feed(&stream, first.data, first.len, first.len, &own);
    feed(&stream, second.data, second.len, second.len, &own);
    for (int i = 0; i < 400; i++) {
        feed(&stream, ".", 1, 1, &own);
    }
    assert_false(stream.begun);
    assert_int_equal(own.len, 0);
    feed(&stream, BEGIN "x", sizeof(BEGIN "x") - 1, 5, &own);
    assert_true(stream.begun);
    assert_string_equal(str_text(&own), "x");
    node_exec_stream_release(&stream);
}

/* S2: a byte at a time, each looked at once and none kept. */
static void test_a_drip_is_linear(void **state)
{
    struct node_exec_stream stream = {.nonce = NONCE};
    AUTO_STR struct str own = STR_INIT;

    (void)state;
    for (int i = 0; i < 4 << 20; i++) {
        feed(&stream, i % 100 == 0 ? "\n" : "@", 1, 1, &own);
    }
    assert_true(stream.reader.last.cap <= (size_t)8 * NODE_READER_LAST_MAX);
    assert_true(stream.reader.line.cap <= 1024);
    node_exec_stream_release(&stream);
}

static void check_error(const char *said, int status, const struct error_kind *kind, const char *text,
                        const char *hint)
{
    struct node_exec_stream stream = {.nonce = NONCE};
    AUTO_STR struct str own = STR_INIT;
    struct error err = ERROR_INIT;

    feed(&stream, said, strlen(said), 7, &own);
    assert_false(stream.begun);
    assert_int_equal(node_exec_error(&stream, status, &err), -1);
    assert_ptr_equal(err.kind, kind);
    assert_string_equal(err.text, text);
    assert_string_equal(err.hint, hint);
    node_exec_stream_release(&stream);
}

static void test_errors(void **state)
{
    (void)state;
    check_error("x\n@@" NONCE " lacks setsid\n", 97, &kind_node_unsupported, "the node lacks setsid",
                "nodes need Linux with /proc, and setsid of util-linux or busybox");
    check_error("", 97, &kind_node_answer, "the command did not reach its shell completely",
                "check whether one of the login's start-up files reads standard input or exits");
    check_error("first\nThis account is closed\r\n", 1, &kind_node_answer,
                "the login ended with status 1 before the command ran",
                "look at the login's start-up files: the last output was 'This account is closed'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_end_request),
        cmocka_unit_test(test_stream_begins_behind_the_mark),
        cmocka_unit_test(test_much_noise_is_not_kept),
        cmocka_unit_test(test_a_mark_that_scrolls_away),
        cmocka_unit_test(test_a_drip_is_linear),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
