/* Several runs side by side: the figures and the verdict of `compare`. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "figure_internal.h"
#include "html_internal.h"
#include "page_internal.h"

#define VALUE_MAX 200 /* characters shown of a value */

/* A column of figures. To add one: a row. */
static const struct column {
    const char *key, *title;
    enum figure_kind kind;
    double factor;
} columns[] = {
    {"nodes", "Nodes", FIGURE_COUNT, 1},
    {"gpus", "GPUs", FIGURE_COUNT, 1},
    {"global_batch", "Global batch", FIGURE_COUNT, 1},
    {"step_time", "Step time", FIGURE_SECONDS, 1},
    {"samples_per_second", "Samples/s", FIGURE_NUMBER, 1},
    {"tokens_per_second", "Tokens/s", FIGURE_NUMBER, 1},
    {"tflops_per_gpu", "TFLOP/s per GPU", FIGURE_NUMBER, 1},
    {"mfu", "MFU", FIGURE_PERCENT, 100},
    {"speedup", "Speed-up", FIGURE_NUMBER, 1},
    {"efficiency", "Efficiency", FIGURE_PERCENT, 100},
    {"peak_memory", "Peak GPU memory", FIGURE_BYTES, 1},
    {"final_loss", "Last loss", FIGURE_NUMBER, 1},
};

/* Does any run have a value? A column without values is left out. */
static bool is_known(const json_t *runs, const char *key)
{
    for (size_t i = 0; i < json_array_size(runs); i++) {
        if (!json_is_null(json_object_get(json_array_get(runs, i), key))) {
            return true;
        }
    }
    return false;
}

static void add_head(const struct page *page, const json_t *runs)
{
    const char *head[ARRAY_LEN(columns) + 4];
    size_t len = 0;
    head[len++] = "Run";
    head[len++] = "State";
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        if (is_known(runs, columns[i].key)) {
            head[len++] = columns[i].title;
        }
    }
    if (is_known(runs, "network")) {
        head[len++] = "Network";
    }
    head[len] = NULL;
    page_begin_table(page, "comparison", "compare", head);
}

static void add_row(const struct page *page, const json_t *runs, size_t index)
{
    const json_t *run = json_array_get(runs, index);
    const char *state = data_text(run, "state");
    char text[FIGURE_TEXT_SIZE];
    str_add(page->out, "<tr><th scope=\"row\">");
    if (index < REPORT_PAGE_RUNS) {
        str_addf(page->out, "<a href=\"#r%zu\">", index);
    }
    html_text(page->out, data_text(run, "run"));
    str_addf(page->out, "%s</th><td><span class=\"state %s\">", index < REPORT_PAGE_RUNS ? "</a>" : "",
             page_state_class(state));
    html_text(page->out, state);
    str_add(page->out, "</span></td>");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        if (is_known(runs, columns[i].key)) {
            page_cell(page, figure_text(columns[i].kind, data_number(run, columns[i].key) * columns[i].factor,
                                        text));
        }
    }
    if (is_known(runs, "network")) {
        page_cell(page, data_text(run, "network"));
    }
    str_add(page->out, "</tr>\n");
}

/* A value of a spec as text. */
static void add_value(const struct page *page, const json_t *value)
{
    AUTO_FREE char *text = json_is_string(value) ? xstrdup(json_string_value(value))
                           : json_is_null(value) ? NULL
                                                 : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    str_add(page->out, "<td class=\"text\">");
    html_text_short(page->out, text, VALUE_MAX);
    str_add(page->out, "</td>");
}

static void add_differences(const struct page *page, const json_t *runs, const json_t *differences)
{
    if (json_array_size(differences) == 0) {
        return;
    }
    page_begin_part(page, "differences", "What differs");
    page_begin_table(page, "differences", "differs", NULL);
    str_add(page->out, "<tr><td></td>");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        html_element(page->out, "th", " scope=\"col\"", data_text(json_array_get(runs, i), "run"));
    }
    str_add(page->out, "</tr>\n");
    for (size_t i = 0; i < json_array_size(differences); i++) {
        const json_t *one = json_array_get(differences, i), *values = json_object_get(one, "values");
        str_add(page->out, "<tr>");
        html_element(page->out, "th", " scope=\"row\"", data_text(one, "key"));
        for (size_t v = 0; v < json_array_size(values); v++) {
            add_value(page, json_array_get(values, v));
        }
        str_add(page->out, "</tr>\n");
    }
    page_end_table(page);
    page_end_part(page);
}

void page_add_comparison(const struct page *page, const json_t *comparison)
{
    const json_t *runs = json_object_get(comparison, "runs");
    if (json_array_size(runs) == 0) {
        return;
    }
    if (data_text(comparison, "verdict")) {
        html_element(page->out, "p", " class=\"verdict\"", data_text(comparison, "verdict"));
    }
    page_begin_part(page, "figures", "Figures");
    add_head(page, runs);
    for (size_t i = 0; i < json_array_size(runs); i++) {
        add_row(page, runs, i);
    }
    page_end_table(page);
    page_end_part(page);
    add_differences(page, runs, json_object_get(comparison, "differences"));
}
