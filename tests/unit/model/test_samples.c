/* Samples: what is written is read again, a torn end is left out, and fewer of them still tell the whole run.
 */

#include <math.h>

#include "model/samples.h"
#include "test.h"

#define MIB ((int64_t)1 << 20)

static struct sample training(int64_t time_ms, unsigned attempt, int64_t iteration, double loss)
{
    struct training_progress progress = PROGRESS_NONE;
    progress.iteration = iteration;
    progress.has_loss = true;
    progress.loss = loss;
    progress.step_time_s = 0.5;
    progress.tokens_per_second = 81920;
    return sample_of_progress(&progress, attempt, time_ms);
}

static struct sample gpus(int64_t time_ms, unsigned attempt, size_t nodes, unsigned percent, int64_t used)
{
    struct sample sample = {.time_ms = time_ms, .attempt = attempt, .iteration = -1, .nodes_len = nodes};
    sample.nodes = xcalloc(nodes, sizeof(*sample.nodes));
    for (size_t i = 0; i < nodes; i++) {
        sample.nodes[i] = (struct gpu_sample){
            .utilization_mean = (uint8_t)percent,
            .utilization_max = (uint8_t)(percent + 1),
            .memory_mean = gpu_sample_units(used / 2),
            .memory_max = gpu_sample_units(used),
            .memory_total = gpu_sample_units(143771 * MIB),
        };
    }
    return sample;
}

static void add_training(struct samples *samples, int64_t time_ms, unsigned attempt, int64_t iteration,
                         double loss)
{
    struct sample sample = training(time_ms, attempt, iteration, loss);
    samples_add(samples, &sample);
}

static void add_gpus(struct samples *samples, int64_t time_ms, unsigned attempt, size_t nodes, int64_t used)
{
    struct sample sample = gpus(time_ms, attempt, nodes, 90, used);
    samples_add(samples, &sample);
}

static void decode(const struct str *bytes, size_t len, enum samples_kind kind, struct samples *out,
                   size_t *whole)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *copy = xcalloc(len + 1, 1); /* of exactly that size, for the sanitizers */
    memcpy(copy, bytes->data, len);
    int result = samples_decode(copy, len, kind, out, whole, &err);
    assert_null(err.kind);
    assert_int_equal(result, 0);
}

static void test_training_round_trip(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_TRAINING, .step_ms = 20000}, read;
    AUTO_STR struct str bytes = STR_INIT;
    size_t whole = 0;
    add_training(&samples, 1700000000123, 1, 40, -1.25);
    add_training(&samples, 1700000010123, 2, -1, 2.5);
    samples_encode_all(&samples, &bytes);
    decode(&bytes, bytes.len, SAMPLES_TRAINING, &read, &whole);
    assert_int_equal(whole, bytes.len);
    assert_int_equal(read.step_ms, 20000);
    assert_int_equal(read.len, 2);
    assert_true(read.items[0].time_ms == 1700000000123);
    assert_int_equal(read.items[0].attempt, 1);
    assert_int_equal(read.items[0].iteration, 40);
    assert_true(read.items[0].numbers[SAMPLE_LOSS] == -1.25);
    assert_true(read.items[0].numbers[SAMPLE_TOKENS] == 81920);
    assert_true(isnan(read.items[0].numbers[SAMPLE_SAMPLES]));
    assert_int_equal(read.items[1].iteration, -1);
    samples_release(&samples);
    samples_release(&read);
}

static void test_gpus_round_trip(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_GPUS, .step_ms = 30000}, read;
    AUTO_STR struct str bytes = STR_INIT;
    size_t whole = 0;
    add_gpus(&samples, 1000, 1, 4, 70000 * MIB);
    samples.items[0].nodes[2] = GPU_SAMPLE_NONE;
    samples_encode_all(&samples, &bytes);
    decode(&bytes, bytes.len, SAMPLES_GPUS, &read, &whole);
    assert_int_equal(read.len, 1);
    assert_int_equal(read.items[0].nodes_len, 4);
    assert_memory_equal(read.items[0].nodes, samples.items[0].nodes, 4 * sizeof(struct gpu_sample));
    assert_true(samples_peak_memory(&read, 0) == 70000 * MIB);
    assert_true(samples_peak_memory(&read, 1) == 70000 * MIB);
    assert_true(samples_peak_memory(&read, 2) == -1);
    assert_true(samples_peak_memory(&(struct samples){.kind = SAMPLES_GPUS}, 0) == -1);
    struct gpu_sample idle = {.memory_max = 0}; /* seen only before the program began to use it */
    struct sample early = {.attempt = 1, .nodes = &idle, .nodes_len = 1};
    assert_true(samples_peak_memory(&(struct samples){.kind = SAMPLES_GPUS, .items = &early, .len = 1}, 0) ==
                -1);
    samples_release(&samples);
    samples_release(&read);
}

static void test_memory_in_units(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes, kept;
    } rows[] = {
        {-1, -1},
        {0, 0},
        {1, 16 * MIB},
        {16 * MIB, 16 * MIB},
        {143771 * MIB, 143776 * MIB},
        {INT64_MAX, 65534 * 16 * MIB},
    };
    FOR_ROWS(i, rows, NULL) {
        assert_true(gpu_sample_bytes(gpu_sample_units(rows[i].bytes)) == rows[i].kept);
    }
}

/* Wherever a crash cut the file, all whole samples before are read, and writing can go on behind them. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_GPUS, .step_ms = 30000}, read;
    AUTO_STR struct str bytes = STR_INIT, header = STR_INIT;
    size_t whole = 0;
    for (int i = 0; i < 3; i++) {
        add_gpus(&samples, 1000 * (i + 1), 1, 3, 70000 * MIB);
    }
    samples_encode_all(&samples, &bytes);
    samples_encode_header(SAMPLES_GPUS, 30000, &header);
    size_t frame = (bytes.len - header.len) / 3;
    for (size_t len = header.len; len <= bytes.len; len++) {
        decode(&bytes, len, SAMPLES_GPUS, &read, &whole);
        assert_int_equal(read.len, (len - header.len) / frame);
        assert_int_equal(whole, header.len + read.len * frame);
        samples_release(&read);
    }
    bytes.data[header.len + frame + 20] ^= 1;
    decode(&bytes, bytes.len, SAMPLES_GPUS, &read, &whole);
    assert_int_equal(read.len, 1);
    samples_release(&read);
    memset(bytes.data + header.len + frame, 0, frame); /* as a file system may leave it after a power cut */
    decode(&bytes, bytes.len, SAMPLES_GPUS, &read, &whole);
    assert_int_equal(read.len, 1);
    samples_release(&read);
    samples_release(&samples);
}

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const struct error_kind *kind;
        const char *words;
    } rows[] = {
        {"mtlaunch samples 1 gpus 30000\n", NULL, NULL},
        {"", NULL, NULL},
        {"mtlaunch samples 2 gpus 30000 more\n", &kind_record_newer,
         "have format 2, and this version knows 1"},
        {"mtlaunch samples 1 training 10000\n", &kind_record_damaged, "not of the kind 'gpus'"},
        {"mtlaunch samples 1 gpus\n", &kind_record_damaged, "not of the kind 'gpus'"},
        {"mtlaunch samples 1 gpus 0\n", &kind_record_damaged, "not of the kind 'gpus'"},
        {"mtlaunch samples x gpus 1\n", &kind_record_damaged, "no format number"},
        {"mtlaunch samples", &kind_record_damaged, "do not begin with"},
        {"\1\2\3\n", &kind_record_damaged, "do not begin with"},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        struct samples read;
        struct error err = ERROR_INIT;
        size_t whole = 0;
        int result = samples_decode(rows[i].text, strlen(rows[i].text), SAMPLES_GPUS, &read, &whole, &err);
        assert_ptr_equal(err.kind, rows[i].kind);
        assert_int_equal(result, rows[i].kind ? -1 : 0);
        if (rows[i].words) {
            assert_non_null(strstr(err.text, rows[i].words));
        } else {
            assert_int_equal(read.len, 0);
        }
        samples_release(&read);
    }
}

static void test_thin_training(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_TRAINING, .step_ms = 10000};
    add_training(&samples, 1000, 1, 10, 4);
    add_training(&samples, 2000, 1, 20, 2);
    add_training(&samples, 3000, 1, 30, 1);
    add_training(&samples, 4000, 2, 20, 3); /* another attempt began at a checkpoint */
    add_training(&samples, 5000, 2, 30, 1);
    samples.items[4].numbers[SAMPLE_LOSS] = (double)NAN;
    samples_thin(&samples);
    assert_int_equal(samples.step_ms, 20000);
    assert_int_equal(samples.len, 3);
    assert_true(samples.items[0].time_ms == 2000 && samples.items[0].iteration == 20);
    assert_true(samples.items[0].numbers[SAMPLE_LOSS] == 3);
    assert_true(samples.items[1].iteration == 30 && samples.items[1].attempt == 1);
    assert_true(samples.items[2].iteration == 30 && samples.items[2].attempt == 2);
    assert_true(samples.items[2].numbers[SAMPLE_LOSS] == 3);
    samples_release(&samples);
}

static void test_thin_gpus(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_GPUS, .step_ms = 30000};
    add_gpus(&samples, 1000, 1, 2, 1600 * MIB);
    add_gpus(&samples, 2000, 1, 2, 3200 * MIB);
    samples.items[0].nodes[1] = GPU_SAMPLE_NONE;
    samples.items[1].nodes[0].utilization_mean = 71;
    samples_thin(&samples);
    assert_int_equal(samples.len, 1);
    assert_int_equal(samples.items[0].nodes[0].utilization_mean, 81);
    assert_int_equal(samples.items[0].nodes[0].utilization_max, 91);
    assert_true(gpu_sample_bytes(samples.items[0].nodes[0].memory_mean) == 1200 * MIB);
    assert_true(samples_peak_memory(&samples, 1) == 3200 * MIB);
    assert_int_equal(samples.items[0].nodes[1].utilization_mean, 90);
    samples_release(&samples);
}

/* Nothing can be merged: the bound holds all the same. */
static void test_thin_drops_the_oldest(void **state)
{
    (void)state;
    struct samples samples = {.kind = SAMPLES_GPUS, .step_ms = 30000};
    for (unsigned i = 1; i <= 5; i++) {
        add_gpus(&samples, 1000 * (int64_t)i, i, i, 1600 * MIB);
    }
    samples_thin(&samples);
    assert_int_equal(samples.len, 3);
    assert_int_equal(samples.items[0].attempt, 3);
    samples_release(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training_round_trip),
        cmocka_unit_test(test_gpus_round_trip),
        cmocka_unit_test(test_memory_in_units),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_thin_training),
        cmocka_unit_test(test_thin_gpus),
        cmocka_unit_test(test_thin_drops_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
