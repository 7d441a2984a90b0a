/* The files of samples: they grow, keep their bound, go on after a crash, and are left to a later version. */

#include "run/samples.h"
#include "run/samples_internal.h"
#include "test.h"

#define MIB ((int64_t)1 << 20)

struct fixture {
    char folder[64];
    struct run_store store;
    char *path;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    strcpy(fixture->folder, "/tmp/mtlaunch-samples-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(run_store_open(&fixture->store, fixture->folder, "/nowhere", NULL), 0);
    fixture->path = xasprintf("%s/mtlaunch/runs/r/gpus.samples", fixture->folder);
    AUTO_FREE char *folder = path_folder(fixture->path);
    assert_int_equal(file_make_dirs(folder, 0700, NULL), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    AUTO_FREE char *command = xasprintf("rm -rf '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
    run_store_release(&fixture->store);
    free(fixture->path);
    free(fixture);
    return 0;
}

static off_t size_of(const struct fixture *fixture)
{
    struct stat info;
    assert_int_equal(stat(fixture->path, &info), 0);
    return info.st_size;
}

/* A sample of that many nodes, although the one before was a moment ago. */
static void keep(struct fixture *fixture, struct samples_writer *writer, int64_t time_ms, size_t nodes,
                 int64_t used)
{
    AUTO_FREE struct gpu_sample *items = xcalloc(nodes, sizeof(*items));
    for (size_t i = 0; i < nodes; i++) {
        items[i] = (struct gpu_sample){.utilization_mean = 50, .memory_max = gpu_sample_units(used)};
    }
    const struct sample sample = {.time_ms = time_ms, .attempt = 1, .nodes = items, .nodes_len = nodes};
    writer->files[SAMPLES_GPUS].next_ms = 0;
    run_samples_keep(writer, &fixture->store, "r", SAMPLES_GPUS, &sample);
}

static size_t count(struct fixture *fixture, int64_t *step_ms)
{
    struct samples samples;
    assert_int_equal(run_samples_load(&fixture->store, "r", SAMPLES_GPUS, &samples, NULL), 0);
    size_t len = samples.len;
    *step_ms = samples.step_ms;
    samples_release(&samples);
    return len;
}

static void test_grows_over_supervisors(void **state)
{
    struct fixture *fixture = *state;
    int64_t step_ms = 0;
    assert_int_equal(count(fixture, &step_ms), 0);
    assert_true(run_samples_peak_memory(&fixture->store, "r", 0) == -1);
    for (int i = 0; i < 3; i++) {
        struct samples_writer writer = {0}; /* another process */
        keep(fixture, &writer, 1000 * (i + 1), 4, 1600 * MIB * (i + 1));
        keep(fixture, &writer, 1000 * (i + 1) + 500, 4, 0);
        run_samples_keep(&writer, &fixture->store, "r", SAMPLES_GPUS, &(struct sample){0}); /* too early */
    }
    assert_int_equal(count(fixture, &step_ms), 6);
    assert_int_equal(step_ms, 30000);
    assert_true(run_samples_peak_memory(&fixture->store, "r", 1) == 4800 * MIB);
    struct stat info;
    assert_int_equal(stat(fixture->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void test_goes_on_behind_a_torn_sample(void **state)
{
    struct fixture *fixture = *state;
    struct samples_writer writer = {0}, next = {0};
    int64_t step_ms = 0;
    keep(fixture, &writer, 1000, 4, 0);
    keep(fixture, &writer, 2000, 4, 0);
    assert_int_equal(truncate(fixture->path, size_of(fixture) - 3), 0);
    assert_int_equal(count(fixture, &step_ms), 1);
    keep(fixture, &next, 3000, 4, 0);
    assert_int_equal(count(fixture, &step_ms), 2);
}

static void test_leaves_a_later_version_alone(void **state)
{
    struct fixture *fixture = *state;
    struct samples_writer writer = {0};
    struct samples samples;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;
    const char *newer = "mtlaunch samples 2 gpus 30000 zstd\n";
    assert_int_equal(file_write_atomic(fixture->path, newer, strlen(newer), 0600, NULL), 0);
    keep(fixture, &writer, 1000, 4, 0);
    assert_int_equal(file_read(fixture->path, 1000, &text, NULL), 0);
    assert_string_equal(str_text(&text), newer);
    assert_int_equal(run_samples_load(&fixture->store, "r", SAMPLES_GPUS, &samples, &err), -1);
    assert_ptr_equal(err.kind, &kind_record_newer);
    samples_release(&samples);
}

/* A day of 1,000 nodes, a sample each 30 s as long as there is room: less than 20 MB on the disk at any time.
 */
static void test_a_day_of_a_thousand_nodes(void **state)
{
    struct fixture *fixture = *state;
    struct samples_writer writer = {0};
    const int64_t day_ms = (int64_t)24 * 3600 * 1000;
    int64_t now_ms = 1, kept = 0, step_ms = 0;
    off_t largest = 0;
    while (now_ms < day_ms) {
        keep(fixture, &writer, now_ms, 1000, now_ms == 1 ? 160000 * MIB : 1600 * MIB);
        now_ms += writer.files[SAMPLES_GPUS].step_ms;
        kept++;
        largest = size_of(fixture) > largest ? size_of(fixture) : largest;
    }
    assert_true(largest <= (off_t)SAMPLES_GPUS_MAX);
    assert_true(3 * (SAMPLES_GPUS_MAX + SAMPLES_TRAINING_MAX) / 2 < (size_t)20 * 1000 * 1000);
    size_t len = count(fixture, &step_ms);
    assert_int_equal(step_ms, 60000);
    assert_in_range(len, 1400, 1500);
    assert_true(kept > 1300);
    assert_true(run_samples_peak_memory(&fixture->store, "r", 1) == 160000 * MIB); /* the first one counts */
}

static void test_gpus_of_a_node(void **state)
{
    (void)state;
    struct node_gpu items[] = {
        {.utilization = 90, .memory_used = 1600 * MIB, .memory_total = 8000 * MIB, .own = true},
        {.utilization = 100, .memory_used = 8000 * MIB, .memory_total = 8000 * MIB}, /* somebody else's */
        {.utilization = 41, .memory_used = 3200 * MIB, .memory_total = 8000 * MIB, .own = true},
        {.utilization = -1, .memory_used = -1, .memory_total = -1, .own = true},
    };
    const struct node_gpus gpus = {.items = items, .len = ARRAY_LEN(items), .known = true};
    struct gpu_sample sample = run_sample_gpus(&gpus);
    assert_int_equal(sample.utilization_mean, 66);
    assert_int_equal(sample.utilization_max, 90);
    assert_true(gpu_sample_bytes(sample.memory_mean) == 2400 * MIB);
    assert_true(gpu_sample_bytes(sample.memory_max) == 3200 * MIB);
    assert_true(gpu_sample_bytes(sample.memory_total) == 8000 * MIB);
    const struct gpu_sample none = GPU_SAMPLE_NONE;
    sample = run_sample_gpus(&(struct node_gpus){0});
    assert_memory_equal(&sample, &none, sizeof(none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_grows_over_supervisors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on_behind_a_torn_sample, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leaves_a_later_version_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_day_of_a_thousand_nodes, set_up, tear_down),
        cmocka_unit_test(test_gpus_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
