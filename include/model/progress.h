/* The progress of a training, as its logs report it. A plain value. */
#ifndef MTLAUNCH_MODEL_PROGRESS_H
#define MTLAUNCH_MODEL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Unknown numbers are -1; loss alone may be any number, so it has a flag. */
struct training_progress {
    bool known;        /* something was read */
    int64_t iteration; /* done */
    int64_t total;     /* to be done */
    bool has_loss;
    double loss;               /* the last one that is a number */
    double step_time_s;        /* median of the last steps; the first one is left out */
    double tokens_per_second;  /* of all processes */
    double samples_per_second; /* of all processes */
    double tflops_per_gpu;
    int64_t global_batch; /* samples of one iteration, of all processes */
    int64_t sequence;     /* tokens of one sample */
    double eta_s;         /* for the remaining iterations at step_time_s */
    int64_t nan;          /* iterations without a finite loss, as far as the logs were read */
    int64_t skipped;      /* iterations that the framework skipped, likewise */
    int64_t checkpoint;   /* iteration of the last checkpoint that was written */
    int64_t world_size;   /* as the program reports it */
    int64_t updated_ms;   /* epoch: when the log it comes from was last written; 0: unknown */
};

#define PROGRESS_NONE                                                                                        \
    ((struct training_progress){.iteration = -1,                                                             \
                                .total = -1,                                                                 \
                                .step_time_s = -1,                                                           \
                                .tokens_per_second = -1,                                                     \
                                .samples_per_second = -1,                                                    \
                                .tflops_per_gpu = -1,                                                        \
                                .global_batch = -1,                                                          \
                                .sequence = -1,                                                              \
                                .eta_s = -1,                                                                 \
                                .nan = -1,                                                                   \
                                .skipped = -1,                                                               \
                                .checkpoint = -1,                                                            \
                                .world_size = -1})

/* Copy to `to` the values that only from has, or that from has for the same or a later iteration. */
void progress_merge(struct training_progress *to, const struct training_progress *from);

/* Work out eta_s from the rest. */
void progress_estimate(struct training_progress *progress);

/* Fields of a program's own lines, by the spec's progress.pattern. */
enum progress_field {
    PROGRESS_ITERATION,
    PROGRESS_TOTAL,
    PROGRESS_LOSS,
    PROGRESS_STEP_TIME,
    PROGRESS_SAMPLES,
    PROGRESS_TOKENS,
    PROGRESS_TFLOPS,
    PROGRESS_FIELDS
};

/* "iteration", "total" …: the names of the groups of a pattern. */
extern const char *const progress_field_names[PROGRESS_FIELDS];

/* A pattern as POSIX regcomp takes it, and which group is which field (0: none). */
struct progress_pattern {
    char *posix; /* owned */
    unsigned groups[PROGRESS_FIELDS];
};

/*
 * Translate a pattern: a regular expression with named groups, "step (?P<iteration>\d+)/(?P<total>\d+)"; \d,
 * \s, \S and \w are known. It needs the group iteration. Errors: kind_usage.
 */
int progress_pattern_parse(const char *text, struct progress_pattern *out, struct error *err);
void progress_pattern_release(struct progress_pattern *pattern);

#endif
