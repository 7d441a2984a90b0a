/* Comparisons of runs: figures, differences, verdicts; logs of real trainings. */
#include "insight/comparison.h"
#include "insight/gpu_peak.h"
#include "insight/inventory.h"
#include "insight/progress.h"
#include "insight_test.h"

#define RUNS_MAX 8

/* --- runs --------------------------------------------------------------------------------------------- */

struct fixture {
    struct run runs[RUNS_MAX];
    struct comparison_input inputs[RUNS_MAX];
    size_t len;
    struct comparison comparison;
};

/* Nodes of eight GPUs, a sample a GPU. */
static struct run *add_run(struct fixture *fixture, const char *name, size_t nodes, double step_time_s)
{
    struct run *run = &fixture->runs[fixture->len];
    run_init(run);
    run->name = xstrdup(name);
    run->state = RUN_FINISHED;
    run->nproc_per_node = 8;
    run->global_batch = (unsigned)nodes * 8;
    run_nodes_alloc(run, nodes);
    for (size_t i = 0; i < nodes; i++) {
        run->nodes[i].label = xasprintf("g%zu", i);
        run->nodes[i].host.name = xasprintf("g%zu", i);
    }
    run->progress.known = step_time_s > 0;
    run->progress.step_time_s = step_time_s;
    run->progress.global_batch = run->global_batch;
    run->progress.samples_per_second = step_time_s > 0 ? run->global_batch / step_time_s : -1;
    fixture->inputs[fixture->len++] = (struct comparison_input){.run = run, .peak_memory = -1};
    return run;
}

static const char *compare(struct fixture *fixture)
{
    static const struct comparison_goal none = {0};
    comparison_make(&fixture->comparison, fixture->inputs, fixture->len, &none);
    return fixture->comparison.verdict;
}

static int make_fixture(void **state)
{
    *state = xcalloc(1, sizeof(struct fixture));
    return 0;
}

static int free_fixture(void **state)
{
    struct fixture *fixture = *state;
    comparison_release(&fixture->comparison);
    for (size_t i = 0; i < fixture->len; i++) {
        run_release(&fixture->runs[i]);
    }
    free(fixture);
    return 0;
}

static void use_network(struct run *run, const char *network, const char *interface, double gbps,
                        const char *port, double port_gbps)
{
    run->inventory.known = true;
    inventory_add_gpu(&run->inventory, "NVIDIA H200");
    inventory_add_network(&run->inventory, network);
    inventory_add_interface(&run->inventory, interface);
    if (gbps > 0) {
        inventory_add_link(&run->inventory, interface, false, gbps);
    }
    if (port) {
        inventory_add_link(&run->inventory, port, true, port_gbps);
    }
}

static void assert_near(double got, double wanted)
{
    double least = wanted - 1e-4, most = wanted + 1e-4;
    if (got < least || got > most) {
        fail_msg("%.9g, not %.9g", got, wanted);
    }
}

/* --- figures ------------------------------------------------------------------------------------------ */

static void test_figures(void **state)
{
    struct fixture *fixture = *state;
    const struct comparison_goal goal = {.tokens = 34e9};
    add_run(fixture, "ib3", 3, 6.22);
    struct run *one = add_run(fixture, "one", 1, 4.76);
    add_run(fixture, "none", 2, -1);
    one->progress.tokens_per_second = 34420.168;
    one->progress.tflops_per_gpu = 400;
    one->progress.has_loss = true;
    one->progress.loss = 2.5;
    inventory_add_gpu(&one->inventory, "NVIDIA H200");
    inventory_add_network(&one->inventory, "IB");
    fixture->inputs[1].peak_memory = 1 << 30;
    comparison_make(&fixture->comparison, fixture->inputs, fixture->len, &goal);
    const struct comparison_row *rows = fixture->comparison.rows;
    assert_int_equal(fixture->comparison.reference, 1);
    assert_int_equal(rows[0].nodes, 3);
    assert_int_equal(rows[0].gpus, 24);
    assert_int_equal(rows[0].global_batch, 24);
    assert_near(rows[0].samples_per_second, 3.858521);
    assert_near(rows[0].speedup, 2.29582);
    assert_near(rows[0].efficiency, 0.76527);
    assert_null(rows[0].network);
    assert_true(rows[0].hours < 0);
    assert_near(rows[1].speedup, 1);
    assert_near(rows[1].efficiency, 1);
    assert_near(rows[1].mfu, 0.40445);
    assert_near(rows[1].hours, 274.386936);
    assert_string_equal(rows[1].network, "IB");
    assert_int_equal(rows[1].peak_memory, 1 << 30);
    assert_true(rows[1].has_loss);
    assert_int_equal(rows[2].global_batch, 16);
    assert_true(rows[2].speedup < 0 && rows[2].efficiency < 0 && rows[2].samples_per_second < 0);
}

/* Without a number of processes runs are as large as their nodes are many. */
static void test_nodes_count_where_gpus_are_unknown(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "one", 1, 4)->nproc_per_node = 0;
    add_run(fixture, "two", 2, 5)->nproc_per_node = 0;
    compare(fixture);
    assert_int_equal(fixture->comparison.rows[1].gpus, -1);
    assert_near(fixture->comparison.rows[1].speedup, 1.6);
    assert_near(fixture->comparison.rows[1].efficiency, 0.8);
}

static void test_peak_rates(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double tflops;
    } rows[] = {
        {"NVIDIA H200", 989},
        {"NVIDIA H200 NVL", 835.5},
        {"NVIDIA H100 80GB HBM3", 989},
        {"NVIDIA H100 PCIe", 756},
        {"NVIDIA H100 NVL", 835.5},
        {"NVIDIA A100-SXM4-80GB", 312},
        {"NVIDIA A100 80GB PCIe", 312},
        {"NVIDIA A10", 125},
        {"NVIDIA A10G", -1},
        {"NVIDIA L4", 121},
        {"NVIDIA L40S", 362},
        {"NVIDIA GH200 480GB", 989},
        {"NVIDIA B200", 2250},
        {"NVIDIA GB200", 2500},
        {"Tesla V100-SXM2-32GB", 125},
        {"Tesla V100-PCIE-16GB", 112},
        {"NVIDIA GeForce GTX 1080", -1},
        {"", -1},
    };
    FOR_ROWS(i, rows, rows[i].model) {
        assert_near(gpu_peak_tflops(rows[i].model), rows[i].tflops);
    }
}

static void test_nodes_of_several_models_have_no_utilization(void **state)
{
    struct fixture *fixture = *state;
    struct run *run = add_run(fixture, "one", 1, 4.76);
    run->progress.tflops_per_gpu = 400;
    inventory_add_gpu(&run->inventory, "NVIDIA H200");
    inventory_add_gpu(&run->inventory, "NVIDIA A100-SXM4-80GB");
    compare(fixture);
    assert_true(fixture->comparison.rows[0].mfu < 0);
    assert_null(fixture->comparison.verdict);
}

/* --- verdicts ----------------------------------------------------------------------------------------- */

static void test_sockets_beside_a_fast_port(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    use_network(add_run(fixture, "n2", 2, 20.71), "Socket", "eth0", 25, "mlx5_0", 400);
    assert_string_equal(
        compare(fixture),
        "2 nodes are slower than 1: NCCL used sockets at 25 Gb/s while mlx5_0 400 Gb/s is up");
}

static void test_what_keeps_nccl_off_the_port(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    struct run *run = add_run(fixture, "n2", 2, 20.71);
    use_network(run, "Socket", "eth0", 25, "mlx5_0", 400);
    run->spec = xstrdup("{\"env\": {\"NCCL_IB_DISABLE\": \"1\"}}");
    assert_string_equal(compare(fixture), "2 nodes are slower than 1: NCCL used sockets at 25 Gb/s while "
                                          "mlx5_0 400 Gb/s is up (NCCL_IB_DISABLE=1)");
}

static void test_what_a_check_found_about_the_port(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    struct run *run = add_run(fixture, "n2", 2, 20.71);
    use_network(run, "Socket", "eth0", -1, "mlx5_0", 400);
    run->findings =
        xstrdup("[{\"id\": \"shm\", \"title\": \"small\"}, {\"id\": \"ib\", \"title\": \"no verbs\"}]");
    assert_string_equal(compare(fixture), "2 nodes are slower than 1: NCCL used sockets while "
                                          "mlx5_0 400 Gb/s is up (no verbs)");
}

/* A port that is no faster explains nothing. */
static void test_sockets_without_a_faster_port(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    struct run *run = add_run(fixture, "n4", 4, 27.75);
    use_network(run, "Socket", "eth0", 25, "mlx5_0", 25);
    assert_string_equal(compare(fixture), "4 nodes are slower than 1: NCCL used sockets at 25 Gb/s");
    comparison_release(&fixture->comparison);
    inventory_release(&run->inventory);
    use_network(run, "Socket", "eth0", 25, NULL, 0);
    assert_string_equal(compare(fixture), "4 nodes are slower than 1: NCCL used sockets at 25 Gb/s, and no "
                                          "InfiniBand or RoCE port is up");
}

static void test_good_scaling_needs_no_reason(void **state)
{
    struct fixture *fixture = *state;
    use_network(add_run(fixture, "n2", 2, 5.36), "Socket", "eth0", 25, "mlx5_0", 400);
    add_run(fixture, "n1", 1, 4.76);
    assert_string_equal(compare(fixture), "2 nodes are 1.78 times as fast as 1 (89 % efficiency)");
}

static void test_communication_bound(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    struct run *run = add_run(fixture, "n3", 3, 10);
    use_network(run, "IB", "eth0", 25, "mlx5_0", 400);
    run->inventory.direct = INVENTORY_DIRECT_NO;
    assert_string_equal(compare(fixture),
                        "3 nodes are 1.43 times as fast as 1 (48 % efficiency), bound by communication: NCCL "
                        "copies through the processor's memory, without GPUDirect RDMA");
}

static void test_an_unknown_network_is_told(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "n1", 1, 4.76);
    struct run *run = add_run(fixture, "n3", 3, 6.22);
    inventory_add_gpu(&run->inventory, "NVIDIA H200");
    assert_string_equal(
        compare(fixture),
        "3 nodes are 2.3 times as fast as 1 (77 % efficiency): its logs do not name the network "
        "that NCCL used; with NCCL_DEBUG=INFO they do");
}

/* The run that is bad is spoken of, by its name when others are as large. */
static void test_the_bad_one_of_several(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "one", 1, 4.76);
    use_network(add_run(fixture, "eth", 2, 20.71), "Socket", "eth0", 25, "mlx5_0", 400);
    use_network(add_run(fixture, "ib", 2, 5.36), "IB", "eth0", 25, "mlx5_0", 400);
    use_network(add_run(fixture, "ib3", 3, 6.22), "IB", "eth0", 25, "mlx5_0", 400);
    assert_string_equal(compare(fixture),
                        "'eth' on 2 nodes is slower than 'one' on 1: NCCL used sockets at 25 "
                        "Gb/s while mlx5_0 400 Gb/s is up");
}

static void test_the_largest_of_good_ones(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "one", 1, 4.76);
    add_run(fixture, "ib3", 3, 6.22);
    add_run(fixture, "ib2", 2, 5.36);
    assert_string_equal(compare(fixture), "3 nodes are 2.3 times as fast as 1 (77 % efficiency)");
}

static void test_runs_of_one_size(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "z0", 2, 3.20)->spec = xstrdup("{\"zero_stage\": 0}");
    add_run(fixture, "z1", 2, 2.61)->spec = xstrdup("{\"zero_stage\": 1}");
    assert_string_equal(compare(fixture),
                        "'z1' is 1.23 times as fast as 'z0' on as many nodes: zero_stage 1 instead of 0");
}

static void test_equal_runs(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "a", 2, 3.20);
    add_run(fixture, "b", 2, 3.24);
    assert_string_equal(compare(fixture), "the 2 runs are equally fast, within 3 %");
}

static void test_runs_without_rates(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "a", 2, -1);
    assert_null(compare(fixture));
    comparison_release(&fixture->comparison);
    add_run(fixture, "b", 2, 3);
    add_run(fixture, "c", 2, -1);
    assert_string_equal(compare(fixture),
                        "no verdict: 'a' tells no samples per second in its logs; 'c' tells no "
                        "samples per second in its logs; to read them from the program's own lines, set "
                        "'progress.pattern' in the job file");
    fixture->runs[0].state = fixture->runs[2].state = RUN_FAILED;
    comparison_release(&fixture->comparison);
    assert_string_equal(compare(fixture), "no verdict: 'a' failed; 'c' failed");
    fixture->runs[0].state = RUN_LOST;
    fixture->runs[2].state = RUN_DEGRADED;
    comparison_release(&fixture->comparison);
    assert_string_equal(compare(fixture), "no verdict: 'a' is lost; 'c' is degraded");
    fixture->runs[2].state = RUN_FINISHED;
    fixture->runs[2].progress.tokens_per_second = 1000;
    comparison_release(&fixture->comparison);
    assert_non_null(strstr(compare(fixture), "'c' tells tokens but no samples per second in its logs; to "));
}

/* What is noise in one direction is noise in the other. */
static void test_sizes_that_are_equally_fast(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "one", 1, 4);
    add_run(fixture, "two", 2, 8.08);
    assert_string_equal(compare(fixture),
                        "2 nodes are as fast as 1 (50 % efficiency), bound by communication");
    comparison_release(&fixture->comparison);
    fixture->runs[1].progress.samples_per_second = 16 / 8.4;
    assert_string_equal(compare(fixture), "2 nodes are slower than 1");
}

/* As many nodes, but more GPUs in each. */
static void test_sizes_that_differ_by_gpus_alone(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "b8", 1, 2);
    add_run(fixture, "e16", 1, 3)->nproc_per_node = 16;
    add_run(fixture, "f8", 1, 2);
    assert_string_equal(compare(fixture), "'e16' on 16 GPUs is slower than 'b8' on 8 GPUs");
}

/* However fast it was. */
static void test_a_run_that_failed_or_has_no_loss_wins_nothing(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "failed", 1, 1);
    add_run(fixture, "a", 2, 4);
    add_run(fixture, "b", 2, 3.2);
    add_run(fixture, "nan", 2, 1);
    fixture->runs[0].state = RUN_FAILED;
    fixture->runs[3].progress.nan = 5;
    assert_string_equal(compare(fixture),
                        "'b' is 1.25 times as fast as 'a' on as many nodes (left out: 'failed' failed; "
                        "'nan' has a loss that is not finite)");
    assert_int_equal(fixture->comparison.reference, 1);
    AUTO_FREE char *advice = comparison_recommend(&fixture->comparison, NULL);
    assert_string_equal(advice, "continue with 'b': 5 samples/s on 2 nodes, 1.25 times as fast as 'a'");
}

/* --- recommendations ------------------------------------------------------------------------------------ */

static void assert_recommended(struct fixture *fixture, const bool *trial, const char *wanted)
{
    compare(fixture);
    AUTO_FREE char *got = comparison_recommend(&fixture->comparison, trial);
    assert_string_equal(got, wanted);
}

static void test_the_fastest_is_recommended(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "z0", 2, 4);
    add_run(fixture, "z1", 2, 3.2);
    fixture->inputs[1].peak_memory = INT64_C(30) << 30;
    assert_recommended(
        fixture, NULL,
        "continue with 'z1': 5 samples/s on 2 nodes, 1.25 times as fast as 'z0', at most 30.0 GiB of a GPU");
}

static void test_less_memory_at_the_same_speed(void **state)
{
    struct fixture *fixture = *state;
    static const int64_t gib[] = {44, 31, 28};
    add_run(fixture, "z0", 2, 3.20);
    add_run(fixture, "z1", 2, 3.22);
    add_run(fixture, "z2", 2, 3.68);
    for (size_t i = 0; i < ARRAY_LEN(gib); i++) {
        fixture->inputs[i].peak_memory = gib[i] << 30;
    }
    assert_recommended(
        fixture, NULL,
        "continue with 'z1': 4.969 samples/s on 2 nodes, as fast as 'z0' with 13.0 GiB less memory a GPU, at "
        "most 31.0 GiB of a GPU");
}

static void test_nodes_that_do_not_help(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "one", 1, 4.76);
    add_run(fixture, "two", 2, 20.71);
    assert_recommended(fixture, NULL,
                       "continue with 'one': 1.681 samples/s on 1 node, 2.18 times as fast as 'two'; more "
                       "nodes are no faster");
}

/* A trial counts only where there is nothing else. */
static void test_trials(void **state)
{
    struct fixture *fixture = *state;
    static const bool all[] = {true, true};
    static const bool first[] = {true, false};
    add_run(fixture, "smoke", 2, 1);
    add_run(fixture, "z0", 2, 4);
    assert_recommended(fixture, first, "continue with 'z0': 4 samples/s on 2 nodes");
    comparison_release(&fixture->comparison);
    assert_recommended(fixture, all,
                       "continue with 'smoke': 16 samples/s on 2 nodes, 4 times as fast as 'z0'");
}

static void test_nothing_to_recommend(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "a", 2, -1);
    assert_recommended(fixture, NULL, NULL);
}

/* --- differences -------------------------------------------------------------------------------------- */

static const char *value_of(const struct differences *differences, const char *key, size_t run)
{
    for (size_t i = 0; i < differences->len; i++) {
        if (strcmp(differences->items[i].key, key) == 0) {
            return differences->items[i].values[run];
        }
    }
    return "(the same)";
}

static void test_differences(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "lr-1", 2, 3)->spec =
        xstrdup("{\"job\": \"train\", \"zero_stage\": 0, \"program\": [\"train.py\"],"
                "\"args\": [\"data\", \"--lr\", \"1e-4\", \"--clip\", \"-1\", \"--bf16\", \"--seed=1\"],"
                "\"env\": {\"NCCL_DEBUG\": \"INFO\", \"OUT\": \"/ckpt/lr-1/x\", \"OMP_NUM_THREADS\": \"8\","
                " \"NNODES\": \"2\", \"A\": \"1\"}, \"given\": [\"NCCL_DEBUG\", \"OUT\", \"A\"]}");
    add_run(fixture, "lr-2", 3, 3)->spec = xstrdup(
        "{\"job\": \"train\", \"zero_stage\": 1, \"program\": [\"train.py\"],"
        "\"args\": [\"data\", \"--lr\", \"2e-4\", \"--clip\", \"-1\", \"--seed\", \"1\", \"--tp\", \"2\"],"
        "\"env\": {\"NCCL_DEBUG\": \"WARN\", \"OUT\": \"/ckpt/lr-2/x\", \"OMP_NUM_THREADS\": \"4\","
        " \"NNODES\": \"3\"}, \"given\": [\"NCCL_DEBUG\", \"OUT\"]}");
    compare(fixture);
    const struct differences *found = &fixture->comparison.differences;
    static const struct {
        const char *key, *first, *second;
    } rows[] = {
        {"zero_stage", "0", "1"},      {"args.lr", "1e-4", "2e-4"},        {"args.bf16", "true", NULL},
        {"args.tp", NULL, "2"},        {"env.NCCL_DEBUG", "INFO", "WARN"}, {"env.A", "1", NULL},
        {"hosts", "g[0-1]", "g[0-2]"},
    };
    FOR_ROWS(i, rows, rows[i].key) {
        assert_string_equal(value_of(found, rows[i].key, 0), rows[i].first);
        assert_string_equal(value_of(found, rows[i].key, 1), rows[i].second);
    }
    assert_int_equal(found->len, ARRAY_LEN(rows));
}

/* A part of a word that looks like the run's name is no name. */
static void test_names_within_words_differ(void **state)
{
    struct fixture *fixture = *state;
    add_run(fixture, "a", 2, 3)->spec = xstrdup("{\"env\": {\"F\": \"data-a.bin\"}, \"given\": [\"F\"]}");
    add_run(fixture, "b", 2, 3)->spec = xstrdup("{\"env\": {\"F\": \"data-b.bin\"}, \"given\": [\"F\"]}");
    compare(fixture);
    assert_string_equal(value_of(&fixture->comparison.differences, "env.F", 0), "data-a.bin");
}

/* --- logs of real trainings --------------------------------------------------------------------------- */

static void read_node(struct run *run, const char *name)
{
    AUTO_FREE char *text = read_data(name);
    struct training_progress progress;
    struct progress_reader *reader = progress_reader_new(NULL, 2);
    progress_reader_feed(reader, text, strlen(text));
    progress_reader_end(reader, &progress);
    progress_merge(&run->progress, &progress);
}

/* As the node's script picks the lines out. */
static void read_choices(struct run *run, const char *name)
{
    AUTO_FREE char *text = read_data(name);
    AUTO_STRLIST struct strlist literals = STRLIST_INIT;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    struct scanner *scanner = scanner_new();
    inventory_list_literals(&literals);
    for (size_t i = 0; i < literals.len; i++) {
        const char *at = strstr(text, literals.items[i]);
        while (at && at > text && at[-1] != '\n') {
            at--;
        }
        AUTO_FREE char *line = at ? xstrndup(at, strcspn(at, "\n")) : NULL;
        assert_int_equal(line ? facts_add(&facts, "nccl", line, NULL) : 0, 0);
    }
    facts_add(&facts, "gpu", "NVIDIA H200", NULL);
    inventory_take(&run->inventory, scanner, &facts);
    scanner_free(scanner);
}

static struct run *add_logged(struct fixture *fixture, const char *name)
{
    struct run *run = add_run(fixture, name, 2, -1);
    run->nproc_per_node = 1;
    run->global_batch = 0;
    run->progress = PROGRESS_NONE;
    return run;
}

static void test_logs_of_megatron(void **state)
{
    struct fixture *fixture = *state;
    struct run *run = add_logged(fixture, "zero2");
    read_node(run, "healthy/zero2_node0.log");
    read_node(run, "healthy/zero2_node1.log");
    read_choices(run, "healthy/zero2_node0.log");
    read_choices(run, "healthy/zero2_node1.log");
    compare(fixture);
    const struct comparison_row *row = &fixture->comparison.rows[0];
    assert_int_equal(run->progress.iteration, 8);
    assert_int_equal(run->progress.total, 8);
    assert_int_equal(row->gpus, 2);
    assert_int_equal(row->global_batch, 32);
    assert_near(row->step_time_s, 0.558);
    assert_near(row->samples_per_second, 32 / 0.558);
    assert_near(row->tokens_per_second, 32 / 0.558 * 512);
    assert_near(row->tflops_per_gpu, 3.2);
    assert_near(row->mfu, 3.2 / 989);
    assert_near(row->loss, 9.768274);
    assert_string_equal(row->network, "Socket");
    assert_string_equal(run->inventory.nccl_version, "2.28.9");
    assert_string_equal(run->inventory.interfaces.items[0], "eth0");
    assert_int_equal(run->inventory.direct, INVENTORY_DIRECT_UNKNOWN);
}

static void test_logs_of_transformers(void **state)
{
    struct fixture *fixture = *state;
    struct run *run = add_logged(fixture, "hf");
    read_node(run, "healthy/hf_node0.log");
    read_node(run, "healthy/hf_node1.log");
    compare(fixture);
    const struct comparison_row *row = &fixture->comparison.rows[0];
    assert_int_equal(run->progress.iteration, 60);
    assert_int_equal(run->progress.total, 60);
    assert_int_equal(row->global_batch, 16);
    assert_near(row->samples_per_second, 90.01);
    assert_near(row->loss, 6.88);
    assert_null(row->network);
}

/* Against each other: of one size, and what a second is worth in each. */
static void test_real_logs_beside_each_other(void **state)
{
    struct fixture *fixture = *state;
    struct run *megatron = add_logged(fixture, "zero2"), *hf = add_logged(fixture, "hf");
    read_node(megatron, "healthy/zero2_node0.log");
    read_node(megatron, "healthy/zero2_node1.log");
    read_node(hf, "healthy/hf_node0.log");
    assert_string_equal(compare(fixture), "'hf' is 1.57 times as fast as 'zero2' on as many nodes");
    assert_near(fixture->comparison.rows[1].speedup, 90.01 / (32 / 0.558));
}

#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_FIXTURE(test_figures),
        ON_FIXTURE(test_nodes_count_where_gpus_are_unknown),
        cmocka_unit_test(test_peak_rates),
        ON_FIXTURE(test_nodes_of_several_models_have_no_utilization),
        ON_FIXTURE(test_sockets_beside_a_fast_port),
        ON_FIXTURE(test_what_keeps_nccl_off_the_port),
        ON_FIXTURE(test_what_a_check_found_about_the_port),
        ON_FIXTURE(test_sockets_without_a_faster_port),
        ON_FIXTURE(test_good_scaling_needs_no_reason),
        ON_FIXTURE(test_communication_bound),
        ON_FIXTURE(test_an_unknown_network_is_told),
        ON_FIXTURE(test_the_bad_one_of_several),
        ON_FIXTURE(test_the_largest_of_good_ones),
        ON_FIXTURE(test_runs_of_one_size),
        ON_FIXTURE(test_equal_runs),
        ON_FIXTURE(test_runs_without_rates),
        ON_FIXTURE(test_sizes_that_are_equally_fast),
        ON_FIXTURE(test_sizes_that_differ_by_gpus_alone),
        ON_FIXTURE(test_a_run_that_failed_or_has_no_loss_wins_nothing),
        ON_FIXTURE(test_the_fastest_is_recommended),
        ON_FIXTURE(test_less_memory_at_the_same_speed),
        ON_FIXTURE(test_nodes_that_do_not_help),
        ON_FIXTURE(test_trials),
        ON_FIXTURE(test_nothing_to_recommend),
        ON_FIXTURE(test_differences),
        ON_FIXTURE(test_names_within_words_differ),
        ON_FIXTURE(test_logs_of_megatron),
        ON_FIXTURE(test_logs_of_transformers),
        ON_FIXTURE(test_real_logs_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
