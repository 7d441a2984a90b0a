/* A tail's answer in whatever pieces it comes. */

#include "node/answer.h"
#include "test.h"

#define N     "0123456789abcdef0123456789abcdef"
#define FRAME "\n@@" N " "

static const char answer[] =
    "noise\n@@nothing" FRAME "log=/a/r_node0.log\n" FRAME "offset=10\n" FRAME "size=31\n" FRAME "body=1\n"
    "\nbody\0with " FRAME "end=ok\n";

static void test_pieces_of_any_size(void **state)
{
    (void)state;
    const size_t len = sizeof(answer) - 1;
    const char *body_begin = strstr(answer, "body=1\n") + 7;
    size_t want = len - (size_t)(body_begin - answer);

    for (size_t piece = 1; piece <= len; piece++) {
        AUTO_STR struct str got = STR_INIT;
        struct node_tail tail;
        struct error err = ERROR_INIT;
        node_tail_init(&tail, N);
        for (size_t at = 0; at < len; at += piece) {
            const char *body = NULL;
            size_t body_len = 0;
            assert_int_equal(node_tail_feed(&tail, answer + at, len - at < piece ? len - at : piece, &body,
                                            &body_len, &err),
                             0);
            str_add_mem(&got, body, body_len);
        }
        assert_true(tail.header);
        assert_string_equal(tail.log, "/a/r_node0.log");
        assert_int_equal(tail.offset, 10);
        assert_int_equal(tail.size, 31);
        assert_int_equal(got.len, want);
        assert_memory_equal(got.data, body_begin, want);
        assert_int_equal(tail.body_len, want);
        assert_int_equal(node_tail_end(&tail, false, &err), 0);
        node_tail_release(&tail);
    }
}

/* A whole answer gives a text of its own, which ends with a NUL, or none where the log is missing. */
static void test_a_whole_answer(void **state)
{
    (void)state;
    static const char missing[] = FRAME "missing=1\n" FRAME "offset=0\n" FRAME "size=0\n" FRAME "body=1\n";
    const size_t len = sizeof(answer) - 1;
    const char *body_begin = strstr(answer, "body=1\n") + 7;
    struct node_log log;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_log(answer, len, N, &log, &err), 0);
    assert_string_equal(log.path, "/a/r_node0.log");
    assert_int_equal(log.text_len, len - (size_t)(body_begin - answer));
    assert_memory_equal(log.text, body_begin, log.text_len + 1);
    node_log_release(&log);
    assert_int_equal(node_answer_log(missing, sizeof(missing) - 1, N, &log, &err), 0);
    assert_null(log.path);
    assert_null(log.text);
    node_log_release(&log);
    assert_int_equal(node_answer_log("bash: sh: not found\n", 20, N, &log, &err), 0);
    assert_null(log.path);
}

/* Feed one text: 0, or -1 with err. */
static int feed(struct node_tail *tail, const char *text, struct error *err)
{
    const char *body = NULL;
    size_t body_len = 0;

    return node_tail_feed(tail, text, strlen(text), &body, &body_len, err);
}

static void test_a_missing_log(void **state)
{
    (void)state;
    struct node_tail tail;
    struct error err = ERROR_INIT;

    node_tail_init(&tail, N);
    assert_int_equal(feed(&tail, FRAME "missing=1\n" FRAME "end=ok\n", &err), 0);
    assert_true(tail.header && tail.missing);
    assert_int_equal(feed(&tail, "logout\n", &err), 0);
    assert_int_equal(tail.body_len, 0);
    assert_int_equal(node_tail_end(&tail, false, &err), 0);
    node_tail_release(&tail);
}

static void test_a_cut_answer(void **state)
{
    (void)state;
    struct node_tail tail;
    struct error err = ERROR_INIT;

    node_tail_init(&tail, N);
    assert_int_equal(feed(&tail, FRAME "log=/l\n" FRAME "offset=0\n", &err), 0);
    assert_int_equal(node_tail_end(&tail, true, &err), -1);
    assert_true(error_is(&err, &kind_node_answer));
    assert_int_equal(feed(&tail, FRAME "size=10\n" FRAME "body=1\nabc", &err), 0);
    assert_int_equal(node_tail_end(&tail, true, &err), 0);
    assert_int_equal(node_tail_end(&tail, false, &err), -1);
    assert_string_equal(err.text, "the log was cut off after 3 of 10 bytes");
    node_tail_release(&tail);
}

#define FILTERED                                                                                             \
    FRAME "filtered=1\n" FRAME "log=/l\n" FRAME "offset=0\n" FRAME "size=1000000\n" FRAME "body=1\n"
#define LAST FRAME "lines=all\n"

/* The frame behind the lines of a search is no part of them, and nothing else proves that they are all. */
static void test_a_filtered_answer(void **state)
{
    (void)state;
    static const struct {
        const char *body, *rest; /* rest: what came behind it */
        bool whole;
    } rows[] = {
        {"", LAST, true},
        {"one\ntwo\n", LAST, true},
        {"a" FRAME "lines=all \n", LAST, true},
        {"one\ntwo\n" FRAME "lines=all", "\n" LAST, true},
        {"", "", false},
        {"", "one", false},
        {"", FRAME "lines=all", false},
        {"one\n", FRAME "lines=all\nx", false},
        {"", FRAME "lines=al\n", false},
    };
    FOR_ROWS(i, rows, rows[i].body) {
        AUTO_FREE char *text = xasprintf(FILTERED "%s%s", rows[i].body, rows[i].rest);
        for (size_t piece = 1; piece <= strlen(text); piece++) {
            AUTO_STR struct str got = STR_INIT;
            struct node_tail tail;
            struct error err = ERROR_INIT;
            node_tail_init(&tail, N);
            for (size_t at = 0, len; at < strlen(text); at += len) {
                const char *body = NULL;
                size_t body_len = 0;
                len = strnlen(text + at, piece);
                assert_int_equal(node_tail_feed(&tail, text + at, len, &body, &body_len, &err), 0);
                str_add_mem(&got, body, body_len);
            }
            assert_true(tail.filtered);
            assert_int_equal(tail.body_len, got.len);
            assert_int_equal(node_tail_is_whole(&tail), rows[i].whole);
            assert_int_equal(node_tail_end(&tail, false, &err), rows[i].whole ? 0 : -1);
            if (rows[i].whole) {
                size_t body = strlen(rows[i].body) + strlen(rows[i].rest) - strlen(LAST);
                assert_int_equal(got.len, body);
                assert_memory_equal(str_text(&got), text + strlen(FILTERED), body);
            } else {
                assert_string_equal(err.text, "the search of the log was cut off");
            }
            node_tail_release(&tail);
        }
    }
}

static void test_headers_that_cannot_be(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FRAME "offset=0\n" FRAME "size=1\n" FRAME "body=1\n",
        FRAME "log=/l\n" FRAME "offset=2\n" FRAME "size=1\n" FRAME "body=1\n",
        FRAME "log=/l\n" FRAME "offset=x\n" FRAME "size=1\n" FRAME "body=1\n",
        FRAME "log=%\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct node_tail tail;
        struct error err = ERROR_INIT;
        node_tail_init(&tail, N);
        assert_int_equal(feed(&tail, texts[i], &err), -1);
        assert_true(error_is(&err, &kind_node_answer));
        node_tail_release(&tail);
    }
}

static void test_a_refusal(void **state)
{
    (void)state;
    struct node_tail tail;
    struct error err = ERROR_INIT;

    node_tail_init(&tail, N);
    assert_int_equal(feed(&tail, FRAME "error=place\n" FRAME "detail=link\n" FRAME "end=ok\n", &err), -1);
    assert_true(error_is(&err, &kind_artifacts_unwritable));
    node_tail_release(&tail);
}

static void test_endless_noise(void **state)
{
    (void)state;
    static char noise[1024];
    struct node_tail tail;
    struct error err = ERROR_INIT;
    int result = 0;

    memset(noise, 'x', sizeof(noise) - 1);
    node_tail_init(&tail, N);
    for (int i = 0; i < 70 && result == 0; i++) {
        result = feed(&tail, noise, &err);
    }
    assert_int_equal(result, -1);
    assert_string_equal(err.text, "the node printed more than 65536 bytes before its answer");
    node_tail_release(&tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size), cmocka_unit_test(test_a_whole_answer),
        cmocka_unit_test(test_a_missing_log),      cmocka_unit_test(test_a_cut_answer),
        cmocka_unit_test(test_a_filtered_answer),  cmocka_unit_test(test_headers_that_cannot_be),
        cmocka_unit_test(test_a_refusal),          cmocka_unit_test(test_endless_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
