/* What `show` prints of a run: its spec as resolved, the plan of its current attempt, its events. */
#ifndef MTLAUNCH_REPORT_SHOW_H
#define MTLAUNCH_REPORT_SHOW_H

#include <stdbool.h>

#include "base/str.h"
#include "report/style.h"
#include "run/store.h"

struct report_show {
    const struct run *run;
    const struct run_events *events;
    bool with_spec, with_plan, with_events; /* the sections of the text; the JSON object holds all */
};

/* Append {schema, run, job, spec, plan, events}. */
void report_show_json(const struct report_show *show, struct str *out);
void report_show_text(const struct report_show *show, const struct report_style *style, struct str *out);

#endif
