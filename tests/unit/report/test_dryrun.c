/* A plan as text and JSON: every key, open values, secrets, nothing raw. */
#include "report/dryrun.h"
#include "report_test.h"
#include "run/plan.h"

struct fixture {
    struct job job;
    struct hostlist hosts;
    struct plan plan;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    struct error err = ERROR_INIT;
    job_init(&fixture->job);
    fixture->job.name = xstrdup("hello");
    fixture->job.nproc_per_node = 2;
    strlist_add(&fixture->job.program, "train.py");
    job_args_add_word(&fixture->job.args, "it's\033 é");
    strlist_add(&fixture->job.setup, "conda activate x");
    env_set(&fixture->job.env, "API_TOKEN", "s3cr3t", "spec");
    env_set(&fixture->job.env, "NOTE", "a b", "spec");
    assert_int_equal(hostlist_parse(&fixture->hosts, "g[1-2]", 6, HOSTLIST_COMMAS, "--hosts", 0, NULL, &err),
                     0);
    const struct plan_input input = {.job = &fixture->job, .hosts = &fixture->hosts, .run = "r1"};
    if (plan_make(&fixture->plan, &input, &err) != 0) {
        fail_msg("%s", err.text);
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    plan_release(&fixture->plan);
    hostlist_release(&fixture->hosts);
    job_release(&fixture->job);
    free(fixture);
    return 0;
}

static json_t *variable(json_t *node, const char *name)
{
    json_t *env = json_object_get(node, "env");
    for (size_t i = 0; i < json_array_size(env); i++) {
        json_t *entry = json_array_get(env, i);
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0) {
            return entry;
        }
    }
    fail_msg("no variable %s", name);
    return NULL;
}

static void test_json(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_plan_json(&fixture->plan, NULL, &out, NULL);
    assert_lacks(str_text(&out), "s3cr3t");
    json_t *answer = answer_object(&out);
    assert_keys(answer, "schema job run launcher nnodes nproc_per_node world_size master_addr master_port "
                        "rendezvous_id nodes batch warnings");
    assert_int_equal(json_integer_value(json_object_get(answer, "world_size")), 4);
    assert_int_equal(json_integer_value(json_object_get(answer, "master_port")), 29500);
    assert_true(json_is_null(json_object_get(answer, "rendezvous_id")));
    assert_true(json_is_null(json_object_get(answer, "batch")));
    json_t *node = json_array_get(json_object_get(answer, "nodes"), 1);
    assert_keys(node, "rank host command shell env workdir log container");
    assert_string_equal(json_string_value(json_object_get(node, "host")), "g2");
    json_t *command = json_object_get(node, "command");
    assert_string_equal(json_string_value(json_array_get(command, json_array_size(command) - 1)),
                        "it's\033 é");
    json_decref(answer);
}

static void test_json_environment(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_plan_json(&fixture->plan, NULL, &out, NULL);
    json_t *answer = answer_object(&out);
    json_t *node = json_array_get(json_object_get(answer, "nodes"), 0);
    assert_keys(variable(node, "NODE_RANK"), "name value source");
    assert_string_equal(json_string_value(json_object_get(variable(node, "API_TOKEN"), "value")), "***");
    assert_true(json_is_null(json_object_get(variable(node, "MTLAUNCH_RUN_ID"), "value")));
    assert_string_equal(json_string_value(json_object_get(variable(node, "MTLAUNCH_RUN_ID"), "source")),
                        "on start");
    json_decref(answer);
}

static void test_text(void **state)
{
    struct fixture *fixture = *state;
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    report_plan_text(&fixture->plan, &style, NULL, &out, NULL);
    const char *text = str_text(&out);
    assert_contains(text, "job hello, run r1, launcher torchrun: 2 nodes x 2 processes = world size 4\n");
    assert_contains(text, "port 29500, rendezvous id: known on start\n");
    assert_contains(text, "setup:  conda activate x\n");
    assert_contains(text, "\nnode 1: g2, by ssh\n  workdir: the login folder\n");
    assert_contains(text, "    API_TOKEN=***  # spec\n");
    assert_contains(text, "    NOTE='a b'  # spec\n");
    assert_contains(text, "    MTLAUNCH_RUN_ID  # on start\n");
    assert_contains(text, "  command: python3 -m torch.distributed.run ");
    assert_lacks(text, "s3cr3t");
    assert_lacks(text, "\033");
}

/* U11: of a large plan the first of those that are alike, and what differs in the others. */
static void test_a_large_plan_is_folded(void **state)
{
    (void)state;
    static const char list[] = "g[0001-0015],g0016 ifname=ib0,g[0017-0032]";
    struct job job;
    struct hostlist hosts = HOSTLIST_INIT;
    struct plan plan;
    struct error err = ERROR_INIT;
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    job_init(&job);
    job.name = xstrdup("hello");
    strlist_add(&job.program, "train1.py");
    job_args_add_word(&job.args, "${{node_rank}}-of-1-${{host}}");
    assert_int_equal(hostlist_parse(&hosts, list, strlen(list), HOSTLIST_COMMAS, "--hosts", 0, NULL, &err),
                     0);
    const struct plan_input input = {.job = &job, .hosts = &hosts, .run = "r1"};
    if (plan_make(&plan, &input, &err) != 0) {
        fail_msg("%s", err.text);
    }
    report_plan_text(&plan, &style, NULL, &out, NULL);
    assert_contains(str_text(&out), "\nnode 0: g0001");
    assert_contains(str_text(&out), "\nnode 15: g0016");
    assert_contains(str_text(&out), "\n30 others differ in NODE_RANK, host, and so in log and command: "
                                    "g[0002-0015,0017-0032]\n");
    assert_lacks(str_text(&out), "\nnode 1: ");
    style.full = true;
    str_reset(&out);
    report_plan_text(&plan, &style, NULL, &out, NULL);
    assert_contains(str_text(&out), "\nnode 1: ");
    assert_contains(str_text(&out), "\nnode 31: ");
    assert_lacks(str_text(&out), "others");
    plan_release(&plan);
    hostlist_release(&hosts);
    job_release(&job);
}

static size_t flushes, flushed_most;
static struct str flushed;

static int take(struct str *text, struct error *err)
{
    (void)err;
    flushes++;
    flushed_most = text->len > flushed_most ? text->len : flushed_most;
    str_add_mem(&flushed, text->data, text->len);
    str_reset(text);
    return 0;
}

static int refuse(struct str *text, struct error *err)
{
    (void)text;
    return error_set(err, &kind_local, "full");
}

/* A plan that is larger than the memory is printed node by node. */
static void test_much_is_printed_in_pieces(void **state)
{
    struct fixture *fixture = *state;
    struct report_style style = REPORT_STYLE_PLAIN;
    struct error err = ERROR_INIT;
    AUTO_FREE char *large = xcalloc(100001, 1);
    memset(large, 'x', 100000);
    plan_release(&fixture->plan);
    job_args_add_word(&fixture->job.args, large);
    const struct plan_input input = {.job = &fixture->job, .hosts = &fixture->hosts, .run = "r1"};
    assert_int_equal(plan_make(&fixture->plan, &input, &err), 0);
    for (int json = 0; json < 2; json++) {
        AUTO_STR struct str whole = STR_INIT, out = STR_INIT;
        flushes = flushed_most = 0;
        str_reset(&flushed);
        if (json) {
            assert_int_equal(report_plan_json(&fixture->plan, NULL, &whole, &err), 0);
            assert_int_equal(report_plan_json(&fixture->plan, take, &out, &err), 0);
        } else {
            assert_int_equal(report_plan_text(&fixture->plan, &style, NULL, &whole, &err), 0);
            assert_int_equal(report_plan_text(&fixture->plan, &style, take, &out, &err), 0);
        }
        assert_int_equal(flushes, 2);
        assert_true(flushed_most < whole.len * 2 / 3);
        take(&out, &err);
        assert_string_equal(str_text(&flushed), str_text(&whole));
        assert_int_equal(json ? report_plan_json(&fixture->plan, refuse, &out, &err)
                              : report_plan_text(&fixture->plan, &style, refuse, &out, &err),
                         -1);
        assert_string_equal(err.text, "full");
    }
    str_release(&flushed);
}

static void batch_shown(struct fixture *fixture, struct topology_batch batch, const char *text,
                        const char *json)
{
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT, object = STR_INIT;
    fixture->plan.has_batch = true;
    fixture->plan.batch = batch;
    report_plan_text(&fixture->plan, &style, NULL, &out, NULL);
    assert_contains(str_text(&out), text);
    report_plan_json(&fixture->plan, NULL, &object, NULL);
    json_t *answer = answer_object(&object);
    char *dump = json_dumps(json_object_get(answer, "batch"), JSON_COMPACT);
    assert_string_equal(dump, json);
    free(dump);
    json_decref(answer);
}

static void test_batch(void **state)
{
    struct fixture *fixture = *state;
    struct topology_batch batch = {.split = {4, 2, 1, 1, 4}, .micro = 16, .global = 2048};
    batch_shown(fixture, batch,
                "known on start\nparallel: tensor 4 x pipeline 2 x context 1 x data known on start\n"
                "batch: micro 16, global 2048, accumulation known on start\n",
                "{\"micro\":16,\"global\":2048,\"data_parallel\":null,\"accumulation\":null}");
    batch.data_parallel = 8;
    batch.accumulation = 16;
    batch_shown(fixture, batch,
                "\nparallel: tensor 4 x pipeline 2 x context 1 x data 8\n"
                "batch: micro 16, global 2048, accumulation 16\n",
                "{\"micro\":16,\"global\":2048,\"data_parallel\":8,\"accumulation\":16}");
    batch = (struct topology_batch){.split = {2, 1, 1, 8, 1}, .data_parallel = 2};
    batch_shown(fixture, batch,
                "\nparallel: tensor 2 x pipeline 1 x context 1 x data 2; experts: tensor 1 x expert 8\n"
                "batch: micro not known, global not known, accumulation not known\n",
                "{\"micro\":null,\"global\":null,\"data_parallel\":2,\"accumulation\":null}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_json),  TEST(test_json_environment),          TEST(test_text),
        TEST(test_batch), TEST(test_much_is_printed_in_pieces), TEST(test_a_large_plan_is_folded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
