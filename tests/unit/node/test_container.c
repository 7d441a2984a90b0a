/* The way into a container, the questions about containers, and what nvidia-smi shows. */

#include "node/answer.h"
#include "node/container.h"
#include "node/exec.h"
#include "test.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define FRAME "\n@@" NONCE " "
#define END   FRAME "end=ok\n"

static const struct place container = {
    .container = (char[]){"c1"},
    .engine = (char[]){"podman"},
    .user = (char[]){"it's"},
    .sudo = true,
    .id = (char[]){"abc"},
    .started = (char[]){"2026"},
};

static bool holds(const struct node_call *call, const char *text)
{
    return strstr(str_text(&call->input), text) != NULL;
}

/* The bytes between the two nonce lines run on the node itself, what is behind them inside. */
static void assert_enters(const struct node_call *call, const char *enter, const char *behind)
{
    const char *begin = str_text(&call->input);
    const char *end = strstr(begin + strlen(NONCE) + 1, "\n" NONCE "\n");
    assert_int_equal(strncmp(begin, NONCE "\n", strlen(NONCE) + 1), 0);
    assert_non_null(end);
    const char *at = strstr(begin, enter);
    assert_true(at != NULL && at < end);
    assert_int_equal(strncmp(end + strlen(NONCE) + 2, behind, strlen(behind)), 0);
    assert_null(strpbrk(call->command, "!\\\n"));
    assert_null(strstr(call->command, "c1"));
}

static void test_a_question_goes_inside(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    const struct node_target target = {
        .run = "r", .run_id = "r-1", .rank = 2, .attempt = 3, .place = container};
    node_request_observe(&target, &(struct node_observe_options){.gpus = true}, NONCE, &call);
    assert_enters(&call, "\nmt_entry /bin/sh -s\n", "mt_all() {\n");
    assert_true(holds(&call, "\nmt_engine='podman'\nmt_sudo='1'\nmt_container='c1'\nmt_user='it'\\''s'\n"
                             "mt_want_id='abc'\nmt_want_began='2026'\nmt_run_id='r-1'\nmt_attempt=3\n"));
    assert_true(holds(&call, "\nmt_inside=1\nmt_container='abc'\nmt_container_began='2026'\n"));
    assert_true(holds(&call, "\nmt_want_gpus=1\n"));
    AUTO_NODE_CALL struct node_call outside = NODE_CALL_INIT;
    const struct node_target plain = {.run = "r", .run_id = "r-1", .attempt = 3};
    node_request_observe(&plain, &(struct node_observe_options){0}, NONCE, &outside);
    assert_false(holds(&outside, "mt_entry"));
    assert_true(holds(&outside, "\nmt_inside=\nmt_container=''\n"));
}

static void test_a_command_goes_inside(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    AUTO_STRLIST struct strlist command = STRLIST_INIT;
    strlist_add(&command, "id");
    const struct node_exec_options options = {.command = &command, .mark = "mark"};
    node_request_exec(&options, NONCE, &call);
    node_call_enter(&call, &container);
    assert_enters(&call, "\nmt_entry /bin/sh -c 'exec /bin/sh -c ", NONCE "\n");
}

static void test_questions_about_containers(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call inspect = NODE_CALL_INIT, up = NODE_CALL_INIT, down = NODE_CALL_INIT;
    AUTO_STRLIST struct strlist words = STRLIST_INIT, env = STRLIST_INIT;
    node_request_container_inspect(&container, "img:1", NONCE, &inspect);
    assert_true(holds(&inspect, "\nmt_image='img:1'\n"));
    strlist_add(&words, "-dit");
    strlist_add(&words, "--volume=/a b:/c");
    strlist_add(&env, "A=it's");
    strlist_add(&env, "B=");
    const struct node_container_options options = {
        .old_id = "o", .image = "img:1", .words = &words, .env = &env};
    node_request_container_up(&container, &options, NONCE, &up);
    assert_true(holds(&up, "\nmt_old='o'\nmt_idle=''\n"));
    assert_true(holds(&up, "\nmt_env='A=it'\\''s'\"$n\"'B='\"$n\"\n"));
    assert_true(holds(&up, "\nmt_call_engine run '-dit' '--volume=/a b:/c'\n"));
    node_request_container_down(&container, "o", NONCE, &down);
    assert_true(holds(&down, "\nmt_old='o'\n"));
}

static void test_answers_about_containers(void **state)
{
    (void)state;
    static const char text[] = "noise" FRAME "id=abc" FRAME "status=running" FRAME "began=2026" FRAME
                               "inspect=%5b%5d" FRAME "runs=r1 r2" FRAME "image_id=sha256:1" END;
    struct node_container_facts facts;
    struct error err = ERROR_INIT;
    assert_int_equal(node_answer_container(text, strlen(text), NONCE, &facts, &err), 0);
    assert_string_equal(facts.id, "abc");
    assert_string_equal(facts.status, "running");
    assert_string_equal(facts.inspect, "[]");
    assert_string_equal(facts.runs, "r1 r2");
    assert_string_equal(facts.image_id, "sha256:1");
    node_container_facts_release(&facts);
    assert_int_equal(node_answer_container("x", 1, NONCE, &facts, &err), -1);
    assert_ptr_equal(err.kind, &kind_node_answer);
    node_container_facts_release(&facts);
}

static const struct {
    const char *name;
    const struct error_kind *kind;
} failures[] = {
    {"container-missing", &kind_container_missing},
    {"container-stopped", &kind_container_stopped},
    {"container-replaced", &kind_container_replaced},
    {"container-failed", &kind_container_failed},
    {"docker-permission", &kind_docker_permission},
    {"sudo-needs-password", &kind_sudo_needs_password},
    {"engine-missing", &kind_engine_missing},
    {"image-missing", &kind_image_missing},
    {"workdir-missing", &kind_workdir_missing},
    {"run-live", &kind_run_live},
    {"something-else", &kind_node_answer},
};

static void test_failures_by_their_class(void **state)
{
    (void)state;
    FOR_ROWS(i, failures, failures[i].name) {
        AUTO_FREE char *text = xasprintf(FRAME "error=%s" FRAME "detail=what it is" END, failures[i].name);
        struct node_observation seen;
        struct error err = ERROR_INIT;
        assert_int_equal(node_answer_observe(text, strlen(text), NONCE, &seen, &err), -1);
        assert_ptr_equal(err.kind, failures[i].kind);
        if (err.kind != &kind_node_answer) {
            assert_string_equal(err.text, "what it is");
            assert_true(err.hint[0] != '\0');
        }
        node_observation_release(&seen);
    }
}

static void test_a_run_that_went_with_its_container(void **state)
{
    (void)state;
    static const char observed[] = FRAME "container_lost=container-replaced: another" FRAME "life=gone" FRAME
                                         "found_run_id=r-1" FRAME "found_attempt=1" END;
    static const char stopped[] =
        FRAME "container_lost=container-missing: gone" FRAME "survivor_total=0" FRAME "scan=ok" END;
    struct node_observation seen;
    struct node_stop stop;
    struct error err = ERROR_INIT;
    assert_int_equal(node_answer_observe(observed, strlen(observed), NONCE, &seen, &err), 0);
    assert_int_equal(seen.life, NODE_LIFE_GONE);
    assert_string_equal(seen.container_lost, "container-replaced: another");
    node_observation_release(&seen);
    assert_int_equal(node_answer_stop(stopped, strlen(stopped), NONCE, &stop, &err), 0);
    assert_string_equal(stop.container_lost, "container-missing: gone");
    assert_false(stop.was_alive);
    node_stop_release(&stop);
}

static void test_gpus(void **state)
{
    (void)state;
    struct node_gpus gpus;
    node_gpus_parse("0, 97, 1024, 143771\n1, [N/A], [Not Supported], 80 \r\nNVML: error\n, 1, 2, 3\n7\n",
                    &gpus);
    assert_true(gpus.known);
    assert_int_equal(gpus.len, 3);
    assert_int_equal(gpus.items[0].utilization, 97);
    assert_true(gpus.items[0].memory_used == INT64_C(1024) << 20);
    assert_true(gpus.items[0].memory_total == INT64_C(143771) << 20);
    assert_int_equal(gpus.items[1].utilization, -1);
    assert_true(gpus.items[1].memory_used == -1);
    assert_true(gpus.items[1].memory_total == INT64_C(80) << 20);
    assert_int_equal(gpus.items[2].index, 7);
    assert_int_equal(gpus.items[2].utilization, -1);
    free(gpus.items);
    static const char *const nothing[] = {NULL, "", "NVIDIA-SMI has failed\n", "No devices were found"};
    FOR_ROWS(i, nothing, nothing[i]) {
        node_gpus_parse(nothing[i], &gpus);
        assert_false(gpus.known);
        assert_int_equal(gpus.len, 0);
        free(gpus.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_question_goes_inside),
        cmocka_unit_test(test_a_command_goes_inside),
        cmocka_unit_test(test_questions_about_containers),
        cmocka_unit_test(test_answers_about_containers),
        cmocka_unit_test(test_failures_by_their_class),
        cmocka_unit_test(test_a_run_that_went_with_its_container),
        cmocka_unit_test(test_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
