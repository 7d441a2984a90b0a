/* The all-reduce test on a node: orders, and what it says in whatever pieces it comes. */
#include "model/kind.h"
#include "node/comm.h"
#include "test.h"

#define N     "0123456789abcdef0123456789abcdef"
#define FRAME "\n@@" N " "

static void test_orders(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    const struct node_comm_round round = {.round = 3,
                                          .nodes = 2,
                                          .node = 1,
                                          .processes = 8,
                                          .backend = "nccl",
                                          .address = "g1",
                                          .port = 40001,
                                          .limit_s = 45};
    node_comm_add_round(&out, &round);
    node_comm_add_end(&out);
    assert_string_equal(
        str_text(&out),
        "{\"order\":\"round\",\"round\":3,\"nodes\":2,\"node\":1,\"processes\":8,\"backend\":\"nccl\","
        "\"address\":\"g1\",\"port\":40001,\"limit\":45}\n{\"order\":\"end\"}\n");
}

static const char stream[] =
    "Welcome" FRAME "begun=1\n" FRAME
    "comm=%7b\"event\":\"hello\",\"torch\":\"2.4.0\",\"gpus\":8,\"nccl\":true,\"interface\":null%7d\n"
    "noise" FRAME "comm=%7b\"event\":\"port\",\"round\":3,\"port\":40001%7d\n" FRAME
    "comm=%7b\"event\":\"done\",\"round\":3,\"seconds\":0.5,\"bytes\":1048576,\"lines\":[\"Using network "
    "IB\"]%7d\n" FRAME "comm=%7b\"event\":\"done\",\"round\":4,\"error\":\"no\",\"late\":true%7d\n" FRAME
    "status=1\n" FRAME "setup_line=2\n" FRAME "output=it failed\n" FRAME "end=ok\n";

static void check_event(const struct node_comm_event *event, size_t number)
{
    switch (number) {
    case 0:
        assert_int_equal(event->type, NODE_COMM_HELLO);
        assert_string_equal(event->torch, "2.4.0");
        assert_int_equal(event->gpus, 8);
        assert_true(event->nccl);
        assert_null(event->interface);
        assert_null(event->error);
        break;
    case 1:
        assert_int_equal(event->type, NODE_COMM_PORT);
        assert_int_equal(event->port, 40001);
        break;
    case 2:
        assert_int_equal(event->type, NODE_COMM_DONE);
        assert_int_equal(event->round, 3);
        assert_true(event->seconds > 0.49 && event->seconds < 0.51);
        assert_int_equal(event->bytes, 1048576);
        assert_int_equal(event->logs.len, 1);
        break;
    case 3:
        assert_string_equal(event->error, "no");
        assert_true(event->late);
        break;
    case 4:
        assert_int_equal(event->type, NODE_COMM_ENDED);
        assert_int_equal(event->status, 1);
        assert_int_equal(event->setup_line, 2);
        assert_string_equal(event->output, "it failed");
        break;
    default:
        fail_msg("more events than were sent");
    }
}

static void test_events_in_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof(stream); piece += 9) {
        struct node_comm comm = {.nonce = N};
        struct error err = ERROR_INIT;
        size_t count = 0;
        for (size_t at = 0; at < sizeof(stream) - 1; at += piece) {
            const char *bytes = stream + at;
            size_t len = sizeof(stream) - 1 - at < piece ? sizeof(stream) - 1 - at : piece;
            struct node_comm_event event;
            while (node_comm_take(&comm, &bytes, &len, &event, &err) == 1) {
                check_event(&event, count++);
                node_comm_event_release(&event);
            }
            assert_null(err.kind);
        }
        assert_int_equal(count, 5);
        assert_true(comm.begun);
        node_comm_release(&comm);
    }
}

static const struct error_kind *kind_of(const char *bytes)
{
    struct node_comm comm = {.nonce = N};
    struct node_comm_event event;
    struct error err = ERROR_INIT;
    size_t len = strlen(bytes);
    int result = node_comm_take(&comm, &bytes, &len, &event, &err);
    node_comm_event_release(&event);
    node_comm_release(&comm);
    return result < 0 ? err.kind : NULL;
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    assert_ptr_equal(kind_of(FRAME "comm=nothing\n"), &kind_node_answer);
    assert_ptr_equal(kind_of(FRAME "comm=%7b\"event\":\"tea\"%7d\n"), &kind_node_answer);
    assert_ptr_equal(kind_of(FRAME "comm=%7b%\n"), &kind_node_answer);
    assert_ptr_equal(kind_of(FRAME "status=999\n" FRAME "end=ok\n"), &kind_node_answer);
    assert_ptr_equal(
        kind_of(FRAME "error=container-missing\n" FRAME "detail=no container\n" FRAME "end=ok\n"),
        &kind_container_missing);
    assert_null(kind_of("noise\n"));
    /* numbers that cannot be count as none */
    struct node_comm comm = {.nonce = N};
    struct node_comm_event event;
    struct error err = ERROR_INIT;
    const char *bytes =
        FRAME "comm=%7b\"event\":\"done\",\"round\":-1,\"seconds\":-2,\"bytes\":1e99,\"gpus\":70000%7d\n";
    size_t len = strlen(bytes);
    assert_int_equal(node_comm_take(&comm, &bytes, &len, &event, &err), 1);
    assert_int_equal(event.round, 0);
    assert_true(event.seconds <= 0);
    assert_int_equal(event.bytes, 0);
    assert_int_equal(event.gpus, 0);
    node_comm_event_release(&event);
    node_comm_release(&comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_events_in_pieces),
        cmocka_unit_test(test_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
