/* Writes the page of a report: its head and policy, and the runs one after the other. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "data_internal.h"
#include "html_internal.h"
#include "page_internal.h"
#include "report/compare.h"
#include "report/json_internal.h"

struct report_page {
    json_t *runs;
    json_t *comparison; /* null for a single run */
};

const struct page_part page_parts[] = {
    {"cause", "Cause", page_has_cause, page_add_cause},
    {"training", "Training", page_has_training, page_add_training},
    {"gpus", "GPUs", page_has_gpus, page_add_gpus},
    {"timeline", "Timeline", page_has_timeline, page_add_timeline},
    {"nodes", "Nodes", NULL, page_add_nodes},
    {"findings", "Findings of the check", page_has_findings, page_add_findings},
    {"network", "Network", NULL, page_add_network},
    {"plan", "Plan", NULL, page_add_plan},
    {"environment", "Environment", page_has_environment, page_add_environment},
    {"spec", "Spec", page_has_spec, page_add_spec},
    {"events", "Events", page_has_events, page_add_events},
    {"logs", "Ends of the logs", page_has_logs, page_add_logs},
};
const size_t page_parts_len = ARRAY_LEN(page_parts);

struct report_page *report_page_new(void)
{
    struct report_page *page = xcalloc(1, sizeof(*page));
    page->runs = json_array();
    page->comparison = json_null();
    return page;
}

void report_page_free(struct report_page *page)
{
    if (page) {
        json_decref(page->runs);
        json_decref(page->comparison);
        free(page);
    }
}

void report_page_add(struct report_page *page, const struct report_run *view,
                     const struct run_history *history)
{
    json_array_append_new(page->runs, data_of_run(view, history));
}

void report_page_compare(struct report_page *page, const struct comparison *comparison)
{
    json_decref(page->comparison);
    page->comparison = report_compare_object(comparison);
}

void report_page_json(const struct report_page *page, const char *file, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "file", js_text(file));
    json_object_set(answer, "runs", page->runs);
    json_object_set(answer, "compare", page->comparison);
    js_add_line(out, answer);
}

/* --- elements of parts ------------------------------------------------------------------------------ */

void page_begin_part(const struct page *page, const char *id, const char *title)
{
    str_addf(page->out, "<section id=\"r%zu-%s\" class=\"part part-%s\"><h%u>%s</h%u>\n", page->run, id, id,
             page->level, title, page->level);
}

void page_end_part(const struct page *page)
{
    str_add(page->out, "</section>\n");
}

void page_begin_table(const struct page *page, const char *label, const char *class, const char *const *head)
{
    str_addf(page->out,
             "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s\"><table class=\"%s\">",
             label, class);
    if (head) {
        str_add(page->out, "<thead><tr>");
        for (; *head; head++) {
            str_addf(page->out, "<th scope=\"col\">%s</th>", *head);
        }
        str_add(page->out, "</tr></thead>");
    }
    str_add(page->out, "<tbody>\n");
}

void page_end_table(const struct page *page)
{
    str_add(page->out, "</tbody></table></div>\n");
}

void page_cell(const struct page *page, const char *text)
{
    html_element(page->out, "td", "", text);
}

void page_time(const struct page *page, int64_t time_ms)
{
    char local[CLOCK_TEXT_SIZE], utc[CLOCK_TEXT_SIZE];
    if (time_ms == 0) {
        html_text(page->out, NULL);
        return;
    }
    str_addf(page->out, "<time datetime=\"%s\">%s</time>", clock_format_utc(time_ms, utc),
             clock_format_local(time_ms, local));
}

/* --- the whole page --------------------------------------------------------------------------------- */

/* Nothing is loaded, sent or run except what is in the page itself, allowed by its digest. */
static void add_head(struct str *out, const char *title)
{
    str_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    str_addf(out, "style-src 'sha256-%s'; script-src 'sha256-%s'; ", page_css_digest, page_js_digest);
    str_add(out, "base-uri 'none'; form-action 'none'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" "
                 "content=\"light dark\">\n");
    html_element(out, "title", "", title);
    str_addf(out, "\n<style>%s</style>\n</head>\n<body>\n", page_css);
}

static void add_foot(struct str *out, int64_t now_ms)
{
    char text[CLOCK_TEXT_SIZE], zone[8];
    struct tm parts;
    time_t now = (time_t)(now_ms / 1000);
    localtime_r(&now, &parts);
    strftime(zone, sizeof zone, "%z", &parts);
    str_addf(out,
             "<footer><p>Written by mtlaunch %s on %s. Times are those of the head (UTC%s).</p></footer>\n",
             MTLAUNCH_VERSION, clock_format_local(now_ms, text), zone);
    str_addf(out, "<script>%s</script>\n</body>\n</html>\n", page_js);
}

static bool is_there(const struct page_part *part, const json_t *run)
{
    return !part->is_there || part->is_there(run);
}

static void add_contents(const struct page *page, const json_t *run)
{
    str_add(page->out, "<nav class=\"contents\" aria-label=\"");
    html_text(page->out, data_text(run, "run"));
    str_add(page->out, "\"><ul>");
    for (size_t i = 0; i < page_parts_len; i++) {
        if (is_there(&page_parts[i], run)) {
            str_addf(page->out, "<li><a href=\"#r%zu-%s\">%s</a></li>", page->run, page_parts[i].id,
                     page_parts[i].title);
        }
    }
    str_add(page->out, "</ul></nav>\n");
}

static void add_notes(const struct page *page, const json_t *run)
{
    const json_t *notes = json_object_get(run, "notes");
    if (json_array_size(notes) == 0) {
        return;
    }
    str_add(page->out, "<div class=\"notes\"><p>Some data is missing:</p><ul>");
    for (size_t i = 0; i < json_array_size(notes); i++) {
        html_element(page->out, "li", "", json_string_value(json_array_get(notes, i)));
    }
    str_add(page->out, "</ul></div>\n");
}

static void add_run(const struct page *page, const json_t *run)
{
    page_add_summary(page, run);
    add_contents(page, run);
    add_notes(page, run);
    for (size_t i = 0; i < page_parts_len; i++) {
        if (is_there(&page_parts[i], run)) {
            page_begin_part(page, page_parts[i].id, page_parts[i].title);
            page_parts[i].add(page, run);
            page_end_part(page);
        }
    }
}

static void add_one(struct str *out, const json_t *run, int64_t now_ms)
{
    const struct page page = {.out = out, .level = 2, .now_ms = now_ms};
    str_add(out, "<header><div class=\"name\">");
    html_element(out, "h1", "", data_text(run, "run"));
    page_add_state(&page, run);
    str_add(out, "</div></header>\n<main>\n");
    add_run(&page, run);
    str_add(out, "</main>\n");
}

static void add_several(struct str *out, const json_t *runs, const json_t *comparison, int64_t now_ms)
{
    size_t len = json_array_size(runs);
    struct page page = {.out = out, .level = 2, .now_ms = now_ms};
    str_addf(out, "<header><h1>%zu runs</h1></header>\n<main>\n", len);
    page_add_comparison(&page, comparison);
    page_add_overlay(&page, runs);
    page.level = 3;
    for (; page.run < len && page.run < REPORT_PAGE_RUNS; page.run++) {
        const json_t *run = json_array_get(runs, page.run);
        str_addf(out, "<article id=\"r%zu\"><div class=\"name\">", page.run);
        html_element(out, "h2", "", data_text(run, "run"));
        page_add_state(&page, run);
        str_add(out, "</div>\n");
        add_run(&page, run);
        str_add(out, "</article>\n");
    }
    if (len > REPORT_PAGE_RUNS) {
        str_addf(out,
                 "<p class=\"note\">The other %zu runs have a page of their own: mtlaunch report RUN</p>\n",
                 len - REPORT_PAGE_RUNS);
    }
    str_add(out, "</main>\n");
}

void page_html(const json_t *runs, const json_t *comparison, int64_t now_ms, struct str *out)
{
    AUTO_STR struct str title = STR_INIT;
    size_t len = json_array_size(runs);
    for (size_t i = 0; i < len && i < REPORT_PAGE_RUNS; i++) {
        const char *name = data_text(json_array_get(runs, i), "run");
        str_addf(&title, "%s%s", i > 0 ? ", " : "", name ? name : "?");
    }
    str_add(&title, len > 1 ? " – comparison" : " – report");
    add_head(out, str_text(&title));
    if (len == 1) {
        add_one(out, json_array_get(runs, 0), now_ms);
    } else {
        add_several(out, runs, comparison, now_ms);
    }
    add_foot(out, now_ms);
}

void report_page_html(const struct report_page *page, int64_t now_ms, struct str *out)
{
    page_html(page->runs, page->comparison, now_ms, out);
}
