/* Equal nodes of a large plan, told once. */
#ifndef MTLAUNCH_REPORT_DRYRUN_INTERNAL_H
#define MTLAUNCH_REPORT_DRYRUN_INTERNAL_H

#include <stddef.h>

#include "base/str.h"
#include "run/plan.h"

/* For each node the first one that is the same but for its number and host. Caller frees. */
size_t *dryrun_fold(const struct plan *plan);

/* Append what to know of the nodes that stand behind node index, which is their first: nothing when alone. */
void dryrun_add_others(const struct plan *plan, const size_t *first, size_t index, struct str *out);

#endif
