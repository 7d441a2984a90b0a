/*
 * Reads the progress of a training run from its log: iteration lines of Megatron-LM, Hugging Face's Trainer,
 * ms-swift, tqdm, DeepSpeed, torchtitan, torchtune, and a program's own lines by a pattern.
 *
 * To add a format: a row in src/insight/progress_formats.c and a sample in
 * tests/unit/insight/test_progress.c, which fails for a row without one.
 */
#ifndef MTLAUNCH_INSIGHT_PROGRESS_H
#define MTLAUNCH_INSIGHT_PROGRESS_H

#include <stddef.h>

#include "base/strlist.h"
#include "model/progress.h"
#include "model/samples.h"

struct progress_reader;

/* pattern: valid for progress_pattern_parse; NULL: none. world_size: of the run; 0: unknown. */
struct progress_reader *progress_reader_new(const char *pattern, unsigned long world_size);

/*
 * Set the batch size and the sequence length that the job's arguments give, for a log that does not show
 * them; 0: unknown.
 */
void progress_reader_set_step(struct progress_reader *reader, unsigned global_batch, unsigned sequence);

/*
 * Tell the reader what was read before, from an earlier part of the log that may overlap this one: iterations
 * up to that one are not counted a second time (nan, skipped).
 */
void progress_reader_set_seen(struct progress_reader *reader, const struct training_progress *seen);

#define PROGRESS_SERIES_MAX 4096

/*
 * Also append the values of each iteration, without times, to series (borrowed; of SAMPLES_TRAINING). Beyond
 * PROGRESS_SERIES_MAX points, neighbours are merged.
 */
void progress_reader_keep(struct progress_reader *reader, struct samples *series, unsigned attempt);

/* Append the literals of lines that a program prints once, at its start. */
void progress_list_said_once(struct strlist *literals);

/* Take bytes of a log. They may start in the middle of a line, which then gives nothing. */
void progress_reader_feed(struct progress_reader *reader, const char *bytes, size_t len);

/* End the log for now, set out to what it shows, and free the reader. */
void progress_reader_end(struct progress_reader *reader, struct training_progress *out);

#endif
