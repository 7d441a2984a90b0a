/*
 * Progress of a training by its log: iteration lines of Megatron-LM, Hugging Face's Trainer, ms-swift, tqdm,
 * DeepSpeed, torchtitan, torchtune, and a program's own lines by a pattern.
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

/* pattern: as progress_pattern_parse takes it, already checked by it; NULL: none. world_size: of the run; 0:
 * unknown. */
struct progress_reader *progress_reader_new(const char *pattern, unsigned long world_size);

/* What the arguments of the job say of a step, for a log that says nothing of it; 0: unknown. */
void progress_reader_set_step(struct progress_reader *reader, unsigned global_batch, unsigned sequence);

#define PROGRESS_SERIES_MAX 4096

/*
 * Also append what each iteration says to series (borrowed; of SAMPLES_TRAINING), without times. When there
 * are more than PROGRESS_SERIES_MAX, neighbours are merged.
 */
void progress_reader_keep(struct progress_reader *reader, struct samples *series, unsigned attempt);

/* The literals of lines that a program prints once, at its start. */
void progress_list_said_once(struct strlist *literals);

/* Take bytes of a log, from any place on: a line whose beginning is missing gives nothing. */
void progress_reader_feed(struct progress_reader *reader, const char *bytes, size_t len);

/* The log ends here for now; what it says. The reader is freed. */
void progress_reader_end(struct progress_reader *reader, struct training_progress *out);

#endif
