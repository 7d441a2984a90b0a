/* The table of a run's nodes, for the status of the run. */
#ifndef MTLAUNCH_REPORT_STATUS_INTERNAL_H
#define MTLAUNCH_REPORT_STATUS_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "report/status.h"

/*
 * Append the table. From 17 nodes on, a summary is printed above it, and nodes in the same state share one
 * line, the odd ones first, unless style->full.
 */
void report_nodes_text(const struct run *run, const struct report_style *style, struct str *out);

/* The events as an array of {time, event, host, text}; NULL: none. */
json_t *report_events_json(const struct run_events *events);

#endif
