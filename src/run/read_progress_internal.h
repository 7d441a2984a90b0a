/* Reads the progress of a run's training from the ends of its logs. */
#ifndef MTLAUNCH_RUN_READ_PROGRESS_INTERNAL_H
#define MTLAUNCH_RUN_READ_PROGRESS_INTERNAL_H

#include "model/run.h"
#include "node_set_internal.h"

/*
 * Read the ends of the logs of the first and the last node of run, for which set was opened, into its
 * progress: in Megatron-LM the last rank prints it, in other frameworks rank 0. A node that cannot be asked
 * changes nothing. 0, or -1 when interrupted.
 */
int run_read_progress(struct node_set *set, struct run *run);

#endif
