/* A synthetic run as JSON (every key, null where unknown) and as text. */
#include "base/text.h"
#include "report/status.h"
#include "report/status_internal.h"
#include "report_test.h"

#define STARTED_MS 1795965900000 /* 2026-11-29T15:25:00Z */

static void fill_node(struct run_node *node, unsigned rank, const char *label)
{
    node->rank = rank;
    node->host.name = xstrdup(label);
    node->label = xstrdup(label);
    node->log = xasprintf("/art/logs/r1_node%u.log", rank);
}

static int set_up(void **state)
{
    struct run *run = xcalloc(1, sizeof(*run));
    run_init(run);
    run->name = xstrdup("r1");
    run->job = xstrdup("hello");
    strcpy(run->id, "r1-0a1b2c3d");
    run->attempt = 1;
    run->state = RUN_DEGRADED;
    run->exit_status = 137;
    run->started_ms = STARTED_MS;
    run_nodes_alloc(run, 2);
    fill_node(&run->nodes[0], 0, "g1");
    run->nodes[0].state = NODE_RUNNING;
    run->nodes[0].pid = 4711;
    run->nodes[0].started_ms = STARTED_MS;
    fill_node(&run->nodes[1], 1, "g2");
    run->nodes[1].state = NODE_FAILED;
    run->nodes[1].exit_status = 137;
    run->nodes[1].signal = xstrdup("KILL");
    run->nodes[1].started_ms = STARTED_MS;
    run->nodes[1].ended_ms = STARTED_MS + 5000;
    run->attempts = xcalloc(1, sizeof(run->attempts[0]));
    run->attempts_len = run->attempts_cap = 1;
    run->attempts[0] = (struct run_attempt){.number = 1, .state = RUN_STARTING, .started_ms = STARTED_MS};
    strlist_add(&run->attempts[0].nodes, "g1");
    strlist_add(&run->attempts[0].nodes, "g2");
    *state = run;
    return 0;
}

static int tear_down(void **state)
{
    run_release(*state);
    free(*state);
    return 0;
}

static json_t *status_object(const struct report_run *view)
{
    AUTO_STR struct str out = STR_INIT;
    report_run_json(view, NULL, NULL, &out);
    return answer_object(&out);
}

static const char *text_at(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void test_every_key_is_there(void **state)
{
    struct report_run view = {.run = *state};
    json_t *status = status_object(&view);
    assert_keys(
        status,
        "schema run job run_id state attempt reason exit_status started ended supervisor left_over nodes "
        "progress attempts events");
    assert_keys(json_object_get(status, "supervisor"), "host pid alive");
    json_t *node = json_array_get(json_object_get(status, "nodes"), 0);
    assert_keys(node,
                "rank host addr state last_output reason pid exit_status signal started ended log gpus");
    json_t *attempt = json_array_get(json_object_get(status, "attempts"), 0);
    assert_keys(attempt, "attempt state started ended reason nodes");
    json_decref(status);
}

static void test_what_is_known_and_what_is_not(void **state)
{
    struct report_run view = {.run = *state};
    json_t *status = status_object(&view);
    assert_string_equal(text_at(status, "schema"), "mtlaunch/1");
    assert_string_equal(text_at(status, "state"), "degraded");
    assert_string_equal(text_at(status, "started"), "2026-11-29T15:25:00Z");
    assert_true(json_is_null(json_object_get(status, "ended")));
    assert_true(json_is_null(json_object_get(status, "reason")));
    assert_true(json_is_null(json_object_get(status, "exit_status"))); /* it lives */
    json_t *first = json_array_get(json_object_get(status, "nodes"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "pid")), 4711);
    assert_true(json_is_null(json_object_get(first, "exit_status")));
    assert_true(json_is_null(json_object_get(first, "addr")));
    assert_true(json_is_null(json_object_get(first, "gpus")));
    json_t *second = json_array_get(json_object_get(status, "nodes"), 1);
    assert_int_equal(json_integer_value(json_object_get(second, "exit_status")), 137);
    assert_string_equal(text_at(second, "signal"), "KILL");
    assert_string_equal(text_at(second, "ended"), "2026-11-29T15:25:05Z");
    assert_true(json_is_null(json_object_get(second, "pid")));
    json_decref(status);
}

static void assert_exit_status(struct run *run, enum run_state run_state, int expected)
{
    struct report_run view = {.run = run};
    run->state = run_state;
    json_t *status = status_object(&view);
    json_t *value = json_object_get(status, "exit_status");
    if (expected < 0) {
        assert_true(json_is_null(value));
    } else {
        assert_int_equal(json_integer_value(value), expected);
    }
    json_decref(status);
}

static void test_exit_status_follows_the_state(void **state)
{
    struct run *run = *state;
    assert_exit_status(run, RUN_FAILED, 137);
    assert_exit_status(run, RUN_STOPPED, -1);
    assert_exit_status(run, RUN_LOST, -1);
    run->exit_status = -1;
    assert_exit_status(run, RUN_FINISHED, 0);
    assert_exit_status(run, RUN_FAILED, -1);
}

/* The record of the current attempt is as old as the last write; the run itself is what it is now. */
static void test_the_current_attempt_is_as_the_run(void **state)
{
    struct report_run view = {.run = *state};
    json_t *status = status_object(&view);
    json_t *attempt = json_array_get(json_object_get(status, "attempts"), 0);
    assert_string_equal(text_at(attempt, "state"), "degraded");
    assert_int_equal(json_array_size(json_object_get(attempt, "nodes")), 2);
    json_decref(status);
}

static void test_events_and_survivors(void **state)
{
    struct run_event event = {
        .time_ms = STARTED_MS, .event = (char[]){"started"}, .text = (char[]){"2 nodes"}};
    struct run_events events = {.items = &event, .len = 1};
    struct run_survivor survivor = {.rank = 1, .host = (char[]){"g2"}, .pid = 99, .state = (char[]){"D"}};
    struct report_run view = {
        .run = *state, .events = &events, .with_survivors = true, .survivors = &survivor, .survivors_len = 1};
    json_t *status = status_object(&view);
    json_t *shown = json_array_get(json_object_get(status, "events"), 0);
    assert_keys(shown, "time event host text");
    assert_true(json_is_null(json_object_get(shown, "host")));
    json_t *left = json_array_get(json_object_get(status, "survivors"), 0);
    assert_keys(left, "host rank pid state command");
    assert_int_equal(json_integer_value(json_object_get(left, "pid")), 99);
    json_decref(status);
}

static void test_a_failure_goes_with_the_picture(void **state)
{
    struct report_run view = {.run = *state};
    struct error err = ERROR_INIT;
    AUTO_STR struct str out = STR_INIT;
    error_set(&err, &kind_not_proven, "not proven");
    report_run_json(&view, &err, NULL, &out);
    json_t *status = answer_object(&out);
    assert_string_equal(text_at(json_object_get(status, "error"), "kind"), "not-proven");
    assert_string_equal(text_at(status, "run"), "r1");
    json_decref(status);
}

static void test_list_of_runs(void **state)
{
    struct report_run views[] = {{.run = *state}, {.run = *state}};
    AUTO_STR struct str out = STR_INIT;
    report_runs_json(views, 2, &out);
    json_t *answer = answer_object(&out);
    assert_keys(answer, "schema runs");
    assert_int_equal(json_array_size(json_object_get(answer, "runs")), 2);
    assert_keys(
        json_array_get(json_object_get(answer, "runs"), 0),
        "run job run_id state attempt reason exit_status started ended supervisor left_over progress");
    json_decref(answer);
}

static void test_text_of_a_run(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    style.now_ms = STARTED_MS + 192000;
    report_run_text(&view, &style, &out);
    const char *text = str_text(&out);
    assert_contains(text, "r1: degraded (job hello, attempt 1, id r1-0a1b2c3d)\n");
    assert_contains(text, "supervisor: none");
    assert_contains(text, "NODE  HOST  STATE     PID  EXIT   TIME\n"); /* U15 */
    assert_contains(text, "   0  g1    running  4711        3m12s\n");
    assert_contains(text, "   1  g2    failed          137     5s\n"
                          "      killed by SIGKILL (often out of memory: see dmesg there)\n");
    assert_contains(text,
                    "failed first: g2 (node 1): killed by SIGKILL (often out of memory: see dmesg there)\n");
    assert_contains(text, "logs: /art/logs/r1_node<N>.log on g[1-2]\n");
    run_set_reason(run, xstrdup("g1 (node 0): exit status 1:\n    one\n    two"));
    run->cause.hint = xstrdup("ls -l\nx");
    strlist_add(&run->cause.hosts, "g1");
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out),
                    "reason: g1 (node 0): exit status 1: two\n    one\n    two\nhint: ls -l x\n");
    assert_lacks(str_text(&out), "failed first"); /* the reason names the culprit */
    run->state = RUN_FINISHED;
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_lacks(str_text(&out), "supervisor");
}

/* A run of count nodes g0001.cluster.example.org ..., all of them running. */
static void make_large(struct run *run, size_t count)
{
    run_nodes_alloc(run, count);
    for (unsigned i = 0; i < count; i++) {
        AUTO_FREE char *label = xasprintf("g%04u", i + 1);
        fill_node(&run->nodes[i], i, label);
        run->nodes[i].state = NODE_RUNNING;
        run->nodes[i].pid = 1000 + i;
        run->nodes[i].started_ms = STARTED_MS;
    }
}

static void fail_some(struct run *run)
{
    run->nodes[7].state = NODE_FAILED;
    run->nodes[7].exit_status = 1;
    run->nodes[7].ended_ms = STARTED_MS + 5000;
    run->nodes[3].state = run->nodes[4].state = NODE_LOST;
    run->nodes[3].reason =
        xstrdup("does not answer: a long story that needs more than the eighty columns of a line");
    run->nodes[4].reason = xstrdup(run->nodes[3].reason);
}

/* U11 */
static void test_equal_nodes_of_a_large_run_are_one_line(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    style.now_ms = STARTED_MS + 192000;
    make_large(run, 32);
    fail_some(run);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "29 running · 2 lost · 1 failed\n");
    assert_contains(str_text(&out),
                    "        NODE  HOST                              STATE     PID  EXIT   TIME\n"
                    "           7  g0008                             failed   1007     1     5s\n"
                    "      exit status 1\n"
                    "         3-4  g[0004-0005]                      lost                 3m12s\n"
                    "      does not answer: a long story that needs more than the eighty columns of a\n"
                    "      line\n"
                    "0-2,5-6,8-31  g[0001-0003,0006-0007,0009-0032]  running              3m12s\n");
    style.full = true;
    str_reset(&out);
    report_run_text(&view, &style, &out);
    for (size_t i = 0; i < run->nodes_len; i++) {
        assert_contains(str_text(&out), run->nodes[i].label);
    }
}

/* 256 nodes on a usual terminal: every line fits, and the odd ones are seen at once. */
static void test_many_nodes_fit_a_screen(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    style.now_ms = STARTED_MS + 192000;
    make_large(run, 256);
    for (size_t i = 0; i < 256; i++) {
        run->nodes[i].silent_s = (int64_t)(i % 7);
    }
    for (size_t i = 11; i < 256; i += 37) {
        run->nodes[i].state = NODE_LOST;
        run->nodes[i].reason = xstrdup("does not answer");
    }
    report_run_text(&view, &style, &out);
    size_t lines = 0;
    for (const char *at = str_text(&out); *at != '\0'; lines++) {
        AUTO_FREE char *line = xstrndup(at, strcspn(at, "\n"));
        if (strncmp(line, "supervisor: ", strlen("supervisor: ")) != 0) {
            assert_true(text_columns(line) <= 80);
        }
        at += strlen(line) + 1;
    }
    assert_true(lines < 12);
    assert_contains(str_text(&out), "249 running · 7 lost\n");
}

static void test_sixteen_nodes_are_not_folded(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    make_large(run, 16);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "\n  15  g0016  running");
    assert_lacks(str_text(&out), "16 running");
}

static void test_text_names_survivors(void **state)
{
    struct run_survivor survivor = {.rank = 1,
                                    .host = (char[]){"g2"},
                                    .pid = 99,
                                    .state = (char[]){"D"},
                                    .command = (char[]){"python\033 x"}};
    struct report_run view = {.run = *state, .survivors = &survivor, .survivors_len = 1};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "still there:\nHOST  NODE  PID  STATE  COMMAND\n"
                                    "g2       1   99  D      python? x\n");
}

/* S10: a log's path, a reason, a survivor's command and the host's answer stay on their lines. */
static void test_foreign_text_makes_no_line(void **state)
{
    struct run *run = *state;
    struct run_survivor survivor = {.rank = 1,
                                    .host = (char[]){"g2"},
                                    .pid = 99,
                                    .state = (char[]){"D"},
                                    .command = (char[]){"x\nr2: finished"}};
    struct report_run view = {.run = run, .survivors = &survivor, .survivors_len = 1};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        free(run->nodes[i].log);
        run->nodes[i].log = xstrdup("/a\nr2: finished/x.log");
        free(run->nodes[i].reason);
        run->nodes[i].reason = xstrdup("y\r\nr2: finished");
    }
    free(run->reason);
    run->reason = xstrdup("z\nr2: finished\xE2\x80\xA9");
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "reason: z r2: finished?\n");
    assert_contains(str_text(&out), "logs: /a r2: finished/x.log on ");
    assert_lacks(str_text(&out), "\nr2:");
    assert_lacks(str_text(&out), "\r");
}

static void test_text_of_the_list(void **state)
{
    struct report_run view = {.run = *state, .node_count = 2};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    setenv("TZ", "UTC", 1);
    style.now_ms = STARTED_MS + 60000;
    report_runs_text(&view, 1, &style, &out);
    assert_contains(str_text(&out), "RUN  STATE     JOB    NODES  STARTED       TIME");
    assert_contains(str_text(&out), "r1   degraded  hello      2  11-29 15:25  1m00s");
    ((struct run *)*state)->attempt = 2;
    str_reset(&out);
    report_runs_text(&view, 1, &style, &out);
    assert_contains(str_text(&out), "r1   degraded  hello      2        2  11-29 15:25  1m00s");
    style.now_ms += INT64_C(1000) * 60 * 60 * 24 * 365;
    str_reset(&out);
    report_runs_text(&view, 1, &style, &out);
    assert_contains(str_text(&out), "  2026-11-29  365d00h");
}

/* The name of a run is typed again: the job's name gives way first. */
static void test_the_list_keeps_the_names_of_runs(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run, .node_count = 16};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    style.now_ms = STARTED_MS + 60000;
    style.columns = 80;
    free(run->name);
    run->name = xstrdup("qwen3-pretrain-zero1-0017");
    free(run->job);
    run->job = xstrdup("qwen3-pretrain-zero1-on-all-nodes");
    run->progress.iteration = 1200;
    run->progress.total = 100000;
    report_runs_text(&view, 1, &style, &out);
    assert_contains(str_text(&out), "\nqwen3-pretrain-zero1-0017  degraded  q");
}

static void assert_exit_text(int status, const char *signal, const char *expected)
{
    AUTO_FREE char *name = xstrdup(signal);
    struct run_node node = {.exit_status = status, .signal = name};
    AUTO_FREE char *text = report_exit_text(&node);
    if (expected) {
        assert_string_equal(text, expected);
    } else {
        assert_null(text);
    }
}

static void test_exit_statuses_in_words(void **state)
{
    (void)state;
    assert_exit_text(-1, NULL, NULL);
    assert_exit_text(3, NULL, "exit status 3");
    assert_exit_text(135, "BUS", "killed by SIGBUS (often a full /dev/shm)");
    assert_exit_text(129, "HUP", "killed by SIGHUP");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A run that trains, and one that has ended: what is left is told of the first alone. */
static void test_progress_is_shown(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    struct training_progress progress = PROGRESS_NONE;
    progress.known = progress.has_loss = true;
    progress.iteration = 500;
    progress.total = 1000;
    progress.loss = 2.3456789;
    progress.step_time_s = 0.5;
    progress.samples_per_second = 64;
    progress.tokens_per_second = 32768;
    progress.tflops_per_gpu = 3.25;
    progress.checkpoint = 400;
    progress.nan = 2;
    progress_estimate(&progress);
    report_progress_text(&progress, true, &out);
    assert_string_equal(
        str_text(&out),
        "500/1000 (50 %), loss 2.346, 0.5 s/step, 64 samples/s, 32768 tokens/s, 3.25 TFLOP/s per "
        "GPU, checkpoint at 400, 2 iterations without a finite loss, 4m10s left");
    str_reset(&out);
    progress = PROGRESS_NONE;
    progress.known = progress.has_loss = true;
    progress.loss = 1;
    report_progress_text(&progress, false, &out);
    assert_string_equal(str_text(&out), ", loss 1");
}

/* A line for the age of the last output, where it is known; nodes that have ended have none. */
static void test_text_tells_the_age_of_the_last_output(void **state)
{
    struct run *run = *state;
    struct report_run view = {.run = run};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    style.now_ms = STARTED_MS + 192000;
    run->nodes[0].silent_s = 4;
    run->nodes[1].silent_s = 500;
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "NODE  HOST  STATE     PID  EXIT   TIME  OUTPUT\n");
    assert_contains(str_text(&out), "   0  g1    running  4711        3m12s      4s\n");
    assert_contains(str_text(&out), "   1  g2    failed          137     5s\n");
    make_large(run, 32);
    run->nodes[4].silent_s = 0;
    run->nodes[9].silent_s = 75;
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "NODE  HOST          STATE     TIME    OUTPUT\n"
                                    "0-31  g[0001-0032]  running  3m12s  0s-1m15s\n");
}

static void test_how_the_loss_went(void **state)
{
    struct sample items[40];
    struct samples samples = {.items = items, .len = 40};
    struct report_trend trend;
    struct report_run view = {.run = *state, .trend = &trend};
    struct report_style style = REPORT_STYLE_PLAIN;
    AUTO_STR struct str out = STR_INIT;
    struct training_progress progress = PROGRESS_NONE;
    for (unsigned i = 0; i < 40; i++) {
        progress.has_loss = i != 20;
        progress.loss = i < 20 ? 8.3456 : 2.25;
        progress.step_time_s = 0.5 + i / 100.0;
        items[i] = sample_of_progress(&progress, 1, STARTED_MS + (int64_t)i * 10000);
    }
    report_trend_init(&trend, &samples);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "loss: ████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ from 8.346 to 2.25 in "
                                    "6m30s\n");
    style.columns = 44; /* the same in ten bars */
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "loss: █████▃▁▁▁▁ from 8.346 to 2.25 in 6m30s\n");
    report_trend_release(&trend);
    for (unsigned i = 0; i < 40; i++) {
        items[i].numbers[SAMPLE_LOSS] = items[0].numbers[SAMPLE_TOKENS]; /* unknown */
    }
    report_trend_init(&trend, &samples);
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_contains(str_text(&out), "step time: ▁▂▃▄▅▆▇█ from 0.5 to 0.89 s in 6m30s\n");
    report_trend_release(&trend);
    samples.len = 1;
    report_trend_init(&trend, &samples);
    str_reset(&out);
    report_run_text(&view, &style, &out);
    assert_lacks(str_text(&out), "step time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_is_shown),
        TEST(test_text_tells_the_age_of_the_last_output),
        TEST(test_how_the_loss_went),
        TEST(test_every_key_is_there),
        TEST(test_what_is_known_and_what_is_not),
        TEST(test_equal_nodes_of_a_large_run_are_one_line),
        TEST(test_many_nodes_fit_a_screen),
        TEST(test_sixteen_nodes_are_not_folded),
        TEST(test_exit_status_follows_the_state),
        TEST(test_the_current_attempt_is_as_the_run),
        TEST(test_events_and_survivors),
        TEST(test_a_failure_goes_with_the_picture),
        TEST(test_list_of_runs),
        TEST(test_text_of_a_run),
        TEST(test_text_names_survivors),
        TEST(test_foreign_text_makes_no_line),
        TEST(test_text_of_the_list),
        TEST(test_the_list_keeps_the_names_of_runs),
        cmocka_unit_test(test_exit_statuses_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
