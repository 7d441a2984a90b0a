/* Parts of the answers of some commands, for an answer that contains them all. */
#ifndef MTLAUNCH_REPORT_VALUES_INTERNAL_H
#define MTLAUNCH_REPORT_VALUES_INTERNAL_H

#include "base/json.h"
#include "report/status.h"
#include "run/diagnose.h"

/* The status object of a run, without "schema". */
json_t *report_run_value(const struct report_run *view);

/* Put "cause", "consequences" and "facts" into object. */
void report_diagnosis_put(json_t *object, const struct explanation *explanation);

/* Put "spec", "plan" and "findings" into object, as recorded. */
void report_recorded_put(json_t *object, const struct run *run);

/* Append such a spec as the job file it was. */
void report_spec_text(const json_t *spec, struct str *out);

#endif
