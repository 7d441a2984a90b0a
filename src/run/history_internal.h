/* The course of a training, from its complete logs. */
#ifndef MTLAUNCH_RUN_HISTORY_INTERNAL_H
#define MTLAUNCH_RUN_HISTORY_INTERNAL_H

#include "node_set_internal.h"
#include "run/history.h"

/*
 * Read the logs of the first and the last node of the current attempt, the last 16 MiB of each, into the
 * training series of history: what they say of an iteration counts more than a sample. 0, or -1 when
 * interrupted; a log that does not come leaves the samples as they are.
 */
int history_read_series(struct node_set *set, struct run_history *history);

/*
 * Merge what a log said of an attempt into samples: from its first iteration on the log counts, before that
 * the samples. Each point of the log gets the time of the sample nearest to it. log is used up.
 */
void history_merge_series(struct samples *samples, struct samples *log, unsigned attempt);

#endif
