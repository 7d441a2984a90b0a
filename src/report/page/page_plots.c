/*
 * The plots of a run: its training by iteration and its GPUs over time; and those of several runs, overlaid.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "html_internal.h"
#include "page_internal.h"
#include "svg_internal.h"

#define GAP_STEPS 3.5 /* steps without a sample that interrupt a line */

/* A plot of the training. To add one: a row. */
static const struct training_plot {
    enum sample_number number;
    const char *title, *y_name;
    enum figure_kind kind;
    bool from_zero;
} training_plots[] = {
    {SAMPLE_LOSS, "Loss", "of an iteration", FIGURE_NUMBER, false},
    {SAMPLE_STEP_TIME, "Step time", "seconds of an iteration", FIGURE_NUMBER, true},
    {SAMPLE_TOKENS, "Tokens", "tokens/s", FIGURE_NUMBER, true},
    {SAMPLE_SAMPLES, "Samples", "samples/s", FIGURE_NUMBER, true},
    {SAMPLE_TFLOPS, "Compute", "TFLOP/s per GPU", FIGURE_NUMBER, true},
};

/* Lines that are being collected; everything is owned. */
struct lines {
    struct svg_series series[SVG_SERIES_MAX];
    char *names[SVG_SERIES_MAX];
    size_t len;
    double **arrays;
    size_t arrays_len, arrays_cap;
};

static void lines_release(struct lines *lines)
{
    for (size_t i = 0; i < lines->arrays_len; i++) {
        free(lines->arrays[i]);
    }
    free(lines->arrays);
    for (size_t i = 0; i < lines->len; i++) {
        free(lines->names[i]);
    }
    *lines = (struct lines){0};
}

static double *keep(struct lines *lines, double *array)
{
    lines->arrays = xgrow(lines->arrays, lines->arrays_len, &lines->arrays_cap, sizeof(*lines->arrays));
    lines->arrays[lines->arrays_len++] = array;
    return array;
}

/* Add a line; name is copied. NULL: there is no room. */
static struct svg_series *add_line(struct lines *lines, const char *name, const double *x, const double *y,
                                   size_t len)
{
    if (lines->len == SVG_SERIES_MAX) {
        return NULL;
    }
    lines->names[lines->len] = xstrdup(name ? name : "?");
    lines->series[lines->len] =
        (struct svg_series){.name = lines->names[lines->len], .x = x, .y = y, .len = len};
    return &lines->series[lines->len++];
}

static void draw(const struct page *page, const struct svg_plot *plot, struct lines *lines)
{
    struct svg_plot whole = *plot;
    whole.series = lines->series;
    whole.series_len = lines->len;
    if (svg_plot_has_points(&whole)) {
        svg_plot(page->out, &whole);
        str_add_char(page->out, '\n');
    }
    lines_release(lines);
}

/* --- training --------------------------------------------------------------------------------------- */

static bool has_numbers(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_is_number(json_array_get(array, i))) {
            return true;
        }
    }
    return false;
}

bool page_has_training(const json_t *run)
{
    const json_t *training = json_object_get(run, "training");
    for (size_t i = 0; i < SAMPLE_NUMBERS; i++) {
        if (has_numbers(json_object_get(training, data_training_keys[i]))) {
            return true;
        }
    }
    return false;
}

/* Add a line for each of the last attempts that have the number, the latest first. only: the latest alone. */
static void add_attempts(struct lines *lines, const json_t *run, enum sample_number number, bool only)
{
    const json_t *training = json_object_get(run, "training");
    size_t len, same;
    double *attempts = keep(lines, data_numbers(training, "attempt", &len));
    double *iterations = keep(lines, data_numbers(training, "iteration", &same));
    double *values = keep(lines, data_numbers(training, data_training_keys[number], &same));
    for (size_t to = len; to > 0 && same == len;) {
        size_t from = to;
        bool any = false;
        while (from > 0 && attempts[from - 1] == attempts[to - 1]) {
            from--;
            any = any || isfinite(values[from]);
        }
        AUTO_FREE char *name = xasprintf("attempt %.0f", attempts[from]);
        bool is_drawn =
            any && lines->len < 4 &&
            add_line(lines, only ? data_text(run, "run") : name, iterations + from, values + from, to - from);
        if (is_drawn && only) {
            break;
        }
        to = from;
    }
}

static struct svg_plot plot_of(const struct training_plot *row)
{
    return (struct svg_plot){.title = row->title,
                             .x_name = "iteration",
                             .y_name = row->y_name,
                             .x_kind = FIGURE_COUNT,
                             .y_kind = row->kind,
                             .from_zero = row->from_zero};
}

void page_add_training(const struct page *page, const json_t *run)
{
    str_add(page->out, "<div class=\"plots\">\n");
    for (size_t i = 0; i < ARRAY_LEN(training_plots); i++) {
        const struct svg_plot plot = plot_of(&training_plots[i]);
        struct lines lines = {0};
        add_attempts(&lines, run, training_plots[i].number, false);
        draw(page, &plot, &lines);
    }
    str_add(page->out, "</div>\n");
}

/* --- GPUs ------------------------------------------------------------------------------------------- */

bool page_has_gpus(const json_t *run)
{
    return json_is_object(json_object_get(run, "gpus"));
}

/* Seconds since the run began. */
static double *seconds_of(const json_t *run, const json_t *gpus, size_t *len)
{
    const json_t *times = json_object_get(gpus, "time"),
                 *first = json_array_get(json_object_get(run, "attempts"), 0);
    int64_t start = data_time(first, "started");
    *len = json_array_size(times);
    double *seconds = xcalloc(*len > 0 ? *len : 1, sizeof(*seconds));
    for (size_t i = 0; i < *len; i++) {
        seconds[i] = (double)(data_time_of(json_array_get(times, i)) - start) / 1000;
    }
    return seconds;
}

static void add_gpu_plot(const struct page *page, const json_t *run, const char *key,
                         const struct svg_plot *plot)
{
    const json_t *gpus = json_object_get(run, "gpus"), *spread = json_object_get(gpus, key);
    const json_t *nodes = json_object_get(gpus, "nodes");
    struct lines lines = {0};
    size_t len, same;
    const double *x = keep(&lines, seconds_of(run, gpus, &len));
    if (data_len(run, "nodes") > DATA_HOSTS) {
        const double *mean = keep(&lines, data_numbers(spread, "mean", &same));
        struct svg_series *all = add_line(&lines, "all nodes", x, mean, len);
        if (all) {
            all->low = keep(&lines, data_numbers(spread, "least", &same));
            all->high = keep(&lines, data_numbers(spread, "most", &same));
        }
    }
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const double *values = keep(&lines, data_numbers(node, key, &same));
        if (same == len) {
            add_line(&lines, data_text(node, "host"), x, values, len);
        }
    }
    for (size_t i = 0; i < lines.len; i++) {
        lines.series[i].gap = GAP_STEPS * data_number(gpus, "step");
    }
    draw(page, plot, &lines);
}

void page_add_gpus(const struct page *page, const json_t *run)
{
    const json_t *gpus = json_object_get(run, "gpus");
    double total = data_number(gpus, "memory_total");
    const struct svg_plot use = {.title = "GPU use",
                                 .x_name = "time",
                                 .y_name = "mean of a node's GPUs",
                                 .x_kind = FIGURE_SPAN,
                                 .y_kind = FIGURE_PERCENT,
                                 .from_zero = true,
                                 .y_high = 100};
    const struct svg_plot used = {.title = "GPU memory",
                                  .x_name = "time",
                                  .y_name = "of a node's fullest GPU",
                                  .x_kind = FIGURE_SPAN,
                                  .y_kind = FIGURE_BYTES,
                                  .from_zero = true,
                                  .y_high = isfinite(total) ? total : 0};
    str_add(page->out, "<div class=\"plots\">\n");
    add_gpu_plot(page, run, "utilization", &use);
    add_gpu_plot(page, run, "memory", &used);
    str_add(page->out, "</div>\n");
}

/* --- several runs ----------------------------------------------------------------------------------- */

void page_add_overlay(const struct page *page, const json_t *runs)
{
    page_begin_part(page, "overlay", "Training");
    str_add(page->out, "<div class=\"plots\">\n");
    for (size_t i = 0; i < ARRAY_LEN(training_plots); i++) {
        const struct svg_plot plot = plot_of(&training_plots[i]);
        struct lines lines = {0};
        for (size_t r = 0; r < json_array_size(runs) && lines.len < SVG_SERIES_MAX; r++) {
            add_attempts(&lines, json_array_get(runs, r), training_plots[i].number, true);
        }
        draw(page, &plot, &lines);
    }
    str_add(page->out, "</div>\n");
    page_end_part(page);
}
