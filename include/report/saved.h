/* The outcome of saving logs, node by node, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_SAVED_H
#define MTLAUNCH_REPORT_SAVED_H

#include "base/error.h"
#include "base/str.h"
#include "run/usecase.h"

/*
 * Append a line per node: "node1: logs/r_node0.log: 120 bytes, 20 new". Nodes whose log was not saved
 * completely are left out.
 */
void report_saved_text(const struct run_saved *saved, struct str *out);

/*
 * {schema, run, attempt, hosts: [{host, rank, file, bytes, bytes_new, older, complete, error}]}, with error
 * when failure is not NULL.
 */
void report_saved_json(const char *run, const struct run_saved *saved, const struct error *failure,
                       struct str *out);

#endif
