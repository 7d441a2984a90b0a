/* The results of a job's checks, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_CHECK_H
#define MTLAUNCH_REPORT_CHECK_H

#include "base/str.h"
#include "report/style.h"
#include "run/check.h"

/* Append a line for each check with how many hosts pass and which do not; below, each problem once. */
void report_check_text(const struct run_checked *checked, const struct report_style *style, struct str *out);

/* {schema, ok, findings: [{id, severity, hosts, folded, title, evidence, remedy}]}; failure: NULL, or the
 * error. */
void report_check_json(const struct run_checked *checked, const struct error *failure, struct str *out);

/* Ids, titles and reasons of all checks: --list. */
void report_checks_text(const struct report_style *style, struct str *out);
void report_checks_json(struct str *out);

#endif
