/* A running ladder: its steps, their runs, and the outcomes. */
#ifndef MTLAUNCH_CMD_LADDER_RUN_INTERNAL_H
#define MTLAUNCH_CMD_LADDER_RUN_INTERNAL_H

#include "cmd/compare_internal.h"
#include "cmd/ladder_internal.h"
#include "cmd/setup_internal.h"
#include "run/diagnose.h"

struct ladder_item {
    const struct ladder_step *step; /* borrowed */
    char *run;                      /* PREFIX-STEP */
    char *profiles;                 /* of the step, for people; NULL: none */
    size_t nodes;
    struct run record; /* record of its run, as last read */
    bool has_record;
    bool done;
    struct strlist changed;         /* keys of the job that have changed since its run was started */
    char *reason;                   /* why it failed; NULL: it did not, or has not run */
    struct explanation explanation; /* set if explained */
    bool explained;
};

struct ladder {
    struct cmd_call *call; /* borrowed */
    char *prefix;
    unsigned long limit_s; /* of a step */
    struct ladder_steps steps;
    struct ladder_item *items; /* one per step */
    size_t len;
    struct compared_runs compared; /* the runs of the comparison at the end */
};

void ladder_release(struct ladder *ladder);

/*
 * Check that the step can be planned, and read the state of its run so far. Errors: those of a dry run of
 * start, with the step's name; kind_run_exists for a run of another job. Warns if the run that counts as the
 * step was started from another version of the job.
 */
int ladder_check_item(const struct ladder *ladder, struct ladder_item *item, struct error *err);

/*
 * Run the step to its end: start its run, or wait for a live one. Returns 0 when it is done; -1 when it
 * failed (reason and, as far as its logs show, explanation are set), or when the user interrupted it and it
 * was stopped.
 */
int ladder_run_item(const struct ladder *ladder, struct ladder_item *item, struct error *err);

#endif
