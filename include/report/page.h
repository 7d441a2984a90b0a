/*
 * The report of runs: one self-contained HTML page, and the same values as JSON. The page is made from the
 * JSON object, so both have the same content.
 */
#ifndef MTLAUNCH_REPORT_PAGE_H
#define MTLAUNCH_REPORT_PAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "insight/comparison.h"
#include "report/status.h"
#include "run/history.h"

#define REPORT_PAGE_RUNS 8 /* runs that are shown in full */

struct report_page; /* opaque */

struct report_page *report_page_new(void);
void report_page_free(struct report_page *page); /* NULL: nothing */

/* Add a run: view is its status view, history is what was gathered over time. */
void report_page_add(struct report_page *page, const struct report_run *view,
                     const struct run_history *history);

/* Add the comparison of the runs. */
void report_page_compare(struct report_page *page, const struct comparison *comparison);

/* Append the page; now_ms: the time of writing. */
void report_page_html(const struct report_page *page, int64_t now_ms, struct str *out);

/* Append {schema, file, runs: […], compare: the object of `compare` or null}; file NULL: null. */
void report_page_json(const struct report_page *page, const char *file, struct str *out);

#endif
