/* Equal nodes of a large plan, shown once. */
#ifndef MTLAUNCH_REPORT_DRYRUN_INTERNAL_H
#define MTLAUNCH_REPORT_DRYRUN_INTERNAL_H

#include <stddef.h>

#include "base/str.h"
#include "model/fold.h"
#include "run/plan.h"

/* Group the nodes that are the same except for rank and host. The caller releases fold. */
void dryrun_fold(const struct plan *plan, struct fold *fold);

/* Append a note about the nodes that the first of the group represents; nothing if it is alone. */
void dryrun_add_others(const struct plan *plan, const struct fold_group *group, struct str *out);

#endif
