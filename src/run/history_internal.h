/* The progress of a training over time, from its logs. */
#ifndef MTLAUNCH_RUN_HISTORY_INTERNAL_H
#define MTLAUNCH_RUN_HISTORY_INTERNAL_H

#include "node_set_internal.h"
#include "run/history.h"

/*
 * Read the logs of the first and the last node of the current attempt, the last 16 MiB of each, into the
 * training series of history. For an iteration, a log takes precedence over a sample. 0, or -1 when
 * interrupted; if no log arrives, the samples stay as they are.
 */
int history_read_series(struct node_set *set, struct run_history *history);

/*
 * Merge the series that a log gave for an attempt into samples: it replaces the samples from its first
 * iteration on. Each of its points gets the time of the next sample that has reached its iteration. log is
 * released.
 */
void history_merge_series(struct samples *samples, struct samples *log, unsigned attempt);

#endif
