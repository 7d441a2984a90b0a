/* Progress: a sample for every format, own patterns, medians, and logs that are cut anywhere. */
#include <math.h>

#include "insight/progress.h"
#include "insight/progress_internal.h"
#include "insight_test.h"

static struct training_progress read_progress(const char *text, const char *pattern, unsigned long world,
                                              size_t piece)
{
    struct training_progress progress;
    struct progress_reader *reader = progress_reader_new(pattern, world);
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        size_t take = piece == 0 || piece > len - at ? len - at : piece;
        progress_reader_feed(reader, text + at, take);
        at += take;
    }
    progress_reader_end(reader, &progress);
    return progress;
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-6 * (1 + fabs(wanted))) {
        fail_msg("%.9g, not %.9g", got, wanted);
    }
}

/* A line of each format, and one word of what it gives. */
static const struct {
    const char *id, *line;
    int64_t iteration, total;
    double loss, time_s, tflops, samples_per_second, tokens;
    int64_t other; /* checkpoint, world size, sequence or skipped */
} samples[] = {
    {"megatron",
     " [2026-04-14 10:00:00.123456] iteration        5/      20 | consumed samples:           40 | elapsed "
     "time per "
     "iteration (ms): 123.4 | throughput per GPU (TFLOP/s/GPU): 1.2 | learning rate: 1.000000E-04 | global "
     "batch size: "
     "    8 | lm loss: 6.931472E+00 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   3 "
     "| number of "
     "nan iterations:   0 |",
     5, 20, 6.931472, 0.1234, 1.2, -1, -1, 3},
    {"megatron",
     "[default1]: iteration      100/  500000 | consumed samples:       204800 | elapsed time per iteration "
     "(ms): 5000.0 | "
     "learning rate: 1.500E-05 | global batch size:  2048 | lm loss: 9.1E+00 | loss scale: 1.0 | number of "
     "skipped "
     "iterations:   0 |",
     100, 500000, 9.1, 5, -1, -1, -1, 0},
    {"megatron-saved",
     "  [2026-04-14 10:00:00] successfully saved checkpoint from iteration     500 to /ckpt [ t 1/1, p 1/1 ]",
     -1, -1, -1, -1, -1, -1, -1, 500},
    {"megatron-world", "using world size: 32, data-parallel size: 32, context-parallel size: 1", -1, -1, -1,
     -1, -1, -1, -1, 32},
    {"megatron-sequence", "  seq_length ...................................... 512", -1, -1, -1, -1, -1, -1,
     -1, 512},
    {"dict", "{'loss': 2.345, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.01}", -1, -1, 2.345, -1,
     -1, -1, -1, -1},
    {"dict", "{'loss': '6.88', 'grad_norm': '0.5', 'learning_rate': '1e-05', 'epoch': '0.24'}", -1, -1, 6.88,
     -1, -1, -1, -1, -1},
    {"dict",
     "{'loss': '1.23', 'epoch': 0.1, 'global_step/max_steps': '50/1000', 'elapsed_time': '4m 6s', "
     "'remaining_time': '1h 18m "
     "8s', 'memory(GiB)': 69.1, 'train_speed(s/it)': 4.76}",
     50, 1000, 1.23, 4.76, -1, -1, -1, -1},
    {"dict",
     "{'loss': 1.5, 'global_step/max_steps': '5/10', 'percentage': '50.00%', 'train_speed(iter/s)': 0.5}", 5,
     10, 1.5, 2, -1, -1, -1, -1},
    {"dict", "{'lm loss': 1.0, 'loss': 1.5, 'iteration': '5/100'}", 5, 100, 1.5, -1, -1, -1, -1, -1},
    {"dict-end",
     "{'train_runtime': '10.67', 'train_samples_per_second': '90.01', 'train_steps_per_second': '5.625', "
     "'train_loss': '6.879'}",
     -1, -1, -1, 16 / 90.01, -1, 90.01, -1, -1},
    {"tqdm", "  5%|▌         | 50/1000 [04:06<1:18:08,  4.94s/it]", 50, 1000, -1, 4.94, -1, -1, -1, -1},
    {"tqdm", "Epoch 3: 100%|██████████| 60/60 [00:10<00:00,  5.00it/s, loss=6.5]", 60, 60, 6.5, 0.2, -1, -1,
     -1, -1},
    {"tqdm", "1|10|Loss: 1.5:   5%|▌         | 10/200 [00:10<03:00,  1.05s/it]", 10, 200, 1.5, 1.05, -1, -1,
     -1, -1},
    {"tqdm", "  0%|          | 0/60 [00:00<?, ?it/s]", 0, 60, -1, -1, -1, -1, -1, -1},
    {"deepspeed-step",
     "[2026-11-29 10:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, lr=[1e-05], "
     "mom=[(0.9, 0.999)]",
     10, -1, -1, -1, -1, -1, -1, 2},
    {"deepspeed-rate",
     "[INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=12.3, "
     "CurrSamplesPerSec=12.5, "
     "MemAllocated=1.2GB, MaxMemAllocated=3.4GB",
     10, -1, -1, -1, -1, 12.5, -1, -1},
    {"torchtitan",
     "[rank0]:[titan] 2026-11-29 10:00:00,000 - root - INFO - \033[31mstep: 10  \033[32mloss:  4.1234  "
     "\033[38;2;180;60;0m"
     "grad_norm:  1.2  memory: 30.10GiB(38.00%)  tps: 5,123  tflops: 300.10  mfu: 30.40%\033[39m",
     10, -1, 4.1234, -1, 300.1, -1, 5123 * 4, -1},
    {"torchtitan-start",
     "Training starts at step 1, with local batch size 8, global batch size 64, sequence length 8192, total "
     "steps 1000 (warmup 200)",
     -1, 1000, -1, -1, -1, -1, -1, 8192},
    {"torchtune", "Step 10 | loss:1.25 lr:0.0003 tokens_per_second_per_gpu:1234.5 peak_memory_active:20.1",
     10, -1, 1.25, -1, -1, -1, 1234.5 * 4, -1},
    {"plain", "step 31/60 loss 0.3406 0.050 s/step", 31, 60, 0.3406, 0.05, -1, -1, -1, -1},
    {"plain-title", "[rank0]: Step 31/60, loss: 0.5", 31, 60, 0.5, -1, -1, -1, -1, -1},
};

static void test_every_format_has_a_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < progress_formats_len; i++) {
        bool found = false;
        for (size_t j = 0; j < ARRAY_LEN(samples); j++) {
            found = found || strcmp(samples[j].id, progress_formats[i].id) == 0;
        }
        if (!found) {
            fail_msg("the format '%s' has no sample", progress_formats[i].id);
        }
    }
}

static void test_samples_give_their_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct training_progress got = read_progress(samples[i].line, NULL, 4, 0);
        if (!got.known || got.iteration != samples[i].iteration || got.total != samples[i].total) {
            fail_msg("%s: %lld/%lld of '%s'", samples[i].id, (long long)got.iteration, (long long)got.total,
                     samples[i].line);
        }
        assert_int_equal(got.has_loss, samples[i].loss >= 0);
        if (got.has_loss) {
            assert_near(got.loss, samples[i].loss);
        }
        assert_near(got.step_time_s, samples[i].time_s);
        assert_near(got.tflops_per_gpu, samples[i].tflops);
        if (samples[i].samples_per_second >= 0) {
            assert_near(got.samples_per_second, samples[i].samples_per_second);
        }
        assert_near(got.tokens_per_second, samples[i].tokens);
        bool other = samples[i].other < 0 || got.skipped == samples[i].other ||
                     got.checkpoint == samples[i].other || got.world_size == samples[i].other ||
                     strstr(samples[i].line, "8192") || strstr(samples[i].line, "512");
        if (!other) {
            fail_msg("%s: no %lld in '%s'", samples[i].id, (long long)samples[i].other, samples[i].line);
        }
    }
}

/* Five steps, the first of which holds the start-up; the sequence from the dump of arguments. */
static const char megatron[] = "  seq_length ...................................... 512\n"
                               " iteration 1/ 8 | elapsed time per iteration (ms): 2332.4 | global batch "
                               "size: 32 | lm loss: 1.047930E+01 | number of nan iterations: 0 |\n"
                               " iteration 2/ 8 | elapsed time per iteration (ms): 500.0 | global batch "
                               "size: 32 | lm loss: 1.0E+01 | number of nan iterations: 0 |\n"
                               " iteration 3/ 8 | elapsed time per iteration (ms): 400.0 | global batch "
                               "size: 32 | learning rate: 1E-4 | number of nan iterations: 1 |\n"
                               " iteration 4/ 8 | elapsed time per iteration (ms): 9000.0 | global batch "
                               "size: 32 | lm loss: 9.9E+00 | number of nan iterations: 0 |\n"
                               " validation loss at iteration 4 on validation set | lm loss value: "
                               "9.653330E+00 | lm loss PPL: 1.557356E+04 |\n";

static void test_a_run_of_megatron_adds_up(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 40; piece += 7) {
        struct training_progress got = read_progress(megatron, NULL, 2, piece);
        assert_int_equal(got.iteration, 4);
        assert_int_equal(got.total, 8);
        assert_near(got.loss, 9.9);
        assert_near(got.step_time_s, 0.5);
        assert_near(got.samples_per_second, 64);
        assert_near(got.tokens_per_second, 64 * 512);
        assert_near(got.eta_s, 2);
        assert_int_equal(got.nan, 1);
    }
}

/* What the job's arguments say of a step counts where the log is silent, and only there. */
static struct training_progress read_known(const char *text, unsigned batch, unsigned sequence)
{
    struct training_progress progress;
    struct progress_reader *reader = progress_reader_new(NULL, 4);
    progress_reader_set_step(reader, batch, sequence);
    progress_reader_feed(reader, text, strlen(text));
    progress_reader_end(reader, &progress);
    return progress;
}

static void test_the_arguments_tell_what_a_log_does_not(void **state)
{
    (void)state;
    struct training_progress got = read_known(" 50%|█████     | 30/60 [00:05<00:04,  5.00it/s]\n", 16, 100);
    assert_int_equal(got.global_batch, 16);
    assert_int_equal(got.sequence, 100);
    assert_near(got.samples_per_second, 80);
    assert_near(got.tokens_per_second, 8000);
    got = read_known(megatron, 16, 100);
    assert_int_equal(got.global_batch, 32);
    assert_int_equal(got.sequence, 512);
    assert_near(got.samples_per_second, 64);
    got =
        read_known("epoch=0/micro_step=10/global_step=10, CurrSamplesPerSec=12.5, MemAllocated=1GB\n", 50, 0);
    assert_near(got.step_time_s, 4);
    assert_near(got.samples_per_second, 12.5);
    got = read_known("nothing\n", 16, 100);
    assert_false(got.known);
    assert_near(got.samples_per_second, -1);
}

/* The rates at the end of transformers' Trainer come to the samples of a step, or to nothing. */
static void test_the_last_rates_tell_the_batch(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int64_t batch;
    } rows[] = {
        {"{'train_samples_per_second': '90.01', 'train_steps_per_second': '5.625'}", 16},
        {"{'train_samples_per_second': 7.0, 'train_steps_per_second': 2.0}", -1},
        {"{'train_samples_per_second': 7.0, 'train_steps_per_second': 0.0}", -1},
        {"{'train_samples_per_second': 7.0}", -1},
    };
    FOR_ROWS(i, rows, rows[i].line) {
        assert_int_equal(read_progress(rows[i].line, NULL, 0, 0).global_batch, rows[i].batch);
    }
}

static void test_a_loss_that_is_no_number_is_counted(void **state)
{
    (void)state;
    struct training_progress got =
        read_progress("{'loss': 2.0}\n{'loss': nan}\n{'loss': 'nan'}\n", NULL, 0, 0);
    assert_int_equal(got.nan, 2);
    assert_near(got.loss, 2.0);
}

/* As the ends of a log are read again and again, the parts overlap or leave lines out. */
static void test_counts_of_parts_that_overlap(void **state)
{
    (void)state;
#define STEP(number, skipped, nan)                                                                           \
    " iteration " number "/ 9 | elapsed time per iteration (ms): 5 | number of skipped iterations: " skipped \
    " | number of nan iterations: " nan " |\n"
    static const struct {
        const char *part;
        int64_t nan, skipped;
    } rows[] = {
        {STEP("1", "2", "1") STEP("2", "0", "1"), 2, 2},
        {STEP("2", "0", "1") STEP("3", "0", "0"), 2, 2},
        {STEP("5", "1", "0") STEP("6", "0", "3"), 5, 3},
        {STEP("6", "0", "3"), 5, 3},
    };
    struct training_progress all = PROGRESS_NONE;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct progress_reader *reader = progress_reader_new(NULL, 0);
        struct training_progress part;
        progress_reader_set_seen(reader, &all);
        progress_reader_feed(reader, rows[i].part, strlen(rows[i].part));
        progress_reader_end(reader, &part);
        progress_merge(&all, &part);
        assert_int_equal(all.nan, rows[i].nan);
        assert_int_equal(all.skipped, rows[i].skipped);
    }
}

static void test_bars_of_other_things_do_not_count(void **state)
{
    (void)state;
    struct training_progress got =
        read_progress("Loading checkpoint shards: 100%|███| 4/4 [00:01<00:00,  4.00it/s]\n"
                      " 50%|█████     | 30/60 [00:05<00:04,  5.00it/s]\r"
                      "Writing model shards: 100%|███| 1/1 [00:00<00:00, 136.25it/s]\r"
                      " 50%|█████     | 4/8 [00:00<00:00, 136.25it/s]\r\n",
                      NULL, 0, 0);
    assert_int_equal(got.iteration, 30);
    assert_int_equal(got.total, 60);
    assert_near(got.step_time_s, 0.2);
}

static void test_a_program_may_have_a_pattern_of_its_own(void **state)
{
    (void)state;
    const char *pattern =
        "step (?P<iteration>\\d+)/(?P<total>\\d+) loss (?P<loss>\\S+) (?P<step_time>[0-9.]+) s/step";
    struct training_progress got = read_progress(
        "step 30/60 loss 0.3000 9.0 s/step\nstep 31/60 loss 0.2500 0.050 s/step\nother\n", pattern, 0, 0);
    assert_int_equal(got.iteration, 31);
    assert_int_equal(got.total, 60);
    assert_near(got.loss, 0.25);
    assert_near(got.step_time_s, 0.05);
    got = read_progress("step 31/60 loss nan 0.050 s/step\n", pattern, 0, 0);
    assert_int_equal(got.nan, 1);
    assert_false(read_progress("step 31 of 60\n", pattern, 0, 0).known);
}

static void assert_pattern_refused(const char *pattern, const char *word)
{
    struct error err = ERROR_INIT;
    struct progress_pattern parsed;
    assert_int_equal(progress_pattern_parse(pattern, &parsed, &err), -1);
    assert_non_null(strstr(err.text, word));
    assert_true(err.hint[0] != '\0');
}

static void test_patterns_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_pattern_refused("step (\\d+)", "no group iteration");
    assert_pattern_refused("(?P<iteratoin>\\d+)", "unknown group 'iteratoin'");
    assert_pattern_refused("(?:x)(?P<iteration>\\d+)", "not supported");
    assert_pattern_refused("(?P<iteration>\\d+) \\1", "not supported");
    assert_pattern_refused("(?P<iteration>\\d+", "not a valid regular expression");
}

static void test_what_another_node_says_is_merged(void **state)
{
    (void)state;
    struct training_progress first =
        read_progress(" 50%|█████     | 30/60 [00:05<00:04,  5.00it/s]\n", NULL, 0, 0);
    const struct training_progress last =
        read_progress("{'loss': 2.0}\n  seq_length ....... 512\n", NULL, 0, 0);
    progress_merge(&first, &last);
    assert_int_equal(first.iteration, 30);
    assert_near(first.loss, 2.0);
    assert_near(first.eta_s, 6);
}

/* The length of a sample stands in the log of node 0, the steps in that of the last node: tokens follow, and
 * go on following when the steps become slower. */
static void test_tokens_of_two_nodes(void **state)
{
    (void)state;
    static const char step[] =
        " iteration 5/ 8 | elapsed time per iteration (ms): 500.0 | global batch size: 32 |\n";
    static const char slower[] =
        " iteration 6/ 8 | elapsed time per iteration (ms): 1000.0 | global batch size: 32 |\n";
    struct training_progress all = PROGRESS_NONE;
    const struct training_progress rows[] = {
        read_progress(step, NULL, 2, 0),
        read_progress("  seq_length ...................................... 512\n", NULL, 2, 0),
        read_progress(slower, NULL, 2, 0),
    };
    progress_merge(&all, &rows[0]);
    assert_near(all.tokens_per_second, -1);
    progress_merge(&all, &rows[1]);
    assert_near(all.tokens_per_second, 64 * 512);
    progress_merge(&all, &rows[2]);
    assert_near(all.tokens_per_second, 32 * 512);
    assert_int_equal(all.global_batch, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_has_a_sample),
        cmocka_unit_test(test_samples_give_their_figures),
        cmocka_unit_test(test_a_run_of_megatron_adds_up),
        cmocka_unit_test(test_a_loss_that_is_no_number_is_counted),
        cmocka_unit_test(test_counts_of_parts_that_overlap),
        cmocka_unit_test(test_bars_of_other_things_do_not_count),
        cmocka_unit_test(test_a_program_may_have_a_pattern_of_its_own),
        cmocka_unit_test(test_patterns_that_cannot_be_are_refused),
        cmocka_unit_test(test_what_another_node_says_is_merged),
        cmocka_unit_test(test_the_arguments_tell_what_a_log_does_not),
        cmocka_unit_test(test_the_last_rates_tell_the_batch),
        cmocka_unit_test(test_tokens_of_two_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
