/*
 * The samples of a run on disk: reads the whole file, appends to it, and rewrites it with fewer samples when
 * it reaches its size limit.
 */
#include "run/samples.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "model/kind.h"
#include "samples_internal.h"

#define YOUNG_MS      60000 /* an attempt is young for this long */
#define YOUNG_STEP_MS 10000
#define SETTLE_MS     15000 /* time for the other nodes to report their GPUs after the first one */

static const size_t bounds[SAMPLES_KINDS] = {
    [SAMPLES_TRAINING] = SAMPLES_TRAINING_MAX,
    [SAMPLES_GPUS] = SAMPLES_GPUS_MAX,
};

static char *file_path(const struct run_store *store, const char *name, enum samples_kind kind)
{
    return xasprintf("%s/%s/%s.samples", store->root, name, samples_kind_name(kind));
}

/* Load a file. whole is set to the number of bytes that are complete frames. */
static int load(const char *path, enum samples_kind kind, struct samples *out, size_t *whole, size_t *size,
                struct error *err)
{
    AUTO_STR struct str bytes = STR_INIT;
    *out = (struct samples){.kind = kind, .step_ms = samples_first_step_ms(kind)};
    *whole = *size = 0;
    if (!file_exists(path)) {
        return 0;
    }
    if (file_read(path, 2 * bounds[kind], &bytes, err) != 0) {
        return -1;
    }
    *size = bytes.len;
    return samples_decode(str_text(&bytes), bytes.len, kind, out, whole, err);
}

int run_samples_load(const struct run_store *store, const char *name, enum samples_kind kind,
                     struct samples *out, struct error *err)
{
    AUTO_FREE char *path = file_path(store, name, kind);
    size_t whole, size;
    return load(path, kind, out, &whole, &size, err);
}

int64_t run_samples_stamp(const struct run_store *store, const char *name, enum samples_kind kind)
{
    AUTO_FREE char *path = file_path(store, name, kind);
    struct stat info;
    if (stat(path, &info) != 0) {
        return 0;
    }
    return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec + (int64_t)info.st_size;
}

int64_t run_samples_peak_memory(const struct run_store *store, const char *name, unsigned attempt)
{
    struct samples samples;
    int64_t peak = -1;
    if (run_samples_load(store, name, SAMPLES_GPUS, &samples, NULL) == 0) {
        peak = samples_peak_memory(&samples, attempt);
    }
    samples_release(&samples);
    return peak;
}

/* --- writing ---------------------------------------------------------------------------------------- */

/* Find the end of the file. An incomplete frame, left by a crash, is removed. */
static void open_file(struct samples_file *file, const char *path, enum samples_kind kind)
{
    struct samples samples;
    size_t whole = 0, size = 0;
    file->open = true;
    file->last_iteration = -1;
    file->off = load(path, kind, &samples, &whole, &size, NULL) != 0 ||
                (whole < size && truncate(path, (off_t)whole) != 0);
    file->size = whole;
    file->step_ms = samples.step_ms;
    if (samples.len > 0) {
        file->last_iteration = samples.items[samples.len - 1].iteration;
    }
    samples_release(&samples);
}

/* The size limit is reached: keep half of the samples, and from now on sample half as often. */
static int rewrite(struct samples_file *file, const char *path, enum samples_kind kind,
                   const struct sample *more)
{
    struct samples samples;
    AUTO_STR struct str bytes = STR_INIT;
    size_t whole, size, before;
    int result = load(path, kind, &samples, &whole, &size, NULL);
    if (result == 0) {
        do {
            before = samples.len;
            samples_thin(&samples);
            str_reset(&bytes);
            samples_encode_all(&samples, &bytes);
        } while (bytes.len > bounds[kind] / 2 && samples.len < before);
        samples_encode(kind, more, &bytes);
        result = file_write_atomic(path, bytes.data, bytes.len, 0600, NULL);
    }
    if (result == 0) {
        file->size = bytes.len;
        file->step_ms = samples.step_ms;
    }
    samples_release(&samples);
    return result;
}

static bool is_due(const struct samples_file *file)
{
    return !file->off && clock_mono_ms() >= file->next_ms;
}

/* The file of a kind, opened. */
static struct samples_file *file_of(struct samples_writer *writer, const char *path, enum samples_kind kind)
{
    struct samples_file *file = &writer->files[kind];
    if (!file->open) {
        open_file(file, path, kind);
    }
    return file;
}

/* If the disk is full, the sample is dropped, and writing is tried again with the next one. */
void run_samples_keep(struct samples_writer *writer, const struct run_store *store, const char *name,
                      enum samples_kind kind, const struct sample *sample)
{
    AUTO_FREE char *path = file_path(store, name, kind);
    AUTO_STR struct str bytes = STR_INIT;
    struct samples_file *file = file_of(writer, path, kind);
    if (!is_due(file)) {
        return;
    }
    if (file->size == 0) {
        samples_encode_header(kind, file->step_ms, &bytes);
    }
    samples_encode(kind, sample, &bytes);
    if (file->size + bytes.len > bounds[kind] && file->size > 0) {
        (void)rewrite(file, path, kind, sample);
    } else if (file_append(path, bytes.data, bytes.len, 0600, NULL) == 0) {
        file->size += bytes.len;
    }
    file->next_ms = clock_mono_ms() + file->step_ms;
    file->last_iteration = sample->iteration;
}

void run_samples_note_training(struct samples_writer *writer, const struct run_store *store,
                               const struct run *run)
{
    AUTO_FREE char *path = file_path(store, run->name, SAMPLES_TRAINING);
    const struct samples_file *file = file_of(writer, path, SAMPLES_TRAINING);
    const int64_t iteration = run->progress.iteration;
    if (run->progress.known && (iteration < 0 || iteration != file->last_iteration)) {
        struct sample sample = sample_of_progress(&run->progress, run->attempt, clock_real_ms());
        run_samples_keep(writer, store, run->name, SAMPLES_TRAINING, &sample);
    }
}

/* The first sample of another attempt is due at once. */
static void note_attempt(struct samples_writer *writer, unsigned attempt)
{
    if (writer->attempt != attempt) {
        writer->attempt = attempt;
        writer->young_until_ms = clock_mono_ms() + YOUNG_MS;
        writer->files[SAMPLES_GPUS].next_ms = 0;
    }
}

/* In a young attempt, make the next sample due soon. */
static void hurry_young(const struct samples_writer *writer, struct samples_file *file)
{
    int64_t now = clock_mono_ms();
    if (now < writer->young_until_ms && file->next_ms > now + YOUNG_STEP_MS) {
        file->next_ms = now + YOUNG_STEP_MS;
    }
}

bool run_samples_gpus_due(struct samples_writer *writer, const struct run *run,
                          const struct watchers *watchers)
{
    note_attempt(writer, run->attempt);
    return is_due(&writer->files[SAMPLES_GPUS]) && watchers_gpus(watchers, NULL) > 0;
}

void run_samples_note_gpus(struct samples_writer *writer, const struct run_store *store,
                           const struct run *run, const struct watchers *watchers)
{
    AUTO_FREE struct gpu_sample *nodes = NULL;
    struct samples_file *file = &writer->files[SAMPLES_GPUS];
    if (!run_samples_gpus_due(writer, run, watchers)) {
        return;
    }
    nodes = xcalloc(run->nodes_len, sizeof(*nodes));
    size_t known = watchers_gpus(watchers, nodes);
    if (known < run->nodes_len && file->next_ms == 0) {
        file->next_ms = clock_mono_ms() + SETTLE_MS;
    } else {
        const struct sample sample = {.time_ms = clock_real_ms(),
                                      .attempt = run->attempt,
                                      .iteration = -1,
                                      .nodes = nodes,
                                      .nodes_len = run->nodes_len};
        run_samples_keep(writer, store, run->name, SAMPLES_GPUS, &sample);
        hurry_young(writer, file);
    }
}

/* --- GPUs of a node --------------------------------------------------------------------------------- */

struct gpu_sample run_sample_gpus(const struct node_gpus *gpus)
{
    struct gpu_sample out = GPU_SAMPLE_NONE;
    int64_t busy = 0, used = 0, most = -1, total = -1;
    int busy_len = 0, used_len = 0, busiest = -1;
    for (size_t i = 0; i < gpus->len; i++) {
        const struct node_gpu *gpu = &gpus->items[i];
        if (gpu->own && gpu->utilization >= 0) {
            busy += gpu->utilization;
            busy_len++;
            busiest = gpu->utilization > busiest ? gpu->utilization : busiest;
        }
        if (gpu->own && gpu->memory_used >= 0) {
            used += gpu->memory_used;
            used_len++;
            most = gpu->memory_used > most ? gpu->memory_used : most;
        }
        if (gpu->own && gpu->memory_total > total) {
            total = gpu->memory_total;
        }
    }
    if (busy_len > 0) {
        out.utilization_mean = (uint8_t)((busy + busy_len / 2) / busy_len);
        out.utilization_max = (uint8_t)busiest;
    }
    out.memory_mean = gpu_sample_units(used_len > 0 ? used / used_len : -1);
    out.memory_max = gpu_sample_units(most);
    out.memory_total = gpu_sample_units(total);
    return out;
}
