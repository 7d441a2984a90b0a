/*
 * Refreshes one run repeatedly, for a full-screen display. The sessions to its nodes stay open in between.
 * All functions except run_view_look, run_view_pause and run_view_stacks may be called from the observer's
 * work (run/observer.h).
 */
#ifndef MTLAUNCH_RUN_VIEW_H
#define MTLAUNCH_RUN_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "run/stacks.h"
#include "run/usecase.h"

struct run_view;

/* Both are borrowed until run_view_free. Nothing is read yet. */
struct run_view *run_view_new(struct run_context *context, const char *name);
void run_view_free(struct run_view *view); /* NULL accepted */

/* Refresh the run, as run_status does. */
int run_view_look(struct run_view *view, struct error *err);

/* The run as last seen; its name is NULL before the first look. Valid until the next look. */
const struct run *run_view_run(const struct run_view *view);

/* Pause. Errors: kind_interrupted, kind_terminated, kind_local. */
int run_view_pause(struct run_view *view, unsigned ms, struct error *err);
/* End that pause, or a run_view_stacks in progress. */
void run_view_wake(struct run_view *view);

/*
 * From now on pass the last lines of this node's log, and everything added to it, to the observer, instead of
 * the log of another node. node is its index in the run. Requires an earlier run_view_look.
 */
void run_view_follow(struct run_view *view, size_t node, unsigned long lines);
void run_view_unfollow(struct run_view *view);

/* As run_stacks, for all nodes; run_view_wake ends it with kind_interrupted. */
int run_view_stacks(struct run_view *view, struct run_stacks_result *result, struct error *err);

#endif
