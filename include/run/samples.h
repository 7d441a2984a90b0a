/* The samples of a run, which its supervisor writes to the run's folder (model/samples.h). */
#ifndef MTLAUNCH_RUN_SAMPLES_H
#define MTLAUNCH_RUN_SAMPLES_H

#include "base/error.h"
#include "model/samples.h"
#include "run/store.h"

/*
 * Enough for a day of 1,000 nodes at one sample per minute. Both files, and the second copy that exists while
 * one is rewritten, stay below 20 MB.
 */
#define SAMPLES_TRAINING_MAX ((size_t)1000 * 1000)
#define SAMPLES_GPUS_MAX     ((size_t)12 * 1000 * 1000)

/*
 * Load the samples of a kind; a run may have none. Release out with samples_release in any case. Errors:
 * kind_record_newer, kind_record_damaged, kind_local.
 */
int run_samples_load(const struct run_store *store, const char *name, enum samples_kind kind,
                     struct samples *out, struct error *err);

/* A value that changes whenever the file of a kind is written; 0: there is no file. */
int64_t run_samples_stamp(const struct run_store *store, const char *name, enum samples_kind kind);

/*
 * The largest amount of memory in bytes that one GPU of the run used in an attempt (0: in any); -1: unknown.
 */
int64_t run_samples_peak_memory(const struct run_store *store, const char *name, unsigned attempt);

#endif
