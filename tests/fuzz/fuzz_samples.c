/*
 * A file of samples, of any bytes or of whole frames with any content: what is read from it is within its
 * bounds, is the same when it is written and read again, and becomes fewer by samples_thin.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "fuzz.h"
#include "model/samples.h"

static void add_number(struct str *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        str_add_char(out, (char)(value >> (8 * i) & 0xff));
    }
}

/* A frame as it has to be around a payload that may hold anything. */
static void add_frame(struct str *out, const uint8_t *payload, size_t len)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < len; i++) {
        sum = (sum ^ payload[i]) * 16777619u;
    }
    add_number(out, (uint32_t)len);
    add_number(out, sum);
    str_add_mem(out, payload, len);
}

static void make_file(const uint8_t *data, size_t size, enum samples_kind kind, bool framed, struct str *out)
{
    if (!framed) {
        str_add_mem(out, data, size);
        return;
    }
    samples_encode_header(kind, samples_first_step_ms(kind), out);
    while (size > 1) {
        size_t len = data[0] < size - 1 ? data[0] : size - 1;
        add_frame(out, data + 1, len);
        data += 1 + len;
        size -= 1 + len;
    }
}

static void check_sample(const struct sample *sample, enum samples_kind kind)
{
    CHECK(sample->time_ms >= 0 && sample->iteration >= -1);
    CHECK((kind == SAMPLES_GPUS) == (sample->nodes_len > 0));
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        CHECK(isnan(sample->numbers[i]) || isfinite(sample->numbers[i]));
    }
    for (size_t i = 0; i < sample->nodes_len; i++) {
        const struct gpu_sample *node = &sample->nodes[i];
        CHECK(node->utilization_mean <= 100 || node->utilization_mean == SAMPLE_PERCENT_UNKNOWN);
        CHECK(node->utilization_max <= 100 || node->utilization_max == SAMPLE_PERCENT_UNKNOWN);
        CHECK(gpu_sample_bytes(node->memory_max) >= -1);
    }
}

static void check_again(const struct samples *samples)
{
    AUTO_STR struct str once = STR_INIT, twice = STR_INIT;
    struct samples read;
    size_t whole = 0;
    samples_encode_all(samples, &once);
    CHECK(samples_decode(once.data, once.len, samples->kind, &read, &whole, NULL) == 0);
    CHECK(whole == once.len && read.len == samples->len && read.step_ms == samples->step_ms);
    samples_encode_all(&read, &twice);
    CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    samples_release(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_STR struct str file = STR_INIT;
    struct error err = ERROR_INIT;
    struct samples samples;
    size_t whole = 0;
    if (size == 0) {
        return 0;
    }
    enum samples_kind kind = data[0] & 1 ? SAMPLES_GPUS : SAMPLES_TRAINING;
    make_file(data + 1, size - 1, kind, data[0] & 2, &file);
    AUTO_FREE char *bytes = xcalloc(file.len > 0 ? file.len : 1, 1);
    if (file.len > 0) {
        memcpy(bytes, file.data, file.len);
    }
    int result = samples_decode(bytes, file.len, kind, &samples, &whole, &err);
    CHECK((result != 0) == (err.kind != NULL) && whole <= file.len);
    for (size_t i = 0; i < samples.len; i++) {
        check_sample(&samples.items[i], kind);
    }
    check_again(&samples);
    (void)samples_peak_memory(&samples, 0);
    while (samples.len > 1) {
        size_t before = samples.len;
        samples_thin(&samples);
        CHECK(samples.len < before && samples.len >= before / 2);
    }
    samples_release(&samples);
    return 0;
}
