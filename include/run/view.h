/*
 * Refreshes one run repeatedly, for a screen. The sessions to its nodes stay open in between.
 * All functions but run_view_look, run_view_pause and run_view_stacks may be called inside work of the
 * observer's (run/observer.h).
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

/* As run_status. */
int run_view_look(struct run_view *view, struct error *err);

/* The run as last seen; its name is NULL before the first look. Valid until the next look. */
const struct run *run_view_run(const struct run_view *view);

/* Let time pass. Errors: kind_interrupted, kind_terminated, kind_local. */
int run_view_pause(struct run_view *view, unsigned ms, struct error *err);
/* End that pause, or what run_view_stacks is at. */
void run_view_wake(struct run_view *view);

/*
 * From now on the last lines of the log of that node (its place in the run), and what is added to it, go to
 * the observer, in place of those of another node. The run must have been looked at.
 */
void run_view_follow(struct run_view *view, size_t node, unsigned long lines);
void run_view_unfollow(struct run_view *view);

/* As run_stacks, of all nodes; run_view_wake ends it with kind_interrupted. */
int run_view_stacks(struct run_view *view, struct run_stacks_result *result, struct error *err);

#endif
