/* A watch's messages, in whatever pieces they come. */

#include "node/answer.h"
#include "test.h"

#define N     "0123456789abcdef0123456789abcdef"
#define FRAME "\n@@" N " "

static const char stream[] =
    "noise of a login" FRAME "host=g1\n" FRAME "life=running\n" FRAME "pid=42\n" FRAME "log_size=7\n" FRAME
    "uptime=100.50\n" FRAME "end=ok\n"
    "\n@@" N " beat=1234\n" FRAME "host=g1\n" FRAME "life=exited\n" FRAME "status=3\n" FRAME "end=ok\n";

static void check_all(struct node_watch *watch, const char *bytes, size_t len, size_t *count)
{
    struct node_observation seen;
    struct error err = ERROR_INIT;
    bool beat = false;
    while (node_watch_take(watch, &bytes, &len, &seen, &beat, &err) == 1) {
        switch ((*count)++) {
        case 0:
            assert_false(beat);
            assert_int_equal(seen.life, NODE_LIFE_RUNNING);
            assert_int_equal(seen.pid, 42);
            assert_int_equal(seen.uptime_ms, 100500);
            break;
        case 1:
            assert_true(beat);
            assert_int_equal(seen.log_size, 1234);
            break;
        case 2:
            assert_false(beat);
            assert_int_equal(seen.life, NODE_LIFE_EXITED);
            assert_int_equal(seen.status, 3);
            break;
        default:
            fail_msg("more messages than were sent");
        }
        node_observation_release(&seen);
    }
    assert_null(err.kind);
}

static void test_messages_in_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof(stream); piece += 7) {
        struct node_watch watch;
        size_t count = 0;
        node_watch_init(&watch, N);
        for (size_t at = 0; at < sizeof(stream) - 1; at += piece) {
            size_t len = sizeof(stream) - 1 - at;
            check_all(&watch, stream + at, len < piece ? len : piece, &count);
        }
        assert_int_equal(count, 3);
        node_watch_release(&watch);
    }
}

static const struct error_kind *kind_of(const char *bytes)
{
    struct node_watch watch;
    struct node_observation seen;
    struct error err = ERROR_INIT;
    bool beat = false;
    node_watch_init(&watch, N);
    size_t len = strlen(bytes);
    assert_int_equal(node_watch_take(&watch, &bytes, &len, &seen, &beat, &err), -1);
    node_watch_release(&watch);
    return err.kind;
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    assert_ptr_equal(kind_of("@@" N " beat=-1\n"), &kind_node_answer);
    assert_ptr_equal(kind_of("@@" N " beat=12 34\n"), &kind_node_answer);
    assert_ptr_equal(kind_of("@@" N " life=unheard\n@@" N " end=ok\n"), &kind_node_answer);
    assert_ptr_equal(kind_of("@@" N " error=unsupported\n@@" N " detail=setsid\n@@" N " end=ok\n"),
                     &kind_node_unsupported);
    AUTO_STR struct str noise = STR_INIT;
    for (int i = 0; i < 300 * 1024; i++) {
        str_add_char(&noise, 'x');
    }
    assert_ptr_equal(kind_of(str_text(&noise)), &kind_node_answer);
}

static void test_frames_of_others_are_noise(void **state)
{
    (void)state;
    struct node_watch watch;
    struct node_observation seen;
    struct error err = ERROR_INIT;
    bool beat = false;
    node_watch_init(&watch, N);
    const char text[] = "@@00000000000000000000000000000000 beat=1\n@@" N "beat=1\n beat=1\n";
    const char *bytes = text;
    size_t len = sizeof(text) - 1;
    assert_int_equal(node_watch_take(&watch, &bytes, &len, &seen, &beat, &err), 0);
    node_watch_release(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_in_pieces),
        cmocka_unit_test(test_what_cannot_be),
        cmocka_unit_test(test_frames_of_others_are_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
