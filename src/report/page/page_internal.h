/* The parts of a report's page. Each is made from the values in the JSON of the report. */
#ifndef MTLAUNCH_REPORT_PAGE_INTERNAL_H
#define MTLAUNCH_REPORT_PAGE_INTERNAL_H

#include "base/json.h"
#include "base/str.h"

/* src/report/page/page.css and page.js, embedded at build time, and their digests for the page's policy. */
extern const char page_css[], page_js[], page_css_digest[], page_js_digest[];

/*
 * Append the page. runs is an array of the runs' objects, comparison the object of their comparison or null.
 * now_ms: the time of writing.
 */
void page_html(const json_t *runs, const json_t *comparison, int64_t now_ms, struct str *out);

/* Where and how a part is written. */
struct page {
    struct str *out;
    size_t run;     /* index of the run on the page; part of the ids */
    unsigned level; /* of the headings of parts: 2 on the page of one run, 3 below the name of a run */
    int64_t now_ms;
};

/* Begin a part with its heading: <section id="rN-ID"><hN>TITLE</hN>; page_end_part closes it. */
void page_begin_part(const struct page *page, const char *id, const char *title);
void page_end_part(const struct page *page);

/*
 * Begin a table that scrolls within the page when it is too wide; head: titles of its columns,
 * NULL-terminated.
 */
void page_begin_table(const struct page *page, const char *label, const char *class, const char *const *head);
void page_end_table(const struct page *page);
void page_cell(const struct page *page, const char *text);

/* Append a time in local form; 0: "–". */
void page_time(const struct page *page, int64_t time_ms);

/*
 * A part. is_there: does the run's object have what the part shows? If not, the list of contents leaves it
 * out.
 */
struct page_part {
    const char *id, *title;
    bool (*is_there)(const json_t *run); /* NULL: always */
    void (*add)(const struct page *page, const json_t *run);
};

extern const struct page_part page_parts[];
extern const size_t page_parts_len;

/* Shown above the parts: state and figures. */
void page_add_summary(const struct page *page, const json_t *run);
void page_add_state(const struct page *page, const json_t *run);
const char *page_state_class(const char *state); /* "ok", "bad", "warn", "live", "idle" */

/* Parts. */
bool page_has_cause(const json_t *run);
void page_add_cause(const struct page *page, const json_t *run);
bool page_has_training(const json_t *run);
void page_add_training(const struct page *page, const json_t *run);
bool page_has_gpus(const json_t *run);
void page_add_gpus(const struct page *page, const json_t *run);
bool page_has_timeline(const json_t *run);
void page_add_timeline(const struct page *page, const json_t *run);
void page_add_nodes(const struct page *page, const json_t *run);
bool page_has_findings(const json_t *run);
void page_add_findings(const struct page *page, const json_t *run);
void page_add_network(const struct page *page, const json_t *run);
void page_add_plan(const struct page *page, const json_t *run);
bool page_has_environment(const json_t *run);
void page_add_environment(const struct page *page, const json_t *run);
bool page_has_spec(const json_t *run);
void page_add_spec(const struct page *page, const json_t *run);
bool page_has_events(const json_t *run);
void page_add_events(const struct page *page, const json_t *run);
bool page_has_logs(const json_t *run);
void page_add_logs(const struct page *page, const json_t *run);

/* The figures of several runs side by side, what differs, and the verdict. */
void page_add_comparison(const struct page *page, const json_t *comparison);

/* Plots of the training of several runs, overlaid. */
void page_add_overlay(const struct page *page, const json_t *runs);

/* The number of events that a page shows: the last ones. */
#define PAGE_EVENTS_MAX 200
#define PAGE_ROWS_MAX   48 /* rows of a table or a timeline of nodes */

#endif
