/*
 * Writes the samples of a run while it is supervised. A sample that cannot be written is dropped, and
 * supervision continues.
 */
#ifndef MTLAUNCH_RUN_SAMPLES_INTERNAL_H
#define MTLAUNCH_RUN_SAMPLES_INTERNAL_H

#include <stdbool.h>

#include "model/run.h"
#include "node/answer.h"
#include "run/samples.h"
#include "watchers_internal.h"

/* A file of samples that grows. All zero: not open yet. */
struct samples_file {
    bool open;
    bool off; /* not written to: it is damaged, or a later version writes it */
    int64_t step_ms;
    int64_t next_ms; /* monotonic time before which no sample is written */
    int64_t last_iteration;
    size_t size;
};

struct samples_writer {
    struct samples_file files[SAMPLES_KINDS];
    unsigned attempt;       /* whose GPUs were last asked about; 0: none yet */
    int64_t young_until_ms; /* monotonic time until which GPUs are sampled more often */
};

/* Summarise the GPUs of a node that its job uses. */
struct gpu_sample run_sample_gpus(const struct node_gpus *gpus);

/* Write a sample, unless the previous one is younger than the step. */
void run_samples_keep(struct samples_writer *writer, const struct run_store *store, const char *name,
                      enum samples_kind kind, const struct sample *sample);

/* Write a sample of the training's progress, if it is new and the last sample is old enough. */
void run_samples_note_training(struct samples_writer *writer, const struct run_store *store,
                               const struct run *run);

/* Is there a sample of the nodes' GPUs to be written? */
bool run_samples_gpus_due(struct samples_writer *writer, const struct run *run,
                          const struct watchers *watchers);

/*
 * Write a sample of the nodes' GPUs, if the last sample is old enough. In the first minute of an attempt
 * samples are more frequent, so that a smoke test of half a minute shows its peak.
 */
void run_samples_note_gpus(struct samples_writer *writer, const struct run_store *store,
                           const struct run *run, const struct watchers *watchers);

#endif
