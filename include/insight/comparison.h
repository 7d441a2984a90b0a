/*
 * Compares runs: the figures of each, what differs between them, and a verdict in a sentence. Pure: works on
 * records alone.
 */
#ifndef MTLAUNCH_INSIGHT_COMPARISON_H
#define MTLAUNCH_INSIGHT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insight/differences.h"
#include "model/run.h"

#define COMPARISON_EFFICIENT 0.85 /* an efficiency of at least this is good */
#define COMPARISON_BOUND     0.60 /* below this efficiency a run is bound by communication */

/* A run (borrowed), and what its record does not contain. */
struct comparison_input {
    const struct run *run;
    int64_t peak_memory; /* bytes, the peak use of any of its GPUs; -1: unknown */
};

/* The amount of training whose duration is to be estimated; 0: not asked for. */
struct comparison_goal {
    double tokens, samples;
};

/* The figures of a run; unknown numbers are -1. */
struct comparison_row {
    const struct run *run; /* borrowed */
    size_t nodes;
    int64_t gpus; /* processes on all nodes: each has one */
    int64_t global_batch;
    double step_time_s, samples_per_second, tokens_per_second, tflops_per_gpu;
    double mfu, speedup, efficiency; /* fractions of 1, except the speed-up */
    double hours;
    char *network; /* chosen by NCCL: "IB", "Socket"; NULL: unknown. Owned */
    int64_t peak_memory;
    bool has_loss;
    double loss;
};

struct comparison {
    struct comparison_row *rows; /* in the order of the inputs */
    size_t len;
    long reference; /* index of the row that speed-ups are relative to; -1: no rate is known */
    struct differences differences;
    char *verdict; /* NULL: there is nothing to compare. Owned */
};

/* Speed-up and efficiency are relative to the smallest run whose samples per second are known. */
void comparison_make(struct comparison *out, const struct comparison_input *inputs, size_t len,
                     const struct comparison_goal *goal);
void comparison_release(struct comparison *comparison);

/*
 * Say in a sentence which run to continue with, and why: the fastest, or one that is as fast with less
 * memory.
 * trial: a flag per row. Trial runs count only when there are no others; NULL: no run is a trial.
 * The caller frees; NULL: no rate is known.
 */
char *comparison_recommend(const struct comparison *comparison, const bool *trial);

#endif
