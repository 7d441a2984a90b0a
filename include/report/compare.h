/* A comparison of runs: as tables with a bar chart and a verdict, as CSV, and as JSON. */
#ifndef MTLAUNCH_REPORT_COMPARE_H
#define MTLAUNCH_REPORT_COMPARE_H

#include "base/json.h"
#include "base/str.h"
#include "insight/comparison.h"
#include "report/style.h"

void report_compare_text(const struct comparison *comparison, const struct report_style *style,
                         struct str *out);

/*
 * Append one line per run below a line of names, as in RFC 4180 except for the line ends; an unknown value is
 * empty.
 */
void report_compare_csv(const struct comparison *comparison, struct str *out);

/* {schema, runs, differences, verdict} */
void report_compare_json(const struct comparison *comparison, struct str *out);

/* The members of that object, for use in another answer. A new reference. */
json_t *report_compare_object(const struct comparison *comparison);

#endif
