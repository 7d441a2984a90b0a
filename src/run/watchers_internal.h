/*
 * One watch per node: receives what the nodes of a run report about themselves. A broken watch is reopened
 * with growing pauses. The run is not changed before watchers_apply.
 */
#ifndef MTLAUNCH_RUN_WATCHERS_INTERNAL_H
#define MTLAUNCH_RUN_WATCHERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/samples.h"
#include "node_set_internal.h"

struct watchers;

/*
 * Watch every node of run that has not ended, with a heartbeat every beat_s seconds. set was opened for run,
 * which is borrowed until watchers_free.
 */
struct watchers *watchers_open(struct node_set *set, const struct run *run, unsigned beat_s);

/* Release all, after node_set_close. NULL accepted. */
void watchers_free(struct watchers *watchers);

/* Cancel watches that have been silent for too long; they are restarted. */
void watchers_check(struct watchers *watchers);

/*
 * The network is back: count the silence of nodes that have not answered yet from now on, and ask them at
 * once.
 */
void watchers_begin_anew(struct watchers *watchers);

/*
 * Whether there are reports that watchers_apply has not applied yet. The fleet's loop is stopped when one
 * arrives.
 */
bool watchers_have_news(const struct watchers *watchers);

/* Apply the reports to run, whose nodes are those of the node set. */
void watchers_apply(struct watchers *watchers, struct run *run);

/*
 * Fill out, one per node (NULL: only count), with the GPUs as last reported, unless that is long ago. Returns
 * for how many nodes they are known.
 */
size_t watchers_gpus(const struct watchers *watchers, struct gpu_sample *out);

/* One per node, monotonic ms: since when it has been silent; 0: it answers, or it is too early to know. */
const int64_t *watchers_silent_since(const struct watchers *watchers);
/* One per node, monotonic ms: when its log was last seen to have grown; 0: unknown. */
const int64_t *watchers_grown(const struct watchers *watchers);

#endif
