/* Runs to compare: for 'compare', and for commands that end with a comparison. */
#ifndef MTLAUNCH_CMD_COMPARE_INTERNAL_H
#define MTLAUNCH_CMD_COMPARE_INTERNAL_H

#include "cmd/session_internal.h"
#include "insight/comparison.h"

/* Owned. */
struct compared_runs {
    struct run *runs;
    struct comparison_input *inputs; /* one per run */
    size_t len;
};

/* Load the runs of these names. Errors: those of run_store_load and run_status. Release out in any case. */
int compare_load(struct session *session, const struct strlist *names, struct compared_runs *out,
                 struct error *err);
void compared_runs_release(struct compared_runs *compared);

#endif
