/*
 * Judges the answers of nodes: pure functions from answers to states, reasons and the outcome of the run. No
 * I/O, no clock.
 */
#ifndef MTLAUNCH_RUN_JUDGE_INTERNAL_H
#define MTLAUNCH_RUN_JUDGE_INTERNAL_H

#include <stdint.h>

#include "base/error.h"
#include "model/run.h"
#include "node/answer.h"

/* Replace a node's reason (printf form; NULL format: none). */
void judge_set_reason(struct run_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Set a node's state, pid, exit status, times and reason from its observation. */
void judge_observation(struct run_node *node, const struct node_observation *seen, const char *run_id,
                       unsigned attempt);

/* Mark the job's GPUs by gpus= of the host list if the node could not tell which they are. */
void judge_own_gpus(const struct run_node *node, struct node_observation *seen);

/* Replace a node's GPUs by those that nvidia-smi has just shown. */
void judge_gpus(struct run_node *node, const struct node_gpus *gpus);

/* A node did not answer: it is lost; what was known about it is kept. */
void judge_silence(struct run_node *node, const struct error *why);

/* A node has answered to a start. 0: it has started; -1 with err: it has not (state and reason are set). */
int judge_start(struct run_node *node, const struct node_start *start, const char *run, struct error *err);

/*
 * Called before an observation. If a stop of the run was sent but never confirmed, a node that was running
 * until then counts as signalled, and so as stopped once it has ended.
 */
void judge_note_stop(const struct run *run, struct run_node *node);

/*
 * A node has answered to a stop. repeated: an earlier stop of this attempt was sent but its answer never
 * arrived, so processes that have ended since may have been ended by it.
 */
void judge_stop(struct run_node *node, const struct node_stop *stop, bool repeated);

/*
 * Set the run's state from its flags and nodes. When it has ended, also set the exit status, reason and end
 * time of run and attempt; the end time is now_ms if no node gives a better one. Returns the state.
 */
enum run_state judge_run(struct run *run, int64_t now_ms);

/* Set the error of a failed run: its reason, with the remedy as the hint. Returns -1. */
int judge_failure(const struct run *run, struct error *err);

#endif
