/*
 * Samples of a run over time, as its supervisor keeps them: how far the training is, and how busy the GPUs of
 * each node are. The size of a series in bytes is bounded. When the bound is reached, neighbours are merged
 * and later samples are taken half as often, so that a series covers the whole run at one resolution. Pure
 * values and pure functions.
 *
 * A file is a header line "mtlaunch samples FORMAT KIND STEP_MS" and frames: length and checksum of the
 * payload (4 bytes each, little endian), payload. Bytes after the last whole frame belong to a write that a
 * crash has cut short.
 */
#ifndef MTLAUNCH_MODEL_SAMPLES_H
#define MTLAUNCH_MODEL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "model/progress.h"

#define SAMPLES_FORMAT 1

enum samples_kind { SAMPLES_TRAINING, SAMPLES_GPUS, SAMPLES_KINDS };

enum sample_number {
    SAMPLE_LOSS,
    SAMPLE_STEP_TIME, /* seconds */
    SAMPLE_SAMPLES,   /* per second, of all processes */
    SAMPLE_TOKENS,    /* per second, of all processes */
    SAMPLE_TFLOPS,    /* of a GPU */
    SAMPLE_NUMBERS
};

#define SAMPLE_PERCENT_UNKNOWN 255
#define SAMPLE_MEMORY_UNKNOWN  UINT16_MAX
#define SAMPLE_MEMORY_UNIT     ((int64_t)16 << 20)

/* The GPUs of a node that its job uses, taken together. */
struct gpu_sample {
    uint8_t utilization_mean, utilization_max; /* percent, or SAMPLE_PERCENT_UNKNOWN */
    uint16_t memory_mean, memory_max;          /* of a GPU, in SAMPLE_MEMORY_UNIT, or …_UNKNOWN */
    uint16_t memory_total;                     /* of the largest GPU */
};

#define GPU_SAMPLE_NONE                                                                                      \
    ((struct gpu_sample){SAMPLE_PERCENT_UNKNOWN, SAMPLE_PERCENT_UNKNOWN, SAMPLE_MEMORY_UNKNOWN,              \
                         SAMPLE_MEMORY_UNKNOWN, SAMPLE_MEMORY_UNKNOWN})

/* SAMPLES_TRAINING has iteration and numbers, SAMPLES_GPUS has nodes. */
struct sample {
    int64_t time_ms; /* epoch, the head's clock */
    unsigned attempt;
    int64_t iteration;              /* -1: unknown */
    double numbers[SAMPLE_NUMBERS]; /* NAN: unknown */
    struct gpu_sample *nodes;       /* one per node in the order of ranks; owned */
    size_t nodes_len;
};

struct samples {
    enum samples_kind kind;
    int64_t step_ms; /* the least time between two samples */
    struct sample *items;
    size_t len, cap;
};

const char *samples_kind_name(enum samples_kind kind); /* "training", "gpus" */
int64_t samples_first_step_ms(enum samples_kind kind); /* of a series that has not been thinned */

void samples_release(struct samples *samples);
/* Append a sample; its nodes are taken over. */
void samples_add(struct samples *samples, const struct sample *sample);

/* The part of progress that a sample keeps. */
struct sample sample_of_progress(const struct training_progress *progress, unsigned attempt, int64_t time_ms);

/* Convert the memory of a sample to bytes (-1: unknown), and bytes to units (rounded up). */
int64_t gpu_sample_bytes(uint16_t units);
uint16_t gpu_sample_units(int64_t bytes);

/* The most memory that a GPU of any node used in an attempt (0: in any): bytes. -1: unknown, also when all
 * samples were taken while nothing was in use. */
int64_t samples_peak_memory(const struct samples *samples, unsigned attempt);

/* The header of a file and the bytes of one sample, appended to out. */
void samples_encode_header(enum samples_kind kind, int64_t step_ms, struct str *out);
void samples_encode(enum samples_kind kind, const struct sample *sample, struct str *out);
/* The whole file. */
void samples_encode_all(const struct samples *samples, struct str *out);

/*
 * Read a file of a kind into out, which the caller releases with samples_release, also after an error. *whole
 * is the number of bytes that were used; the bytes after them are not a whole frame. Errors:
 * kind_record_newer, kind_record_damaged (the header). An empty file has no samples.
 */
int samples_decode(const char *bytes, size_t len, enum samples_kind kind, struct samples *out, size_t *whole,
                   struct error *err);

/*
 * Halve the number of samples and double the step: two neighbours with the same attempt and number of nodes
 * become one, which has the later time and iteration, the mean of the numbers and the larger of the maxima.
 * If nothing can be merged, the older half is dropped.
 */
void samples_thin(struct samples *samples);

#endif
