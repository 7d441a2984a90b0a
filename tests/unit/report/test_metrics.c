/* Metrics as text and as JSON: what is unknown is left out, what is foreign is escaped. */
#include "report/metrics.h"
#include "report_test.h"

struct fixture {
    struct run run, ended;
    struct gpu_sample nodes[2];
    struct sample sample;
    struct metrics_run items[2];
    struct metrics metrics;
};

static void fill_nodes(struct run *run, size_t count, enum node_state state)
{
    run_nodes_alloc(run, count);
    for (size_t i = 0; i < count; i++) {
        run->nodes[i].label = xasprintf("g%zu", i);
        run->nodes[i].state = state;
        run->nodes[i].last_output_ms = i ? 0 : 1795965913250;
    }
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    run_init(&f->run);
    run_init(&f->ended);
    f->run.name = xstrdup("a\"b\\c\nd");
    f->run.job = xstrdup("train");
    f->run.state = RUN_RUNNING;
    f->run.attempt = 2;
    f->run.nproc_per_node = 8;
    f->run.started_ms = 1795965900000;
    f->run.progress.known = true;
    f->run.progress.iteration = 30;
    f->run.progress.total = 1000000;
    f->run.progress.step_time_s = 0.5;
    f->run.progress.has_loss = true;
    f->run.progress.loss = -0.125;
    f->run.progress.eta_s = 485;
    inventory_add_gpu(&f->run.inventory, "NVIDIA H200");
    fill_nodes(&f->run, 2, NODE_RUNNING);
    f->ended.name = xstrdup("old");
    f->ended.job = xstrdup("train");
    f->ended.state = RUN_FAILED;
    f->ended.attempt = 1;
    f->ended.ended_ms = 1795965913000;
    f->ended.progress.eta_s = 3;
    fill_nodes(&f->ended, 1, NODE_FAILED);
    f->nodes[0] =
        (struct gpu_sample){93, 97, gpu_sample_units(INT64_C(30) << 30), gpu_sample_units(INT64_C(40) << 30),
                            gpu_sample_units(INT64_C(140) << 30)};
    f->nodes[1] = GPU_SAMPLE_NONE;
    f->sample = (struct sample){.nodes = f->nodes, .nodes_len = 2};
    f->items[0] = (struct metrics_run){.run = &f->run, .supervised = true, .gpus = &f->sample};
    f->items[1] = (struct metrics_run){.run = &f->ended};
    f->metrics = (struct metrics){.version = "1.2.3", .runs = f->items, .len = 2};
    f->metrics.states[RUN_RUNNING] = 1;
    f->metrics.states[RUN_FAILED] = 7;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    run_release(&f->run);
    run_release(&f->ended);
    free(f);
    return 0;
}

#define RUN "run=\"a\\\"b\\\\c\\nd\",job=\"train\""

static void test_text(void **state)
{
    const struct fixture *f = *state;
    AUTO_STR struct str out = STR_INIT;
    static const char *const lines[] = {
        "# HELP mtlaunch_run_step_seconds Time of an iteration, the median of the last ones.\n"
        "# TYPE mtlaunch_run_step_seconds gauge\n"
        "# UNIT mtlaunch_run_step_seconds seconds\n"
        "mtlaunch_run_step_seconds{" RUN "} 0.5\n"
        "# HELP",
        "\nmtlaunch_build_info{version=\"1.2.3\"} 1\n",
        "\nmtlaunch_runs{state=\"failed\"} 7\n",
        "\nmtlaunch_run_state{" RUN ",state=\"running\"} 1\n",
        "\nmtlaunch_run_state{" RUN ",state=\"failed\"} 0\n",
        "\nmtlaunch_run_state{run=\"old\",job=\"train\",state=\"failed\"} 1\n",
        "\nmtlaunch_run_nodes{" RUN ",state=\"running\"} 2\n",
        "\nmtlaunch_run_supervised{" RUN "} 1\nmtlaunch_run_supervised{run=\"old\",job=\"train\"} 0\n",
        "\nmtlaunch_run_gpus{" RUN "} 16\n# HELP",
        "\nmtlaunch_run_planned_iterations{" RUN "} 1000000\n",
        "\nmtlaunch_run_loss{" RUN "} -0.125\n",
        "\nmtlaunch_run_started_timestamp_seconds{" RUN "} 1795965900\n",
        "\nmtlaunch_run_remaining_seconds{" RUN "} 485\n# HELP",
        "\nmtlaunch_node_state{" RUN ",node=\"0\",host=\"g0\",state=\"running\"} 1\n",
        "\nmtlaunch_node_last_output_timestamp_seconds{" RUN ",node=\"0\",host=\"g0\"} 1795965913.25\n",
        "\nmtlaunch_node_gpu_utilization_ratio{" RUN ",node=\"0\",host=\"g0\"} 0.93\n# HELP",
        "\nmtlaunch_node_gpu_memory_used_bytes{" RUN ",node=\"0\",host=\"g0\"} 42949672960\n# HELP",
        "\nmtlaunch_node_gpu_memory_bytes{" RUN ",node=\"0\",host=\"g0\"} 150323855360\n# EOF\n",
    };
    report_metrics_text(&f->metrics, &out);
    FOR_ROWS(i, lines, lines[i]) {
        assert_contains(str_text(&out), lines[i]);
    }
    assert_lacks(str_text(&out), "mtlaunch_run_samples_per_second{");
    assert_lacks(str_text(&out), "mtlaunch_run_iteration{run=\"old\"");
}

static void test_json(void **state)
{
    const struct fixture *f = *state;
    AUTO_STR struct str out = STR_INIT;
    report_metrics_json(&f->metrics, &out);
    json_t *object = answer_object(&out);
    assert_keys(object, "schema metrics");
    size_t found = 0, i;
    json_t *metric;
    json_array_foreach(json_object_get(object, "metrics"), i, metric)
    {
        assert_keys(metric, "name help unit samples");
        if (strcmp(json_string_value(json_object_get(metric, "name")), "mtlaunch_run_loss") == 0) {
            json_t *sample = json_array_get(json_object_get(metric, "samples"), 0);
            json_t *labels = json_object_get(sample, "labels");
            assert_keys(sample, "labels value");
            assert_true(json_real_value(json_object_get(sample, "value")) == -0.125);
            assert_string_equal(json_string_value(json_object_get(labels, "run")), "a\"b\\c\nd");
            found++;
        }
    }
    assert_int_equal(found, 1);
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
