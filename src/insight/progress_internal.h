/* What the formats of progress lines share. */
#ifndef MTLAUNCH_INSIGHT_PROGRESS_INTERNAL_H
#define MTLAUNCH_INSIGHT_PROGRESS_INTERNAL_H

#include "clean_internal.h"
#include "insight/progress.h"

/* What one line says; unknown numbers are -1. */
struct step {
    int64_t iteration, total;
    bool has_loss, loss_is_nan;
    double loss;
    double time_s;     /* of one iteration */
    bool time_is_mean; /* over all iterations so far: no sample for the median */
    double samples;    /* of one iteration, all processes */
    double samples_per_second, tokens_per_second, tokens_per_second_per_gpu, tflops_per_gpu;
    int64_t nan, newly_skipped; /* since the line of the step before, as Megatron-LM counts */
    int64_t skipped;            /* since the start, as DeepSpeed counts */
    int64_t checkpoint, world_size, sequence;
};

#define STEP_NONE                                                                                            \
    ((struct step){.iteration = -1,                                                                          \
                   .total = -1,                                                                              \
                   .time_s = -1,                                                                             \
                   .samples = -1,                                                                            \
                   .samples_per_second = -1,                                                                 \
                   .tokens_per_second = -1,                                                                  \
                   .tokens_per_second_per_gpu = -1,                                                          \
                   .tflops_per_gpu = -1,                                                                     \
                   .nan = -1,                                                                                \
                   .newly_skipped = -1,                                                                      \
                   .skipped = -1,                                                                            \
                   .checkpoint = -1,                                                                         \
                   .world_size = -1,                                                                         \
                   .sequence = -1})

/* A format: a line that contains the literal may be of this format. */
struct progress_format {
    const char *id;
    const char *literal;
    bool (*parse)(const char *text, struct step *step); /* false: not this format */
    bool said_once;                                     /* printed once, at the start of the program */
    bool guess; /* of no framework: a pattern of the job takes precedence */
};

/*
 * The values of a step, with the rates that follow from the samples of an iteration and the tokens of a
 * sample (-1: unknown).
 */
struct sample progress_point(const struct step *step, double samples, int64_t sequence,
                             unsigned long world_size);

/*
 * Append a point, or complete the last one if it is of the same iteration. A point of an earlier iteration is
 * dropped.
 */
void progress_series_add(struct samples *series, const struct sample *point);

extern const struct progress_format progress_formats[];
extern const size_t progress_formats_len;

#endif
