/*
 * Metrics of runs for Prometheus, from their records and from what their supervisors last saw. The text is
 * valid both as OpenMetrics 1.0 and in Prometheus' own format (which treats the additional lines of
 * OpenMetrics as comments), so every metric is a gauge.
 *
 * To add one: a row in src/report/metrics.c. tests/cli/test_metrics.py checks all of them with promtool.
 */
#ifndef MTLAUNCH_REPORT_METRICS_H
#define MTLAUNCH_REPORT_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/run.h"
#include "model/samples.h"

#define METRICS_TYPE_OPEN  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_TYPE_PLAIN "text/plain; version=0.0.4; charset=utf-8"

/* A run. Borrowed. */
struct metrics_run {
    const struct run *run;
    bool supervised;
    const struct sample *gpus; /* of its nodes, as last seen; NULL: nothing is known, or it is old */
};

struct metrics {
    const char *version;
    size_t states[RUN_FINISHED + 1]; /* how many runs there are in each state, those below and others */
    const struct metrics_run *runs;
    size_t len;
};

void report_metrics_text(const struct metrics *metrics, struct str *out);

/* {schema, metrics: [{name, help, unit, samples: [{labels, value}]}]} */
void report_metrics_json(const struct metrics *metrics, struct str *out);

#endif
