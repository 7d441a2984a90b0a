/* Samples of a run over time: their format on disk, and how a long series is thinned. */
#include "model/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"

#define WORD       "mtlaunch samples "
#define HEADER_MAX 80
#define FRAME_HEAD 8  /* length and checksum */
#define PAYLOAD    12 /* time and attempt */
#define TRAINING   (8 * (1 + SAMPLE_NUMBERS))
#define GPU        8 /* of a node */
#define FRAME_MAX  ((uint32_t)PAYLOAD + 65536 * GPU)
#define STEP_MAX   (UINT64_C(1) << 40)

void samples_release(struct samples *samples)
{
    for (size_t i = 0; i < samples->len; i++) {
        free(samples->items[i].nodes);
    }
    free(samples->items);
    *samples = (struct samples){.kind = samples->kind};
}

void samples_add(struct samples *samples, const struct sample *sample)
{
    samples->items = xgrow(samples->items, samples->len, &samples->cap, sizeof(*samples->items));
    samples->items[samples->len++] = *sample;
}

/* --- values ------------------------------------------------------------------------------------- */

static double known(double value)
{
    return value >= 0 ? value : (double)NAN;
}

struct sample sample_of_progress(const struct training_progress *progress, unsigned attempt, int64_t time_ms)
{
    return (struct sample){
        .time_ms = time_ms,
        .attempt = attempt,
        .iteration = progress->iteration,
        .numbers = {[SAMPLE_LOSS] = progress->has_loss ? progress->loss : (double)NAN,
                    [SAMPLE_STEP_TIME] = known(progress->step_time_s),
                    [SAMPLE_SAMPLES] = known(progress->samples_per_second),
                    [SAMPLE_TOKENS] = known(progress->tokens_per_second),
                    [SAMPLE_TFLOPS] = known(progress->tflops_per_gpu)},
    };
}

int64_t gpu_sample_bytes(uint16_t units)
{
    return units == SAMPLE_MEMORY_UNKNOWN ? -1 : units * SAMPLE_MEMORY_UNIT;
}

uint16_t gpu_sample_units(int64_t bytes)
{
    if (bytes < 0) {
        return SAMPLE_MEMORY_UNKNOWN;
    }
    int64_t units = bytes / SAMPLE_MEMORY_UNIT + (bytes % SAMPLE_MEMORY_UNIT > 0);
    return units < SAMPLE_MEMORY_UNKNOWN ? (uint16_t)units : SAMPLE_MEMORY_UNKNOWN - 1;
}

int64_t samples_peak_memory(const struct samples *samples, unsigned attempt)
{
    int64_t peak = 0;
    for (size_t i = 0; i < samples->len; i++) {
        const struct sample *sample = &samples->items[i];
        for (size_t n = 0; n < sample->nodes_len && (attempt == 0 || sample->attempt == attempt); n++) {
            int64_t bytes = gpu_sample_bytes(sample->nodes[n].memory_max);
            peak = bytes > peak ? bytes : peak;
        }
    }
    return peak > 0 ? peak : -1;
}

/* --- bytes, little endian ------------------------------------------------------------------------- */

static void put(struct str *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        str_add_char(out, (char)(value >> (8 * i) & 0xff));
    }
}

static uint64_t get(const char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)(unsigned char)at[i] << (8 * i);
    }
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : (double)NAN;
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/): enough to tell a frame from zeros and torn bytes. */
static uint32_t checksum(const char *bytes, size_t len)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < len; i++) {
        sum = (sum ^ (unsigned char)bytes[i]) * 16777619u;
    }
    return sum;
}

/* --- the kinds ---------------------------------------------------------------------------------- */

static void put_training(struct str *out, const struct sample *sample)
{
    put(out, (uint64_t)sample->iteration, 8);
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        put(out, bits_of(sample->numbers[i]), 8);
    }
}

/* Fields that a later version adds after these are skipped. */
static bool get_training(const char *at, size_t len, struct sample *sample)
{
    if (len < TRAINING) {
        return false;
    }
    sample->iteration = (int64_t)get(at, 8);
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        sample->numbers[i] = double_of(get(at + 8 * (1 + i), 8));
    }
    return sample->iteration >= -1;
}

static void merge_training(struct sample *to, const struct sample *from)
{
    to->iteration = from->iteration >= 0 ? from->iteration : to->iteration;
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        double a = to->numbers[i], b = from->numbers[i];
        to->numbers[i] = isnan(a) ? b : isnan(b) ? a : a / 2 + b / 2;
    }
}

static void put_gpus(struct str *out, const struct sample *sample)
{
    for (size_t i = 0; i < sample->nodes_len; i++) {
        const struct gpu_sample *node = &sample->nodes[i];
        put(out, node->utilization_mean, 1);
        put(out, node->utilization_max, 1);
        put(out, node->memory_mean, 2);
        put(out, node->memory_max, 2);
        put(out, node->memory_total, 2);
    }
}

static uint8_t get_percent(const char *at)
{
    uint8_t value = (uint8_t)*at;
    return value <= 100 ? value : SAMPLE_PERCENT_UNKNOWN;
}

static bool get_gpus(const char *at, size_t len, struct sample *sample)
{
    if (len == 0 || len % GPU != 0) {
        return false;
    }
    sample->nodes_len = len / GPU;
    sample->nodes = xcalloc(sample->nodes_len, sizeof(*sample->nodes));
    for (size_t i = 0; i < sample->nodes_len; i++, at += GPU) {
        sample->nodes[i] = (struct gpu_sample){
            .utilization_mean = get_percent(at),
            .utilization_max = get_percent(at + 1),
            .memory_mean = (uint16_t)get(at + 2, 2),
            .memory_max = (uint16_t)get(at + 4, 2),
            .memory_total = (uint16_t)get(at + 6, 2),
        };
    }
    return true;
}

static unsigned mean(unsigned a, unsigned b, unsigned unknown)
{
    return a == unknown ? b : b == unknown ? a : (a + b + 1) / 2;
}

static unsigned larger(unsigned a, unsigned b, unsigned unknown)
{
    return a == unknown ? b : b == unknown ? a : a > b ? a : b;
}

static void merge_gpus(struct sample *to, const struct sample *from)
{
    const unsigned percent = SAMPLE_PERCENT_UNKNOWN, memory = SAMPLE_MEMORY_UNKNOWN;
    for (size_t i = 0; i < to->nodes_len; i++) {
        struct gpu_sample *a = &to->nodes[i];
        const struct gpu_sample *b = &from->nodes[i];
        a->utilization_mean = (uint8_t)mean(a->utilization_mean, b->utilization_mean, percent);
        a->utilization_max = (uint8_t)larger(a->utilization_max, b->utilization_max, percent);
        a->memory_mean = (uint16_t)mean(a->memory_mean, b->memory_mean, memory);
        a->memory_max = (uint16_t)larger(a->memory_max, b->memory_max, memory);
        a->memory_total = (uint16_t)larger(a->memory_total, b->memory_total, memory);
    }
}

static const struct {
    const char *name;
    int64_t step_ms; /* at first */
    void (*put)(struct str *out, const struct sample *sample);
    bool (*get)(const char *at, size_t len, struct sample *sample);
    void (*merge)(struct sample *to, const struct sample *from); /* from is the later one */
} kinds[SAMPLES_KINDS] = {
    [SAMPLES_TRAINING] = {"training", 10000, put_training, get_training, merge_training},
    [SAMPLES_GPUS] = {"gpus", 30000, put_gpus, get_gpus, merge_gpus},
};

const char *samples_kind_name(enum samples_kind kind)
{
    return kinds[kind].name;
}

int64_t samples_first_step_ms(enum samples_kind kind)
{
    return kinds[kind].step_ms;
}

/* --- files -------------------------------------------------------------------------------------- */

void samples_encode_header(enum samples_kind kind, int64_t step_ms, struct str *out)
{
    str_addf(out, WORD "%d %s %" PRId64 "\n", SAMPLES_FORMAT, kinds[kind].name, step_ms);
}

void samples_encode(enum samples_kind kind, const struct sample *sample, struct str *out)
{
    AUTO_STR struct str payload = STR_INIT;
    put(&payload, (uint64_t)sample->time_ms, 8);
    put(&payload, sample->attempt, 4);
    kinds[kind].put(&payload, sample);
    put(out, payload.len, 4);
    put(out, checksum(payload.data, payload.len), 4);
    str_add_mem(out, payload.data, payload.len);
}

void samples_encode_all(const struct samples *samples, struct str *out)
{
    samples_encode_header(samples->kind, samples->step_ms, out);
    for (size_t i = 0; i < samples->len; i++) {
        samples_encode(samples->kind, &samples->items[i], out);
    }
}

/* "FORMAT KIND STEP" after WORD. */
static int decode_header(char *text, struct samples *out, struct error *err)
{
    char *rest = NULL;
    const char *format = strtok_r(text, " ", &rest);
    const char *kind = strtok_r(NULL, " ", &rest);
    const char *step = strtok_r(NULL, " ", &rest);
    uint64_t number = 0, step_ms = 0;
    if (!format || !text_to_uint(format, 1, UINT32_MAX, &number)) {
        return error_set(err, &kind_record_damaged, "the samples have no format number");
    }
    if (number > SAMPLES_FORMAT) {
        error_set(err, &kind_record_newer, "the samples have format %llu, and this version knows %d",
                  (unsigned long long)number, SAMPLES_FORMAT);
        return error_hint(err, "use the version of mtlaunch that wrote them");
    }
    if (!kind || strcmp(kind, kinds[out->kind].name) != 0 || !step ||
        !text_to_uint(step, 1, STEP_MAX, &step_ms)) {
        return error_set(err, &kind_record_damaged, "the samples are not of the kind '%s'",
                         kinds[out->kind].name);
    }
    out->step_ms = (int64_t)step_ms;
    return 0;
}

/* Decode the frame at bytes. Returns its length, 0 if it is not whole. */
static size_t decode_frame(const char *bytes, size_t len, struct samples *out)
{
    struct sample sample = {.iteration = -1};
    if (len < FRAME_HEAD) {
        return 0;
    }
    uint64_t size = get(bytes, 4);
    const char *payload = bytes + FRAME_HEAD;
    if (size < PAYLOAD || size > FRAME_MAX || size > len - FRAME_HEAD ||
        checksum(payload, size) != get(bytes + 4, 4)) {
        return 0;
    }
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        sample.numbers[i] = (double)NAN;
    }
    sample.time_ms = (int64_t)get(payload, 8);
    sample.attempt = (unsigned)get(payload + 8, 4);
    if (sample.time_ms < 0 || !kinds[out->kind].get(payload + PAYLOAD, size - PAYLOAD, &sample)) {
        free(sample.nodes);
        return 0;
    }
    samples_add(out, &sample);
    return FRAME_HEAD + size;
}

int samples_decode(const char *bytes, size_t len, enum samples_kind kind, struct samples *out, size_t *whole,
                   struct error *err)
{
    *out = (struct samples){.kind = kind, .step_ms = kinds[kind].step_ms};
    *whole = 0;
    if (len == 0) {
        return 0;
    }
    const char *end = memchr(bytes, '\n', len < HEADER_MAX ? len : HEADER_MAX);
    if (!end || (size_t)(end - bytes) < strlen(WORD) || memcmp(bytes, WORD, strlen(WORD)) != 0) {
        return error_set(err, &kind_record_damaged, "the samples do not begin with '%s'", WORD);
    }
    AUTO_FREE char *header = xstrndup(bytes + strlen(WORD), (size_t)(end - bytes) - strlen(WORD));
    if (decode_header(header, out, err) != 0) {
        return -1;
    }
    size_t at = (size_t)(end - bytes) + 1, taken;
    while ((taken = decode_frame(bytes + at, len - at, out)) > 0) {
        at += taken;
    }
    *whole = at;
    return 0;
}

/* --- fewer -------------------------------------------------------------------------------------- */

static bool go_together(const struct sample *a, const struct sample *b)
{
    return a->attempt == b->attempt && a->nodes_len == b->nodes_len;
}

static void drop_first(struct samples *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(samples->items[i].nodes);
    }
    samples->len -= count;
    memmove(samples->items, samples->items + count, samples->len * sizeof(*samples->items));
}

void samples_thin(struct samples *samples)
{
    const size_t before = samples->len;
    size_t kept = 0;
    for (size_t i = 0; i < before; i++) {
        struct sample *sample = &samples->items[i];
        if (i + 1 < before && go_together(sample, sample + 1)) {
            kinds[samples->kind].merge(sample, sample + 1);
            sample->time_ms = sample[1].time_ms;
            free(sample[1].nodes);
            i++;
        }
        samples->items[kept++] = *sample;
    }
    samples->len = kept;
    samples->step_ms *= 2;
    if (kept == before && kept > 1) {
        drop_first(samples, kept / 2);
    }
}
