/* Shows what the workers of a run are doing, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_STACKS_H
#define MTLAUNCH_REPORT_STACKS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "run/stacks.h"

/*
 * Append a line for all, then each group with its frames, the odd groups first. full: show every frame with
 * its whole path, not only those of the program.
 */
void report_stacks_text(const struct run_stacks_result *result, bool full, struct str *out);

/* {schema, groups: [{source, ranks, hosts, state, frames: [{function, file, line}]}], odd: [ranks], errors:
 * [{host, text}]}, with error when failure is not NULL. */
void report_stacks_json(const struct run_stacks_result *result, const struct error *failure, struct str *out);

#endif
