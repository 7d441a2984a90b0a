/* Comparisons as text within 80 columns, as a chart, as CSV and as JSON. */
#include "base/text.h"
#include "report/compare.h"
#include "report_test.h"

#define RUNS 2

struct fixture {
    struct run runs[RUNS];
    struct comparison comparison;
};

/* Two runs, the second one slower; all figures are known of the first. */
static int set_up(void **state)
{
    static const char *const names[RUNS] = {"one", "a-run-with-a-name-that-is-much-longer-than-its-column"};
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    struct comparison_input inputs[RUNS];
    const struct comparison_goal goal = {.tokens = 34e9};
    for (size_t i = 0; i < RUNS; i++) {
        struct run *run = &fixture->runs[i];
        run_init(run);
        run->name = xstrdup(names[i]);
        run->state = i ? RUN_RUNNING : RUN_FINISHED;
        run->nproc_per_node = 8;
        run_nodes_alloc(run, i + 1);
        for (size_t n = 0; n <= i; n++) {
            run->nodes[n].label = xasprintf("g%zu", n);
        }
        run->progress = (struct training_progress){.known = true,
                                                   .global_batch = (int64_t)(i + 1) * 8,
                                                   .step_time_s = i ? 20.71 : 4.76,
                                                   .samples_per_second = i ? 16 / 20.71 : 8 / 4.76,
                                                   .tokens_per_second = i ? 15822.31 : 34420.17,
                                                   .tflops_per_gpu = i ? -1 : 412.5,
                                                   .has_loss = !i,
                                                   .loss = 2.25};
        run->spec = xasprintf("{\"args\": [\"--note\", \"%s\"]}", i ? "a,\\\"b\\\"\\u001b[2J" : "x");
        inputs[i] = (struct comparison_input){.run = run, .peak_memory = i ? -1 : INT64_C(47042265088)};
    }
    inventory_add_gpu(&fixture->runs[0].inventory, "NVIDIA H200");
    inventory_add_network(&fixture->runs[0].inventory, "IB");
    inventory_add_network(&fixture->runs[1].inventory, "Socket");
    comparison_make(&fixture->comparison, inputs, RUNS, &goal);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    comparison_release(&fixture->comparison);
    for (size_t i = 0; i < RUNS; i++) {
        run_release(&fixture->runs[i]);
    }
    free(fixture);
    return 0;
}

static void test_text(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_compare_text(&fixture->comparison, &REPORT_STYLE_PLAIN, &out);
    assert_string_equal(str_text(&out),
                        "RUN         NODES  GPUS  BATCH  S/STEP  SAMPLES/S  TOKENS/S  SPEEDUP  EFFICIENCY\n"
                        "one             1     8      8    4.76     1.6807     34420    1.000     100.0 %\n"
                        "a-ru…olumn      2    16     16   20.71    0.77257     15822    0.460      23.0 %\n"
                        "\n"
                        "RUN           STATE     NETWORK  TFLOP/S A GPU     MFU  PEAK MEMORY  LOSS  HOURS\n"
                        "one           finished  IB               412.5  41.7 %        43.8G  2.25  274.4\n"
                        "a-run…column  running   Socket                                             596.9\n"
                        "\n"
                        "differs:\n"
                        "  args.note: x (one), a,\"b\"?[2J\n"
                        "  (a-run-with-a-name-that-is-much-longer-than-its-column)\n"
                        "  hosts: g0 (one), g[0-1]\n"
                        "  (a-run-with-a-name-that-is-much-longer-than-its-column)\n"
                        "\n"
                        "verdict: 2 nodes are slower than 1: NCCL used sockets, and no InfiniBand or RoCE\n"
                        "         port is up\n");
}

static void test_chart(void **state)
{
    const struct fixture *fixture = *state;
    const struct report_style style = {.columns = 60, .chart = true};
    AUTO_STR struct str out = STR_INIT;
    report_compare_text(&fixture->comparison, &style, &out);
    assert_contains(str_text(&out), "\nsamples/s\n"
                                    "one                      ######################## 1.6807\n"
                                    "a-run-with-a-name-that-i ############ 0.77257\n");
}

static void test_csv(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_compare_csv(&fixture->comparison, &out);
    assert_string_equal(str_text(&out),
                        "run,state,nodes,gpus,global_batch,step_time,samples_per_second,tokens_per_second,"
                        "tflops_per_gpu,speedup,efficiency,network,mfu,peak_memory,hours,final_loss\n"
                        "one,finished,1,8,8,4.76,1.680672269,34420.17,412.5,1,1,IB,0.4170879676,47042265088,"
                        "274.3869204,2.25\n"
                        "a-run-with-a-name-that-is-much-longer-than-its-column,running,2,16,16,20.71,"
                        "0.7725736359,15822.31,,0.4596813134,0.2298406567,Socket,,,596.9068009,\n");
}

static void test_csv_quotes_what_needs_it(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    free(fixture->comparison.rows[1].network);
    fixture->comparison.rows[1].network = xstrdup("IB, \"x\"\n");
    report_compare_csv(&fixture->comparison, &out);
    assert_contains(str_text(&out), ",\"IB, \"\"x\"\" \",");
}

static void test_json(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    report_compare_json(&fixture->comparison, &out);
    json_t *object = answer_object(&out);
    assert_keys(object, "schema runs differences verdict");
    json_t *runs = json_object_get(object, "runs");
    assert_keys(json_array_get(runs, 0),
                "run state nodes gpus global_batch step_time samples_per_second tokens_per_second "
                "tflops_per_gpu speedup efficiency network mfu peak_memory hours final_loss");
    assert_true(json_is_null(json_object_get(json_array_get(runs, 1), "mfu")));
    assert_true(json_is_null(json_object_get(json_array_get(runs, 1), "final_loss")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(runs, 1), "gpus")), 16);
    json_t *difference = json_array_get(json_object_get(object, "differences"), 0);
    assert_keys(difference, "key values");
    assert_string_equal(json_string_value(json_object_get(difference, "key")), "args.note");
    assert_string_equal(json_string_value(json_array_get(json_object_get(difference, "values"), 1)),
                        "a,\"b\"\033[2J");
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv_quotes_what_needs_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
