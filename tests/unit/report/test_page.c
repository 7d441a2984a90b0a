/* The page and the object of a report: whole, bounded, and proof against what names and logs hold. */

#include <math.h>

#include "base/json.h"
#include "report/page.h"
#include "report/page/page_internal.h"
#include "test.h"

#define START INT64_C(1700000000000)
#define MIB   ((int64_t)1 << 20)
#define HOSTILE                                                                                              \
    "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\n\x1b[2J<!-- ]]> &amp; \xff " \
    "javascript:"

struct fixture {
    struct run_history history;
    struct report_page *page;
};

static void add_event(struct run_events *events, int64_t time_ms, const char *event, const char *host,
                      const char *text)
{
    events->items = xgrow(events->items, events->len, &events->cap, sizeof(*events->items));
    events->items[events->len++] = (struct run_event){
        .time_ms = time_ms, .event = xstrdup(event), .host = xstrdup(host), .text = xstrdup(text)};
}

/* A run of two attempts on so many nodes. name: of everything that has one. */
static void fill(struct run_history *history, size_t nodes, const char *name)
{
    struct run *run = &history->run;
    *history = (struct run_history){.training = {.kind = SAMPLES_TRAINING, .step_ms = 10000},
                                    .gpus = {.kind = SAMPLES_GPUS, .step_ms = 30000}};
    run_init(run);
    run->name = xstrdup("r1");
    run->job = xstrdup(name);
    run->reason = xstrdup(name);
    strcpy(run->id, "r1-0123abcd");
    run->attempt = 2;
    run->state = RUN_FAILED;
    run->exit_status = 1;
    run->started_ms = START + 60000;
    run->ended_ms = START + 600000;
    run->nproc_per_node = 8;
    run->spec = xasprintf(
        "{\"launcher\": \"torchrun\", \"command\": [\"python\", \"a b\"], \"env\": {\"A\": \"***\"}}");
    run->findings =
        xstrdup("[{\"id\": \"clock\", \"severity\": \"warn\", \"hosts\": [], \"folded\": \"<b>\", "
                "\"title\": \"</td>\", \"evidence\": null, \"remedy\": \"'x'\"}]");
    run_nodes_alloc(run, nodes);
    for (size_t i = 0; i < nodes; i++) {
        struct run_node *node = &run->nodes[i];
        node->rank = (unsigned)i;
        node->label = nodes > 8 ? xasprintf("g%04zu", i) : xasprintf("%s%zu", name, i);
        node->state = i == 3 ? NODE_FAILED : NODE_STOPPED;
        node->reason = i == 3 ? xstrdup(name) : NULL;
        node->started_ms = START + 61000;
        node->ended_ms = START + 590000;
    }
    for (unsigned a = 1; a <= 2; a++) {
        struct run_attempt *attempt = run_add_attempt(run);
        *attempt = (struct run_attempt){.number = a,
                                        .state = RUN_FAILED,
                                        .started_ms = a == 1 ? START : START + 60000,
                                        .ended_ms = a == 1 ? START + 50000 : START + 600000,
                                        .reason = xstrdup(name)};
        for (size_t i = 0; i < nodes; i++) {
            strlist_add(&attempt->nodes, run->nodes[i].label);
        }
    }
    for (int i = 0; i < 3000; i++) {
        struct sample sample = {.time_ms = START + 61000 + i * 100, .attempt = 2, .iteration = i + 1};
        for (size_t n = 0; n < SAMPLE_NUMBERS; n++) {
            sample.numbers[n] = 2 + 8 * exp(-i / 400.0);
        }
        samples_add(&history->training, &sample);
    }
    for (int i = 0; i < 300; i++) {
        struct sample sample = {
            .time_ms = START + 61000 + i * 1500, .attempt = 2, .iteration = -1, .nodes_len = nodes};
        sample.nodes = xcalloc(nodes, sizeof(*sample.nodes));
        for (size_t n = 0; n < nodes; n++) {
            sample.nodes[n] = (struct gpu_sample){.utilization_mean = n == 3 ? 12 : 95,
                                                  .utilization_max = 99,
                                                  .memory_mean = 5000,
                                                  .memory_max = (uint16_t)(5000 + n),
                                                  .memory_total = 8986};
        }
        samples_add(&history->gpus, &sample);
    }
    for (int i = 0; i < 1200; i++) {
        add_event(&history->events, START + i * 400, "started", i % 2 ? run->nodes[0].label : NULL, name);
    }
    run->inventory.known = true;
    inventory_add_gpu(&run->inventory, name);
    inventory_add_network(&run->inventory, name);
    inventory_add_link(&run->inventory, name, true, 400);
    history->logs[history->logs_len++] = (struct run_log_end){.node = 0, .text = xstrdup(name)};
    strlist_add(&history->notes, name);
}

static void add(struct fixture *fixture, size_t nodes, const char *name)
{
    fill(&fixture->history, nodes, name);
    const struct report_run view = {.run = &fixture->history.run, .events = &fixture->history.events};
    report_page_add(fixture->page, &view, &fixture->history);
    run_history_release(&fixture->history);
}

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    fixture->page = report_page_new();
    setenv("TZ", "UTC", 1);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    report_page_free(fixture->page);
    free(fixture);
    return 0;
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part)) {
        found++;
    }
    return found;
}

static json_t *object_of(const struct fixture *fixture)
{
    AUTO_STR struct str text = STR_INIT;
    report_page_json(fixture->page, "r1.html", &text);
    json_t *object = json_loads(str_text(&text), 0, NULL);
    assert_non_null(object);
    return object;
}

static void test_parts(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    static const char *const wanted[] = {
        "<!doctype html>",
        "default-src &#39;none&#39;",
        "<h1>r1</h1>",
        "<dt>Nodes</dt><dd>4 <small>32 processes</small>",
        "<dt>Duration</dt><dd>9m 00s",
        "id=\"r0-cause\"",
        "<figcaption>Loss ",
        "<figcaption>Step time ",
        "<figcaption>Tokens ",
        "<figcaption>GPU use ",
        "<figcaption>GPU memory ",
        "id=\"r0-timeline\"",
        "<title>attempt 1: failed: name</title>",
        "id=\"r0-findings\"",
        "<th scope=\"row\">Links</th><td class=\"text\">name 400 Gb/s RDMA</td>",
        "python &#39;a b&#39;",
        "<th scope=\"row\">A</th><td class=\"text\">***</td>",
        "The last 200 of 1200.",
        "Times are those of the head (UTC+0000).",
    };
    add(fixture, 4, "name");
    report_page_html(fixture->page, START + 700000, &out);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const char *part =
            strcmp(wanted[i], "default-src &#39;none&#39;") == 0 ? "default-src 'none'" : wanted[i];
        if (!strstr(str_text(&out), part)) {
            fail_msg("the page lacks '%s'", part);
        }
    }
    for (size_t i = 0; i < page_parts_len; i++) {
        AUTO_FREE char *link = xasprintf("<a href=\"#r0-%s\">%s</a>", page_parts[i].id, page_parts[i].title);
        AUTO_FREE char *place = xasprintf("id=\"r0-%s\"", page_parts[i].id);
        assert_int_equal(count(str_text(&out), link), 1);
        assert_int_equal(count(str_text(&out), place), 1);
    }
}

/* Nothing that a name, a reason or a log holds becomes markup: the tags are those of a harmless page. */
static void test_hostile_text(void **state)
{
    struct fixture *fixture = *state;
    struct fixture harmless = {.page = report_page_new()};
    AUTO_STR struct str bad = STR_INIT, good = STR_INIT;
    add(fixture, 4, HOSTILE);
    add(&harmless, 4, "name");
    report_page_html(fixture->page, START + 700000, &bad);
    report_page_html(harmless.page, START + 700000, &good);
    static const char *const marks[] = {"<script", "<img", "<!--", "onerror=", "<", ">", "\"", "\x1b"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t found = count(str_text(&bad), marks[i]), wanted = count(str_text(&good), marks[i]);
        if (strcmp(marks[i], "onerror=") == 0) {
            assert_true(found > 0); /* it is there, as text */
        } else if (found != wanted) {
            fail_msg("'%s': %zu, in a harmless page %zu", marks[i], found, wanted);
        }
    }
    report_page_free(harmless.page);
}

static void test_a_thousand_nodes(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    add(fixture, 1000, "name");
    report_page_html(fixture->page, START + 700000, &out);
    assert_in_range(out.len, 100000, 1200000);
    assert_non_null(strstr(str_text(&out), "g[0000-0002,0004-0999]"));
    assert_non_null(strstr(str_text(&out), "all nodes"));
    json_t *object = object_of(fixture);
    const json_t *run = json_array_get(json_object_get(object, "runs"), 0);
    const json_t *gpus = json_object_get(run, "gpus"), *nodes = json_object_get(gpus, "nodes");
    assert_int_equal(json_array_size(json_object_get(run, "nodes")), 1000);
    assert_int_equal(json_array_size(nodes), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(nodes, 0), "host")),
                        "g0003"); /* idle */
    const json_t *most = json_object_get(json_object_get(gpus, "memory"), "most");
    assert_true(json_number_value(json_array_get(most, 0)) == 5999.0 * 16 * MIB);
    assert_in_range(json_array_size(most), 100, 256);
    json_decref(object);
}

static void test_the_object(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, 4, "name");
    json_t *object = object_of(fixture);
    const json_t *run = json_array_get(json_object_get(object, "runs"), 0);
    const json_t *training = json_object_get(run, "training");
    size_t len = json_array_size(json_object_get(training, "loss"));
    assert_in_range(len, 128, 256);
    assert_int_equal(json_array_size(json_object_get(training, "time")), len);
    assert_int_equal(json_array_size(json_object_get(training, "attempt")), len);
    assert_int_equal(json_integer_value(json_object_get(run, "peak_memory")), 5003 * 16 * MIB);
    assert_true(json_is_null(json_object_get(object, "compare")));
    assert_string_equal(json_string_value(json_object_get(object, "file")), "r1.html");
    json_decref(object);
}

/* A run of which next to nothing is known. */
static void test_a_run_that_never_began(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    struct run_history empty = {.training = {.kind = SAMPLES_TRAINING}, .gpus = {.kind = SAMPLES_GPUS}};
    run_init(&empty.run);
    empty.run.name = xstrdup("r");
    const struct report_run view = {.run = &empty.run, .events = &empty.events};
    report_page_add(fixture->page, &view, &empty);
    run_history_release(&empty);
    report_page_html(fixture->page, START, &out);
    assert_non_null(strstr(str_text(&out), "<h1>r</h1>"));
    assert_null(strstr(str_text(&out), "<svg"));
    assert_non_null(strstr(str_text(&out), "NCCL_DEBUG=INFO"));
    assert_null(strstr(str_text(&out), "nan"));
}

static void test_several_runs(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STR struct str out = STR_INIT;
    struct run runs[2];
    struct comparison comparison;
    const struct comparison_goal none = {0};
    const struct comparison_input inputs[] = {{&runs[0], 2048 * MIB}, {&runs[1], -1}};
    for (size_t i = 0; i < 2; i++) {
        run_init(&runs[i]);
        runs[i].name = xstrdup(i ? "b" : "a");
    }
    for (int i = 0; i < 10; i++) {
        add(fixture, 4, "name");
    }
    comparison_make(&comparison, inputs, 2, &none);
    report_page_compare(fixture->page, &comparison);
    report_page_html(fixture->page, START + 700000, &out);
    assert_non_null(strstr(str_text(&out), "<h1>10 runs</h1>"));
    assert_int_equal(count(str_text(&out), "<article"), REPORT_PAGE_RUNS);
    assert_non_null(strstr(str_text(&out), "The other 2 runs"));
    assert_non_null(strstr(str_text(&out), "<td>2 GiB</td>"));
    assert_int_equal(count(str_text(&out), "id=\"r0-overlay\""), 1);
    json_t *object = object_of(fixture);
    assert_int_equal(json_array_size(json_object_get(json_object_get(object, "compare"), "runs")), 2);
    json_decref(object);
    comparison_release(&comparison);
    run_release(&runs[0]);
    run_release(&runs[1]);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_parts),      TEST(test_hostile_text),           TEST(test_a_thousand_nodes),
        TEST(test_the_object), TEST(test_a_run_that_never_began), TEST(test_several_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
