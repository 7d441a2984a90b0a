/*
 * What a node's answers mean for the run: pure functions from answers to states, reasons and the run's
 * outcome. No I/O, no clock.
 */
#ifndef MTLAUNCH_RUN_JUDGE_INTERNAL_H
#define MTLAUNCH_RUN_JUDGE_INTERNAL_H

#include <stdint.h>

#include "base/error.h"
#include "model/run.h"
#include "node/answer.h"

/* Replace a node's reason (printf form; NULL format: none). */
void judge_set_reason(struct run_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A node said how it is: state, pid, exit status, times and reason follow. */
void judge_observation(struct run_node *node, const struct node_observation *seen, const char *run_id,
                       unsigned attempt);

/* Which of the GPUs are the job's: gpus= of the host list decides where the node could not say. */
void judge_own_gpus(const struct run_node *node, struct node_observation *seen);

/* What nvidia-smi showed there just now. */
void judge_gpus(struct run_node *node, const struct node_gpus *gpus);

/* A node did not answer: it is lost, what was known of it stays. */
void judge_silence(struct run_node *node, const struct error *why);

/* A node was told to start and answered. 0: started; -1 with err: it could not (state and reason are set). */
int judge_start(struct run_node *node, const struct node_start *start, const char *run, struct error *err);

/*
 * Before an observation: the stop of a run went out and its proof was not heard. A node that was running
 * until then counts as told to stop, and so as stopped once it has ended.
 */
void judge_note_stop(const struct run *run, struct run_node *node);

/*
 * A node was told to stop and answered. repeated: an earlier stop of this attempt was sent and its answer
 * never seen, so what has ended since may have ended by it.
 */
void judge_stop(struct run_node *node, const struct node_stop *stop, bool repeated);

/*
 * Set the run's state from flags and nodes; when it has ended (not live) also the exit status, reason and
 * time of end of run and attempt, now_ms where no node knows better. Returns the state.
 */
enum run_state judge_run(struct run *run, int64_t now_ms);

/* The error of a run that has failed: its reason, and what can be done. Returns -1. */
int judge_failure(const struct run *run, struct error *err);

#endif
