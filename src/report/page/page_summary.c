/* A run at a glance: its state, its figures, and why it failed. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "data_internal.h"
#include "figure_internal.h"
#include "html_internal.h"
#include "model/hostlist.h"
#include "page_internal.h"

const char *page_state_class(const char *state)
{
    static const char *const rows[][2] = {
        {"finished", "ok"}, {"exited", "ok"},     {"failed", "bad"},   {"degraded", "bad"},
        {"lost", "warn"},   {"stopping", "warn"}, {"running", "live"}, {"starting", "live"},
        {"ok", "ok"},       {"fail", "bad"},      {"warn", "warn"},    {"note", "idle"},
    };
    for (size_t i = 0; state && i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i][0], state) == 0) {
            return rows[i][1];
        }
    }
    return "idle";
}

void page_add_state(const struct page *page, const json_t *run)
{
    const char *state = data_text(run, "state");
    str_addf(page->out, "<p class=\"state %s\">", page_state_class(state));
    html_text(page->out, state);
    str_add(page->out, "</p>\n");
}

/* --- figures ---------------------------------------------------------------------------------------- */

static void add_figure(const struct page *page, const char *name, const char *value, const char *more)
{
    str_addf(page->out, "<div><dt>%s</dt><dd>", name);
    html_text(page->out, value);
    if (more && *more) {
        str_add(page->out, " <small>");
        html_text(page->out, more);
        str_add(page->out, "</small>");
    }
    str_add(page->out, "</dd></div>\n");
}

/* Add a number of an object, if it is known. */
static void add_number(const struct page *page, const char *name, const json_t *object, const char *key,
                       enum figure_kind kind, const char *unit)
{
    char text[FIGURE_TEXT_SIZE];
    double value = data_number(object, key);
    if (isfinite(value)) {
        add_figure(page, name, figure_text(kind, value, text), unit);
    }
}

static void add_size(const struct page *page, const json_t *run)
{
    char nodes[FIGURE_TEXT_SIZE], processes[FIGURE_TEXT_SIZE];
    AUTO_STR struct str more = STR_INIT;
    const json_t *plan = json_object_get(run, "plan");
    double world = data_number(plan, "world_size"), count = (double)data_len(run, "nodes");
    if (isfinite(world) && world > 0) {
        str_addf(&more, "%s %s", figure_text(FIGURE_COUNT, world, processes),
                 world > 1 ? "processes" : "process");
    }
    add_figure(page, count > 1 ? "Nodes" : "Node", figure_text(FIGURE_COUNT, count, nodes), str_text(&more));
}

static void add_duration(const struct page *page, const json_t *run)
{
    char text[FIGURE_TEXT_SIZE];
    int64_t started = data_time(run, "started"), ended = data_time(run, "ended");
    if (started != 0) {
        double seconds = (double)((ended != 0 ? ended : page->now_ms) - started) / 1000;
        add_figure(page, ended != 0 ? "Duration" : "So far", figure_text(FIGURE_SPAN, seconds, text), NULL);
    }
}

static void add_iteration(const struct page *page, const json_t *progress)
{
    char done[FIGURE_TEXT_SIZE], all[FIGURE_TEXT_SIZE];
    AUTO_STR struct str more = STR_INIT;
    double iteration = data_number(progress, "iteration"), total = data_number(progress, "total");
    if (!isfinite(iteration)) {
        return;
    }
    if (isfinite(total)) {
        str_addf(&more, "of %s", figure_text(FIGURE_COUNT, total, all));
    }
    add_figure(page, "Iteration", figure_text(FIGURE_COUNT, iteration, done), str_text(&more));
}

static void add_exit(const struct page *page, const json_t *run)
{
    char text[FIGURE_TEXT_SIZE];
    double status = data_number(run, "exit_status");
    if (isfinite(status) && status != 0) {
        add_figure(page, "Exit status", figure_text(FIGURE_COUNT, status, text), NULL);
    }
}

static void add_line(const struct page *page, const json_t *run)
{
    char attempt[FIGURE_TEXT_SIZE];
    str_add(page->out, "<p class=\"lead\">Job <b>");
    html_text(page->out, data_text(run, "job"));
    str_addf(page->out, "</b>, attempt %s, started ",
             figure_text(FIGURE_COUNT, data_number(run, "attempt"), attempt));
    page_time(page, data_time(run, "started"));
    if (data_time(run, "ended") != 0) {
        str_add(page->out, ", ended ");
        page_time(page, data_time(run, "ended"));
    }
    str_add(page->out, "</p>\n");
}

void page_add_summary(const struct page *page, const json_t *run)
{
    const json_t *progress = json_object_get(run, "progress");
    add_line(page, run);
    str_add(page->out, "<dl class=\"figures\">\n");
    add_size(page, run);
    add_duration(page, run);
    add_iteration(page, progress);
    add_number(page, "Last loss", progress, "loss", FIGURE_NUMBER, NULL);
    if (data_number(progress, "nan") > 0) {
        add_number(page, "Without a finite loss", progress, "nan", FIGURE_COUNT, "iterations");
    }
    add_number(page, "Step time", progress, "step_time", FIGURE_SECONDS, NULL);
    add_number(page, "Throughput", progress, "tokens_per_second", FIGURE_NUMBER, "tokens/s");
    if (!isfinite(data_number(progress, "tokens_per_second"))) {
        add_number(page, "Throughput", progress, "samples_per_second", FIGURE_NUMBER, "samples/s");
    }
    add_number(page, "Compute", progress, "tflops_per_gpu", FIGURE_NUMBER, "TFLOP/s per GPU");
    add_number(page, "Peak GPU memory", run, "peak_memory", FIGURE_BYTES, NULL);
    add_exit(page, run);
    str_add(page->out, "</dl>\n");
}

/* --- cause ------------------------------------------------------------------------------------------ */

bool page_has_cause(const json_t *run)
{
    return json_is_object(json_object_get(run, "cause")) || data_text(run, "reason") ||
           data_len(run, "consequences") > 0;
}

/* Add the line that is the evidence, and its "FILE:LINE". */
static void add_evidence(const struct page *page, const json_t *evidence)
{
    char line[FIGURE_TEXT_SIZE];
    double number = data_number(evidence, "line");
    if (!data_text(evidence, "text")) {
        return;
    }
    str_add(page->out, "<figure class=\"evidence\"><pre tabindex=\"0\">");
    html_text(page->out, data_text(evidence, "text"));
    str_add(page->out, "</pre>");
    if (data_text(evidence, "file")) {
        str_add(page->out, "<figcaption>");
        html_text(page->out, data_text(evidence, "file"));
        if (isfinite(number)) {
            str_addf(page->out, ", line %s", figure_text(FIGURE_COUNT, number, line));
        }
        str_add(page->out, "</figcaption>");
    }
    str_add(page->out, "</figure>\n");
}

static void add_hosts(const struct page *page, const json_t *object)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    js_get_list(object, "hosts", &hosts);
    hostlist_fold_names(hosts.items, hosts.len, &folded);
    html_text(page->out, str_text(&folded));
}

static void add_found(const struct page *page, const json_t *cause)
{
    char rank[FIGURE_TEXT_SIZE];
    const json_t *remedies = json_object_get(cause, "remedy");
    str_add(page->out, "<p class=\"what\">");
    html_text(page->out, data_text(cause, "summary"));
    str_add(page->out, "</p>\n<p class=\"where\">on <b>");
    add_hosts(page, cause);
    str_add(page->out, "</b>");
    if (isfinite(data_number(cause, "global_rank"))) {
        str_addf(page->out, ", rank %s", figure_text(FIGURE_COUNT, data_number(cause, "global_rank"), rank));
    }
    str_add(page->out, " <span class=\"id\">");
    html_text(page->out, data_text(cause, "id"));
    str_add(page->out, ", confidence ");
    html_text(page->out, data_text(cause, "confidence"));
    str_add(page->out, "</span></p>\n");
    add_evidence(page, json_object_get(cause, "evidence"));
    if (json_array_size(remedies) > 0) {
        str_add(page->out, "<p class=\"label\">What to do</p><ul class=\"remedy\">");
        for (size_t i = 0; i < json_array_size(remedies); i++) {
            html_element(page->out, "li", "", json_string_value(json_array_get(remedies, i)));
        }
        str_add(page->out, "</ul>\n");
    }
}

static void add_consequences(const struct page *page, const json_t *consequences)
{
    static const char *const head[] = {"Then", "Nodes", "Message", NULL};
    if (json_array_size(consequences) == 0) {
        return;
    }
    page_begin_table(page, "what followed", "events", head);
    for (size_t i = 0; i < json_array_size(consequences) && i < PAGE_ROWS_MAX; i++) {
        const json_t *one = json_array_get(consequences, i);
        str_add(page->out, "<tr>");
        page_cell(page, data_text(one, "id"));
        str_add(page->out, "<td>");
        add_hosts(page, one);
        str_add(page->out, "</td><td class=\"text\">");
        html_text(page->out, data_text(json_object_get(one, "evidence"), "text"));
        str_add(page->out, "</td></tr>\n");
    }
    page_end_table(page);
}

void page_add_cause(const struct page *page, const json_t *run)
{
    const json_t *cause = json_object_get(run, "cause");
    if (json_is_object(cause)) {
        add_found(page, cause);
    } else if (data_text(run, "reason")) {
        str_add(page->out, "<pre class=\"reason\" tabindex=\"0\">");
        html_text(page->out, data_text(run, "reason"));
        str_add(page->out, "</pre>\n");
    } else {
        str_add(page->out, "<p>The logs show only consequences.</p>\n");
    }
    add_consequences(page, json_object_get(run, "consequences"));
}
