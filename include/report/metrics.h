/*
 * Metrics of runs for Prometheus, from their records and from what their supervisors saw last. The text is
 * valid both as OpenMetrics 1.0 and in Prometheus' own format, which treats the additional lines of
 * OpenMetrics as comments. This is why every metric is a gauge.
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
    const struct sample *gpus; /* of its nodes, as last seen; NULL: unknown or outdated */
};

struct metrics {
    const char *version;
    size_t states[RUN_FINISHED + 1]; /* number of runs in each state, whether listed below or not */
    const struct metrics_run *runs;
    size_t len;
};

void report_metrics_text(const struct metrics *metrics, struct str *out);

/* {schema, metrics: [{name, help, unit, samples: [{labels, value}]}]} */
void report_metrics_json(const struct metrics *metrics, struct str *out);

#endif
