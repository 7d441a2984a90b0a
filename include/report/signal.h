/* The outcome of sending a signal, node by node, as text and as JSON. */
#ifndef MTLAUNCH_REPORT_SIGNAL_H
#define MTLAUNCH_REPORT_SIGNAL_H

#include "base/error.h"
#include "base/str.h"
#include "run/usecase.h"

/*
 * Append "node[1-2]: sent SIGUSR1": one line for all nodes with the same outcome. Nodes that failed are left
 * out.
 */
void report_signal_text(const char *signal, const struct run_signal_result *result, struct str *out);

/* {schema, run, signal, hosts: [{host, rank, pid, sent, error}]}, with error when failure is not NULL. */
void report_signal_json(const char *run, const char *signal, const struct run_signal_result *result,
                        const struct error *failure, struct str *out);

#endif
