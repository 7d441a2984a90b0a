/* The plan of a start that contacts no node, as text and as JSON (`mtlaunch help json`). */
#ifndef MTLAUNCH_REPORT_DRYRUN_H
#define MTLAUNCH_REPORT_DRYRUN_H

#include "base/str.h"
#include "report/style.h"

struct plan;

/* Append per node: host, rank, environment with sources (secrets as ***), working directory, the command. */
void report_plan_text(const struct plan *plan, const struct report_style *style, struct str *out);
void report_plan_json(const struct plan *plan, struct str *out);

#endif
