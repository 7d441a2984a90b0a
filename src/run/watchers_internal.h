/*
 * One watch per node: what the nodes of a run report about themselves, as it arrives. A broken watch is
 * reopened with growing pauses. Nothing is put into the run before watchers_apply.
 */
#ifndef MTLAUNCH_RUN_WATCHERS_INTERNAL_H
#define MTLAUNCH_RUN_WATCHERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/samples.h"
#include "node_set_internal.h"

struct watchers;

/* Watch every node of run, which set was opened for (borrowed until watchers_free), that has not ended, with
 * a beat every beat_s seconds. */
struct watchers *watchers_open(struct node_set *set, const struct run *run, unsigned beat_s);

/* Release all, after node_set_close. NULL accepted. */
void watchers_free(struct watchers *watchers);

/* Give up watches that have been silent for too long (they begin anew). */
void watchers_check(struct watchers *watchers);

/*
 * The network is back: count the silence of those who have not answered yet from now on, and ask them at
 * once.
 */
void watchers_begin_anew(struct watchers *watchers);

/* Has anything come that watchers_apply would put into the run? The fleet's loop is stopped when it does. */
bool watchers_have_news(const struct watchers *watchers);

/* Put what has come into run, of which the node set's nodes are. */
void watchers_apply(struct watchers *watchers, struct run *run);

/* The GPUs of each node as it last said, unless that is long ago: one per node. Returns of how many nodes
 * something is known. */
size_t watchers_gpus(const struct watchers *watchers, struct gpu_sample *out);

/* One per node, monotonic ms. Silence: since when, 0: it answers, or has not been asked long enough to know.
 */
const int64_t *watchers_silent_since(const struct watchers *watchers);
/* The log: when it was last seen to have grown; 0: nothing is known. */
const int64_t *watchers_grown(const struct watchers *watchers);

#endif
