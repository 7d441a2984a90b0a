/* Keeps the samples of a run while it is supervised. What cannot be written is dropped, and supervision
 * continues.
 */
#ifndef MTLAUNCH_RUN_SAMPLES_INTERNAL_H
#define MTLAUNCH_RUN_SAMPLES_INTERNAL_H

#include <stdbool.h>

#include "model/run.h"
#include "node/answer.h"
#include "run/samples.h"
#include "watchers_internal.h"

/* One file of samples that grows. All zero: not open yet. */
struct samples_file {
    bool open;
    bool off; /* a later version writes it, or it is damaged: it is left alone */
    int64_t step_ms;
    int64_t next_ms; /* monotonic: not before */
    int64_t last_iteration;
    size_t size;
};

struct samples_writer {
    struct samples_file files[SAMPLES_KINDS];
    unsigned attempt;       /* whose first sample of GPUs is kept; 0: none yet */
    int64_t young_until_ms; /* monotonic: until then GPUs are kept more often */
};

/* The GPUs of a node that its job uses, together. */
struct gpu_sample run_sample_gpus(const struct node_gpus *gpus);

/* Keep a sample unless the one before is younger than the step. */
void run_samples_keep(struct samples_writer *writer, const struct run_store *store, const char *name,
                      enum samples_kind kind, const struct sample *sample);

/* Keep how far the training of run is, if that is news and the last sample is old enough. */
void run_samples_note_training(struct samples_writer *writer, const struct run_store *store,
                               const struct run *run);

/*
 * Keep what the nodes said of their GPUs, if the last sample is old enough. In the first minute of an attempt
 * that is sooner, so that a smoke test of half a minute has its peak.
 */
void run_samples_note_gpus(struct samples_writer *writer, const struct run_store *store,
                           const struct run *run, const struct watchers *watchers);

#endif
