/* Finds the nodes of a run that --node selects. */
#ifndef MTLAUNCH_RUN_SELECT_INTERNAL_H
#define MTLAUNCH_RUN_SELECT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/run.h"

/*
 * Select nodes by the words of --node: a number is a node's rank, anything else a label or host name. No
 * words: all nodes. selected has one entry per node, false before. Errors: kind_usage.
 */
int run_select_nodes(const struct run *run, const struct strlist *words, bool *selected, size_t *count,
                     struct error *err);

#endif
