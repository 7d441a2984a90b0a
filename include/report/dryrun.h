/* The plan of a start that contacts no node, as text and as JSON (`mtlaunch help json`). */
#ifndef MTLAUNCH_REPORT_DRYRUN_H
#define MTLAUNCH_REPORT_DRYRUN_H

#include "base/error.h"
#include "base/str.h"
#include "report/style.h"

struct plan;

/* Writes text out and empties it. */
typedef int report_plan_flush(struct str *text, struct error *err);

/*
 * Append for each node: host, rank, environment with sources (secrets as ***), working directory, command.
 * Between two nodes full takes the text once it is large (NULL: it all stays in out); the rest stays in out.
 * Errors: those of full.
 */
int report_plan_text(const struct plan *plan, const struct report_style *style, report_plan_flush *full,
                     struct str *out, struct error *err);
int report_plan_json(const struct plan *plan, report_plan_flush *full, struct str *out, struct error *err);

#endif
