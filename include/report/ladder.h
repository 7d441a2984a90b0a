/* The steps of a ladder, their outcome and their comparison, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_LADDER_H
#define MTLAUNCH_REPORT_LADDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "insight/comparison.h"
#include "report/style.h"
#include "run/diagnose.h"

/* All borrowed. */
struct report_ladder_step {
    const char *step, *run;            /* the step's name, and the name of its run */
    const char *profiles, *zero_stage; /* as text; NULL: as in the job */
    size_t nodes;
    const struct run *record;              /* NULL: not started yet */
    bool done;                             /* it will not be repeated */
    const struct explanation *explanation; /* why it failed, from its logs; NULL: unknown */
    const char *reason;                    /* why it failed; NULL: it did not */
    const struct strlist *changed;         /* keys of the job that have changed since its run was started */
};

struct report_ladder {
    const struct report_ladder_step *steps;
    size_t len;
    unsigned long limit_s;
    const struct comparison *comparison; /* NULL: nothing has been run */
    const char *recommendation;          /* NULL */
};

/* Append the steps that would run, and those that are done already. */
void report_ladder_plan(const struct report_ladder *ladder, const struct report_style *style,
                        struct str *out);

void report_ladder_text(const struct report_ladder *ladder, const struct report_style *style,
                        struct str *out);

/* {schema, steps: [{step, run, state, seconds, cause, reason, changed}], compare, recommendation} */
void report_ladder_json(const struct report_ladder *ladder, struct str *out);

#endif
