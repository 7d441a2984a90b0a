/* Root causes: every case of tests/data/logs/cases, read whole and byte by byte; and what nodes say of their
 * ends. */
#include <dirent.h>

#include "insight_test.h"

#define NODES_MAX 8

/* A case: what is expected, and the log of each node. */
struct sample {
    char *text;
    const char *cause, *nodes, *rank, *reason;
    char *logs[NODES_MAX];
    size_t logs_len;
};

/* "key: value" lines, then "--- nodeN" before each log. Cuts the text in place. */
static void sample_parse(struct sample *sample)
{
    char *at = sample->text;
    while (at && strncmp(at, "--- ", 4) != 0) {
        char *end = strchr(at, '\n');
        *end = '\0';
        const char **field = strncmp(at, "cause: ", 7) == 0    ? &sample->cause
                             : strncmp(at, "nodes: ", 7) == 0  ? &sample->nodes
                             : strncmp(at, "rank: ", 6) == 0   ? &sample->rank
                             : strncmp(at, "reason: ", 8) == 0 ? &sample->reason
                                                               : NULL;
        if (field) {
            *field = strchr(at, ' ') + 1;
        }
        at = end + 1;
    }
    while (at) {
        char *body = strchr(at, '\n') + 1;
        at = strncmp(body, "--- node", 8) == 0 ? body : strstr(body, "\n--- node");
        if (at) {
            at += at == body ? 0 : 1;
        }
        assert_true(sample->logs_len < NODES_MAX);
        sample->logs[sample->logs_len++] = at ? xstrndup(body, (size_t)(at - body)) : xstrdup(body);
    }
}

static void assert_text(const char *name, const char *what, const char *got, const char *wanted)
{
    if (strcmp(got, wanted) != 0) {
        fail_msg("%s: %s is\n  %s, not\n  %s", name, what, got, wanted);
    }
}

static void check_diagnosis(const char *name, const struct sample *sample, const struct node_end *nodes,
                            const struct diagnosis *diagnosis)
{
    const struct cause *cause = &diagnosis->cause;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str where = STR_INIT;
    if (!cause->signature) {
        assert_text(name, "cause", diagnosis->failed ? "none failed" : "none", sample->cause);
        return;
    }
    str_addf(&text, "%s %s", cause->signature->id, signature_class_name(cause->class));
    assert_text(name, "cause", str_text(&text), sample->cause);
    for (size_t i = 0; i < cause->nodes_len; i++) {
        str_addf(&where, "%s%zu", i > 0 ? "," : "", cause->nodes[i]);
    }
    assert_text(name, "nodes", str_text(&where), sample->nodes);
    AUTO_FREE char *rank = cause->global_rank < 0 ? xstrdup("-") : xasprintf("%ld", cause->global_rank);
    assert_text(name, "rank", rank, sample->rank);
    str_reset(&text);
    diagnosis_add_reason(diagnosis, nodes, &text);
    assert_text(name, "reason", str_text(&text), sample->reason);
}

static void check_sample(struct scanner *scanner, const char *name, const struct sample *sample, size_t piece)
{
    struct evidence evidence[NODES_MAX];
    struct node_end nodes[NODES_MAX];
    char hosts[NODES_MAX][32];
    for (size_t i = 0; i < sample->logs_len; i++) {
        read_log(scanner, sample->logs[i], piece, &evidence[i]);
        snprintf(hosts[i], sizeof hosts[i], "node%zu", i);
        nodes[i] = (struct node_end){
            .rank = (unsigned)i, .host = hosts[i], .evidence = &evidence[i], .exit_status = -1, .ended = -1};
    }
    struct diagnosis diagnosis;
    diagnosis_make(&diagnosis, nodes, sample->logs_len, 0);
    check_diagnosis(name, sample, nodes, &diagnosis);
    diagnosis_release(&diagnosis);
    for (size_t i = 0; i < sample->logs_len; i++) {
        evidence_release(&evidence[i]);
    }
}

static void test_every_case_has_the_right_cause(void **state)
{
    DIR *folder = opendir(LOG_FOLDER "/cases");
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        AUTO_FREE char *path = xasprintf("cases/%s", entry->d_name);
        struct sample sample = {.text = read_data(path)};
        sample_parse(&sample);
        check_sample(*state, entry->d_name, &sample, 0);
        check_sample(*state, entry->d_name, &sample, 1);
        for (size_t i = 0; i < sample.logs_len; i++) {
            free(sample.logs[i]);
        }
        free(sample.text);
        count++;
    }
    closedir(folder);
    assert_true(count >= 15);
}

/* --- how nodes ended ---------------------------------------------------------------------------- */

static void assert_ends(const struct node_end *nodes, size_t len, const char *reason)
{
    struct diagnosis diagnosis;
    AUTO_STR struct str text = STR_INIT;
    diagnosis_make(&diagnosis, nodes, len, 1);
    diagnosis_add_reason(&diagnosis, nodes, &text);
    assert_string_equal(str_text(&text), reason);
    diagnosis_release(&diagnosis);
}

static struct node_end ended(unsigned rank, const char *host, int status, const char *signal)
{
    return (struct node_end){
        .rank = rank, .host = host, .exit_status = status, .signal = signal, .ended = rank};
}

static void test_the_end_of_a_command_is_a_cause_where_no_log_says_more(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *signal;
        const char *reason;
    } cases[] = {
        {7, NULL, "g1 (node 1): exit status 7"},
        {1, NULL, "g1 (node 1): exit status 1"},
        {137, "KILL", "g1 (node 1): killed by SIGKILL: by hand, or the machine ran out of memory"},
        {139, "SEGV", "g1 (node 1): killed by SIGSEGV, a segmentation fault"},
        {135, "BUS", "g1 (node 1): killed by SIGBUS: often /dev/shm is full"},
        {134, "ABRT", "g1 (node 1): killed by SIGABRT"},
        {136, "FPE", "g1 (node 1): killed by SIGFPE"},
        {143, "TERM", ""},
        {0, NULL, ""},
    };
    FOR_ROWS(i, cases, cases[i].signal) {
        const struct node_end nodes[] = {ended(0, "g0", 0, NULL),
                                         ended(1, "g1", cases[i].status, cases[i].signal)};
        assert_ends(nodes, 2, cases[i].reason);
    }
}

static void test_a_node_that_was_stopped_or_ended_later_is_no_culprit(void **state)
{
    (void)state;
    struct node_end nodes[] = {ended(0, "g0", 3, NULL), ended(1, "g1", 3, NULL)};
    nodes[0].stopped = true;
    assert_ends(nodes, 2, "g1 (node 1): exit status 3");
    nodes[0].stopped = false;
    nodes[0].exit_status = 4;
    nodes[0].ended = 9;
    assert_ends(nodes, 2, "g1 (node 1): exit status 3");
}

static void test_a_node_that_does_not_answer_goes_before_all(void **state)
{
    (void)state;
    struct node_end nodes[] = {ended(0, "g0", 137, "KILL"), ended(1, "g1", -1, NULL)};
    nodes[1].unreachable = true;
    assert_ends(nodes, 2, "g1 (node 1): the node does not answer");
}

static void test_a_node_that_ended_well_before_the_others_lost_it(void **state)
{
    struct evidence lost;
    struct diagnosis diagnosis;
    AUTO_STR struct str text = STR_INIT;
    read_log(
        *state,
        "[rank0]: Traceback (most recent call last):\n"
        "[rank0]: RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:1\n",
        0, &lost);
    struct evidence silent;
    evidence_init(&silent);
    struct node_end nodes[] = {ended(0, "g0", 1, NULL), ended(1, "g1", 0, NULL)};
    nodes[0].evidence = &lost;
    nodes[1].evidence = &silent;
    diagnosis_make(&diagnosis, nodes, 2, 1);
    diagnosis_add_reason(&diagnosis, nodes, &text);
    assert_string_equal(str_text(&text), "g1 (node 1): its processes ended without an error while those of "
                                         "other nodes were still training");
    diagnosis_release(&diagnosis);
    evidence_release(&lost);
    evidence_release(&silent);
}

static void test_times_are_compared_by_one_clock(void **state)
{
    static const char *const logs[] = {
        "[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: later\n"
        "E1129 16:20:05.000000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
        "local_rank: 0 (pid: 7) of binary: python\n",
        "[rank1]: Traceback (most recent call last):\n[rank1]: KeyError: 'first'\n"
        "E1129 16:25:00.000000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
        "local_rank: 0 (pid: 7) of binary: python\n",
    };
    struct evidence evidence[2];
    struct node_end nodes[2];
    for (size_t i = 0; i < 2; i++) {
        read_log(*state, logs[i], 0, &evidence[i]);
        nodes[i] = ended((unsigned)i, i == 0 ? "g0" : "g1", 1, NULL);
        nodes[i].evidence = &evidence[i];
    }
    static const struct {
        double ahead;
        const char *reason;
    } cases[] = {{0, "g0 (node 0, rank 0): ValueError: later"},
                 {300, "g1 (node 1, rank 1): KeyError: 'first'"}};
    FOR_ROWS(i, cases, cases[i].reason) {
        struct diagnosis diagnosis;
        AUTO_STR struct str text = STR_INIT;
        nodes[1].clock_ahead = cases[i].ahead;
        diagnosis_make(&diagnosis, nodes, 2, 1);
        diagnosis_add_reason(&diagnosis, nodes, &text);
        assert_string_equal(str_text(&text), cases[i].reason);
        diagnosis_release(&diagnosis);
    }
    evidence_release(&evidence[0]);
    evidence_release(&evidence[1]);
}

/* "Init COMPLETE" stands on all ranks at the same moment. */
static void test_clocks_are_compared_by_the_init_of_nccl(void **state)
{
    static const char log[] =
        "[2026-11-29 16:%d:00] g1:1:2 [0] NCCL INFO ncclCommInitRank comm 0x5 rank %d nranks 2 cudaDev 0 "
        "nvmlDev 0 busId 1 commId 0xa - Init COMPLETE\n"
        "[rank%d]: Traceback (most recent call last):\n[rank%d]: ValueError: %d\n"
        "E1129 16:%d:00.000000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
        "local_rank: 0 (pid: 7) of binary: python\n";
    struct evidence evidence[2];
    struct node_end nodes[2];
    struct diagnosis diagnosis;
    AUTO_STR struct str text = STR_INIT;
    for (int i = 0; i < 2; i++) {
        AUTO_STR struct str filled = STR_INIT;
        str_addf(&filled, log, 10 + 30 * i, i, i, i, i,
                 i == 0 ? 20 : 45); /* node 1's clock is 30 min ahead */
        read_log(*state, str_text(&filled), 0, &evidence[i]);
        nodes[i] = ended((unsigned)i, i == 0 ? "g0" : "g1", 1, NULL);
        nodes[i].evidence = &evidence[i];
    }
    diagnosis_make(&diagnosis, nodes, 2, 1);
    diagnosis_add_reason(&diagnosis, nodes, &text);
    assert_string_equal(str_text(&text), "g1 (node 1, rank 1): ValueError: 1");
    diagnosis_release(&diagnosis);
    evidence_release(&evidence[0]);
    evidence_release(&evidence[1]);
}

static void test_what_a_search_leaves_out_is_known_by_its_count_of_lines(void **state)
{
    static const struct {
        unsigned long lines; /* of the whole log, as the node tells */
        const char *reason;
    } cases[] = {{3, "g0 (node 0): ValueError: x"}, {900, ""}};
    FOR_ROWS(i, cases, cases[i].reason) {
        struct evidence evidence;
        struct diagnosis diagnosis;
        AUTO_STR struct str text = STR_INIT;
        evidence_init(&evidence);
        struct evidence_reader *reader = evidence_reader_new(*state, &evidence);
        evidence_reader_line(reader, 1, "Traceback (most recent call last):", 34);
        evidence_reader_line(reader, 2, "ValueError: x", 13);
        evidence.lines = cases[i].lines;
        evidence_reader_end(reader);
        const struct node_end node = {.host = "g0", .evidence = &evidence, .exit_status = -1, .ended = -1};
        diagnosis_make(&diagnosis, &node, 1, 0);
        diagnosis_add_reason(&diagnosis, &node, &text);
        assert_string_equal(str_text(&text), cases[i].reason);
        diagnosis_release(&diagnosis);
        evidence_release(&evidence);
    }
}

/* --- error files -------------------------------------------------------------------------------- */

static void read_error_file(struct scanner *scanner, const char *log, const char *text,
                            struct evidence *evidence)
{
    evidence_init(evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, evidence);
    evidence_reader_feed(reader, log, strlen(log));
    evidence_reader_error_file(reader, "/tmp/e/1/error.json", 1, "2026-11-29_15:25:00", text);
    evidence_reader_end(reader);
}

static void test_error_files_tell_what_the_log_does_not(void **state)
{
    static const char stack[] = "{\"message\": {\"message\": \"ValueError: bad\", \"extraInfo\": "
                                "{\"py_callstack\": \"Traceback (most recent "
                                "call last):\\n  File \\\"/a/train.py\\\", line 9, in f\\n    "
                                "g()\\nValueError: bad\\n\", \"timestamp\": \"1\"}}}";
    static const struct {
        const char *log, *text, *reason;
        size_t events;
    } cases[] = {
        {"", stack, "g1 (node 1, rank 3): ValueError: bad (train.py:9)", 1},
        {"", "{\"message\": {\"message\": \"RuntimeError: CUDA out of memory\"}}",
         "g1 (node 1, rank 3): CUDA out of memory", 1},
        {"", "{\"message\": \"KeyError: 'x'\"}", "g1 (node 1, rank 3): KeyError: 'x'", 1},
        {"Traceback (most recent call last):\n  File \"/a/train.py\", line 9, in f\nValueError: bad\n", stack,
         "g1 (node 1, rank 3): ValueError: bad (train.py:9)", 1},
        {"[rank2]: Traceback (most recent call last):\n[rank2]: ValueError: bad\n", stack,
         "g1 (node 1, rank 3): ValueError: bad (train.py:9)", 2},
        {"", "{\"message\": 7}", "", 0},
        {"", "{\"message\": {\"message\": \"cut", "", 0},
        {"", "[]", "", 0},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        struct evidence evidence;
        struct diagnosis diagnosis;
        AUTO_STR struct str text = STR_INIT;
        read_error_file(*state, cases[i].log, cases[i].text, &evidence);
        assert_int_equal(evidence.events_len, cases[i].events);
        const struct node_end nodes[] = {
            ended(0, "g0", -1, NULL),
            {.rank = 1, .host = "g1", .evidence = &evidence, .exit_status = -1, .ended = -1},
        };
        diagnosis_make(&diagnosis, nodes, 2, 2);
        diagnosis_add_reason(&diagnosis, nodes, &text);
        assert_string_equal(str_text(&text), cases[i].reason);
        if (cases[i].events == 1 && cases[i].log[0] == '\0') {
            assert_string_equal(diagnosis.cause.file, "/tmp/e/1/error.json");
            assert_true(evidence.events[0].time > 0);
        }
        diagnosis_release(&diagnosis);
        evidence_release(&evidence);
    }
}

/* --- flight recorders --------------------------------------------------------------------------- */

#define GROUP(NAME, ENQUEUED, COMPLETED, RANKS)                                                              \
    "{\"name\":\"" NAME "\",\"enqueued\":" #ENQUEUED ",\"completed\":" #COMPLETED ",\"ranks\":[" RANKS       \
    "],\"op\":\"all_reduce\",\"place\":\"train.py:" #ENQUEUED "\"}"
#define DUMP(RANK, GROUPS) "{\"rank\":" #RANK ",\"groups\":[" GROUPS "]}"

static void test_recorders_name_the_ranks_that_never_joined(void **state)
{
    (void)state;
    static const struct {
        const char *what, *dumps[4]; /* two nodes with two ranks each */
        const char *reason;
    } cases[] = {
        {"one is behind",
         {DUMP(0, GROUP("0", 26, 25, "")), DUMP(1, GROUP("0", 26, 25, "")), DUMP(2, GROUP("0", 25, 25, "")),
          DUMP(3, GROUP("0", 26, 25, ""))},
         "g1 (node 1, rank 2): did not call all_reduce number 26, in which 3 ranks wait (train.py:26)"},
        {"several are",
         {DUMP(0, GROUP("0", 26, 25, "")), DUMP(1, GROUP("0", 25, 25, "")), DUMP(2, GROUP("0", 25, 25, "")),
          DUMP(3, GROUP("0", 24, 24, ""))},
         "g[0-1]: ranks 1-3 did not call all_reduce number 26, in which rank 0 waits (train.py:26)"},
        {"one that is behind waits elsewhere",
         {DUMP(0, GROUP("0", 5, 4, "") "," GROUP("1", 9, 9, "")),
          DUMP(1, GROUP("0", 5, 4, "") "," GROUP("1", 9, 9, "")),
          DUMP(2, GROUP("0", 4, 4, "") "," GROUP("2", 9, 8, "")),
          DUMP(3, GROUP("0", 4, 4, "") "," GROUP("2", 8, 8, ""))},
         "g1 (node 1, rank 3): did not call all_reduce number 5, in which 2 ranks wait (train.py:5)"},
        {"one left no dump",
         {DUMP(0, GROUP("0", 26, 25, "0,1,2,3")), DUMP(1, GROUP("0", 26, 25, "0,1,2,3")), NULL,
          DUMP(3, GROUP("0", 26, 25, "0,1,2,3"))},
         "g1 (node 1, rank 2): did not call all_reduce number 26, in which 3 ranks wait (train.py:26)"},
        {"all wait",
         {DUMP(0, GROUP("0", 26, 25, "0,1")), DUMP(1, GROUP("0", 26, 25, "0,1")), NULL, NULL},
         ""},
        {"nobody waits",
         {DUMP(0, GROUP("0", 26, 26, "0,1")), DUMP(1, GROUP("0", 25, 25, "0,1")), NULL, NULL},
         ""},
        {"no dumps",
         {"{}", "{\"rank\":1}", "{\"rank\":-1,\"groups\":[{}]}", "{\"rank\":3,\"groups\":[{},7]}"},
         ""},
    };
    FOR_ROWS(i, cases, cases[i].what) {
        struct evidence evidence[2];
        struct node_end nodes[2];
        for (size_t j = 0; j < 4; j++) {
            if (j % 2 == 0) {
                evidence_init(&evidence[j / 2]);
                nodes[j / 2] = ended((unsigned)j / 2, j == 0 ? "g0" : "g1", -1, NULL);
                nodes[j / 2].evidence = &evidence[j / 2];
            }
            if (cases[i].dumps[j]) {
                evidence_add_dump(&evidence[j / 2], cases[i].dumps[j]);
            }
        }
        struct diagnosis diagnosis;
        AUTO_STR struct str text = STR_INIT;
        diagnosis_make(&diagnosis, nodes, 2, 2);
        diagnosis_add_reason(&diagnosis, nodes, &text);
        assert_string_equal(str_text(&text), cases[i].reason);
        diagnosis_release(&diagnosis);
        evidence_release(&evidence[0]);
        evidence_release(&evidence[1]);
    }
}

/* --- bounds ------------------------------------------------------------------------------------- */

static void test_a_flood_of_one_message_keeps_first_and_last(void **state)
{
    struct evidence evidence;
    AUTO_STR struct str log = STR_INIT;
    for (int i = 0; i < 5000; i++) {
        str_addf(&log,
                 "[rank0]: RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer %d\n",
                 i);
    }
    str_add(&log, "[rank0]: RuntimeError: CUDA error: out of memory\n");
    read_log(*state, str_text(&log), 0, &evidence);
    assert_int_equal(evidence.events_len, EVIDENCE_REPEATS + 2);
    assert_int_equal(evidence.events[0].line, 1);
    assert_string_equal(evidence.events[evidence.events_len - 1].signature->id, "CUDA_OOM");
    assert_int_equal(evidence.lines, 5001);
    evidence_release(&evidence);
}

static void test_many_ranks_and_long_lines_stay_bounded(void **state)
{
    struct evidence evidence;
    AUTO_STR struct str log = STR_INIT;
    for (int i = 0; i < 3000; i++) {
        str_addf(&log, "[rank%d]: Traceback (most recent call last):\n[rank%d]:   File \"/a.py\", line 1\n",
                 i, i);
        str_addf(&log, "[rank%d]: ValueError: x%0500d\n", i, i);
    }
    read_log(*state, str_text(&log), 0, &evidence);
    assert_true(evidence.events_len <= EVIDENCE_EVENTS);
    assert_true(evidence.ranks_len <= EVIDENCE_RANKS);
    evidence_release(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_has_the_right_cause),
        cmocka_unit_test(test_the_end_of_a_command_is_a_cause_where_no_log_says_more),
        cmocka_unit_test(test_a_node_that_was_stopped_or_ended_later_is_no_culprit),
        cmocka_unit_test(test_a_node_that_does_not_answer_goes_before_all),
        cmocka_unit_test(test_a_node_that_ended_well_before_the_others_lost_it),
        cmocka_unit_test(test_times_are_compared_by_one_clock),
        cmocka_unit_test(test_clocks_are_compared_by_the_init_of_nccl),
        cmocka_unit_test(test_what_a_search_leaves_out_is_known_by_its_count_of_lines),
        cmocka_unit_test(test_error_files_tell_what_the_log_does_not),
        cmocka_unit_test(test_recorders_name_the_ranks_that_never_joined),
        cmocka_unit_test(test_a_flood_of_one_message_keeps_first_and_last),
        cmocka_unit_test(test_many_ranks_and_long_lines_stay_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
