/* The containers of a job as people and scripts see them, and GPUs in a run's picture. */

#include "report/container.h"
#include "report/status.h"
#include "report_test.h"

static void add(struct run_containers *all, const char *label, const char *status, const char *id,
                const char *action)
{
    all->items = realloc(all->items, (all->len + 1) * sizeof(*all->items));
    all->items[all->len++] = (struct run_container){
        .label = xstrdup(label), .status = xstrdup(status), .id = xstrdup(id), .action = action};
}

static void test_text(void **state)
{
    (void)state;
    struct run_containers all = {0};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str text = STR_INIT;
    style.columns = 120;
    add(&all, "g1", "running", "0123456789abcdef", "kept");
    add(&all, "g2", "missing", NULL, NULL);
    add(&all, "g3", NULL, NULL, NULL);
    all.items[0].image = xstrdup("img\033[2J");
    all.items[0].runs = xstrdup("r1 r2");
    strlist_add(&all.items[0].differences, "network is 'a', the spec says 'b'");
    strlist_add(&all.items[0].differences, "env lacks 'X'");
    report_containers_text(&all, &style, &text);
    assert_string_equal(
        str_text(&text),
        "HOST  STATE    DONE  ID            IMAGE    RUNS   DIFFERENT\n"
        "g1    running  kept  0123456789ab  img?[2J  r1 r2  network is 'a', the spec says 'b'; env "
        "lacks 'X'\n"
        "g2    missing\n"
        "g3    unknown\n");
    run_containers_release(&all);
}

static void test_json(void **state)
{
    (void)state;
    struct run_containers all = {0};
    struct job job;
    struct error err = ERROR_INIT;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    job_init(&job);
    job.name = xstrdup("j");
    job.place.container = xstrdup("c");
    add(&all, "g1", "running", "abc", "made");
    add(&all, "g2", NULL, NULL, NULL);
    all.items[0].image = xstrdup("img");
    all.items[0].job = xstrdup("j");
    all.items[0].runs = xstrdup("r1 r2");
    error_set(&err, &kind_engine_missing, "it is down");
    strlist_add(&hosts, "g2");
    report_containers_json(&all, &job, &err, &hosts, &text);
    assert_string_equal(
        str_text(&text),
        "{\"schema\":\"mtlaunch/1\",\"job\":\"j\",\"container\":\"c\",\"engine\":\"docker\",\"hosts\":["
        "{\"rank\":0,\"host\":\"g1\",\"state\":\"running\",\"id\":\"abc\",\"image\":\"img\",\"job\":\"j\","
        "\"differences\":[],\"runs\":[\"r1\",\"r2\"],\"action\":\"made\"},"
        "{\"rank\":1,\"host\":\"g2\",\"state\":null,\"id\":null,\"image\":null,\"job\":null,\"differences\":["
        "],"
        "\"runs\":[],\"action\":null}],"
        "\"error\":{\"kind\":\"engine-missing\",\"code\":4,\"message\":\"it is down\",\"hint\":null,"
        "\"hosts\":[\"g2\"],\"file\":null,\"line\":null,\"column\":null}}\n");
    run_containers_release(&all);
    job_release(&job);
}

static void test_gpus_of_a_run(void **state)
{
    (void)state;
    struct run run;
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str json = STR_INIT;
    run_init(&run);
    run.name = xstrdup("r");
    run_nodes_alloc(&run, 1);
    run.nodes[0].label = xstrdup("g1");
    run.nodes[0].state = NODE_RUNNING;
    run.nodes[0].gpus = xcalloc(2, sizeof(struct run_gpu));
    run.nodes[0].gpus_len = 2;
    run.nodes[0].gpus_known = true;
    run.nodes[0].gpus[0] = (struct run_gpu){0, 90, INT64_C(3) << 29, INT64_C(140) << 30};
    run.nodes[0].gpus[1] = (struct run_gpu){1, -1, -1, -1};
    const struct report_run view = {.run = &run};
    report_run_text(&view, &style, &text);
    assert_non_null(strstr(str_text(&text), "GPUS"));
    assert_non_null(strstr(str_text(&text), "2: 90% 1.5G/140G"));
    report_run_json(&view, NULL, NULL, &json);
    assert_non_null(strstr(
        str_text(&json),
        "\"gpus\":[{\"index\":0,\"utilization\":90,\"memory_used\":1610612736,\"memory_total\":150323855360},"
        "{\"index\":1,\"utilization\":null,\"memory_used\":null,\"memory_total\":null}]"));
    run.nodes[0].gpus_known = false;
    str_reset(&json);
    report_run_json(&view, NULL, NULL, &json);
    assert_non_null(strstr(str_text(&json), "\"gpus\":null"));
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_gpus_of_a_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
