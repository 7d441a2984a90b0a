/* A diagnosis, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_DIAGNOSE_H
#define MTLAUNCH_REPORT_DIAGNOSE_H

#include "base/json.h"
#include "base/str.h"
#include "report/style.h"
#include "run/diagnose.h"

/* The cause alone, as `diagnose` shows it; null when there is none. A new reference. */
json_t *report_cause_json(const struct explanation *explanation);

/* The JSON of `diagnose` (`mtlaunch help json`): one line. */
void report_diagnose_json(const struct explanation *explanation, struct str *out);

void report_diagnose_text(const struct explanation *explanation, const struct report_style *style,
                          struct str *out);

#endif
