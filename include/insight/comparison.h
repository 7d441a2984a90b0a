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

#define COMPARISON_EFFICIENT 0.85 /* an efficiency from here on is good */
#define COMPARISON_BOUND     0.60 /* below it communication is what the time goes into */

/* A run, and what its record does not contain. Borrowed. */
struct comparison_input {
    const struct run *run;
    int64_t peak_memory; /* bytes, the most that a GPU had in use; -1: unknown */
};

/* Work whose hours are asked for; 0: none. */
struct comparison_goal {
    double tokens, samples;
};

/* The figures of a run; unknown numbers are -1. */
struct comparison_row {
    const struct run *run; /* borrowed */
    size_t nodes;
    int64_t gpus; /* processes of all nodes: each has one */
    int64_t global_batch;
    double step_time_s, samples_per_second, tokens_per_second, tflops_per_gpu;
    double mfu, speedup, efficiency; /* parts of 1 but for the speed-up */
    double hours;
    char *network; /* that NCCL chose: "IB", "Socket"; NULL: not known. Owned */
    int64_t peak_memory;
    bool has_loss;
    double loss;
};

struct comparison {
    struct comparison_row *rows; /* in the order of the inputs */
    size_t len;
    long reference; /* index of the row that speed-ups are counted from; -1: no rate is known */
    struct differences differences;
    char *verdict; /* NULL: there is nothing to compare. Owned */
};

/* Speed-up and efficiency are counted from the smallest run whose samples per second are known. */
void comparison_make(struct comparison *out, const struct comparison_input *inputs, size_t len,
                     const struct comparison_goal *goal);
void comparison_release(struct comparison *comparison);

/*
 * Which run to go on with, and why, in a sentence: the fastest, or one that is as fast with less memory.
 * trial: a flag per row, for those that count only when there are no others; NULL: none. The caller frees;
 * NULL: no rate is known.
 */
char *comparison_recommend(const struct comparison *comparison, const bool *trial);

#endif
