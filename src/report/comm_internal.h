/* The figures of the all-reduce test, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_COMM_INTERNAL_H
#define MTLAUNCH_REPORT_COMM_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "check/comm.h"
#include "report/style.h"

/*
 * Append a summary line and a row per node, of many nodes only those that differ. Appends nothing when
 * nothing was measured.
 */
void report_comm_text(const struct comm_result *result, const struct report_style *style, struct str *out);

/* {backend, processes, seconds, rounds, rounds_all, nodes, pairs, whole}. A new reference. */
json_t *report_comm_json(const struct comm_result *result);

#endif
