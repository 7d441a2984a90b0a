/* Draws a plot: axes, lines, and the values at each place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "html_internal.h"
#include "svg_plot_internal.h"

#define FAR 3.0 /* times the 95th percentile; values beyond do not set the scale */

double plot_place(const struct plot_scale *scale, double value)
{
    double part = (value - scale->low) / (scale->high - scale->low);
    return scale->from + part * (scale->to - scale->from);
}

void svg_number(struct str *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.1f", fabs(value) < 1e6 ? value : 0);
    size_t len = strlen(text);
    if (len > 2 && text[len - 1] == '0') {
        text[len - 2] = '\0';
    }
    str_add(out, strcmp(text, "-0") == 0 ? "0" : text);
}

bool plot_is_drawn(const struct svg_series *series, size_t i)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]);
}

bool svg_plot_has_points(const struct svg_plot *plot)
{
    for (size_t s = 0; s < plot->series_len && s < SVG_SERIES_MAX; s++) {
        for (size_t i = 0; i < plot->series[s].len; i++) {
            if (plot_is_drawn(&plot->series[s], i)) {
                return true;
            }
        }
    }
    return false;
}

/* --- scales ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* All values of the series, sorted. */
static double *sorted_values(const struct plot_drawing *drawing, size_t *len)
{
    size_t total = 0;
    for (size_t s = 0; s < drawing->series_len; s++) {
        total += drawing->plot->series[s].len;
    }
    double *values = xcalloc(total > 0 ? total : 1, sizeof(*values));
    *len = 0;
    for (size_t s = 0; s < drawing->series_len; s++) {
        const struct svg_series *series = &drawing->plot->series[s];
        for (size_t i = 0; i < series->len; i++) {
            if (plot_is_drawn(series, i)) {
                values[(*len)++] = series->y[i];
            }
        }
    }
    qsort(values, *len, sizeof(*values), compare);
    return values;
}

static void widen(const double *values, const struct svg_series *series, double *low, double *high)
{
    for (size_t i = 0; values && i < series->len; i++) {
        if (isfinite(values[i]) && plot_is_drawn(series, i)) {
            *low = fmin(*low, values[i]);
            *high = fmax(*high, values[i]);
        }
    }
}

static void choose_y(struct plot_drawing *drawing)
{
    const struct svg_plot *plot = drawing->plot;
    size_t len;
    AUTO_FREE double *values = sorted_values(drawing, &len);
    double low = values[0], high = values[len - 1];
    double most = values[(len - 1) * 95 / 100];
    for (size_t s = 0; s < drawing->series_len; s++) {
        widen(plot->series[s].low, &plot->series[s], &low, &high);
        widen(plot->series[s].high, &plot->series[s], &low, &high);
    }
    if (plot->from_zero && most > 0 && high > FAR * most) {
        high = 1.25 * most;
        for (size_t i = 0; i < len; i++) {
            drawing->above += values[i] > high;
        }
    }
    if (plot->from_zero) {
        low = fmin(low, 0);
        high = fmax(high, plot->y_high);
        high = high > low ? high : low + 1;
    }
    drawing->y_axis = axis_make(plot->y_kind, low, high, 5);
    /* so that lines do not lie on the frame */
    double room = (drawing->y_axis.high - drawing->y_axis.low) / 20;
    bool full = plot->from_zero && high <= plot->y_high;
    drawing->y.low = plot->from_zero ? low : drawing->y_axis.low - room;
    drawing->y.high = full ? high : drawing->y_axis.high + room;
}

static void choose_x(struct plot_drawing *drawing)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (size_t s = 0; s < drawing->series_len; s++) {
        widen(drawing->plot->series[s].x, &drawing->plot->series[s], &low, &high);
    }
    drawing->x_axis = axis_make(drawing->plot->x_kind, low, high, 6);
    drawing->x.low = drawing->x_axis.low;
    drawing->x.high = drawing->x_axis.high;
}

/* --- axes ------------------------------------------------------------------------------------------- */

void plot_add_line(struct str *out, const char *class, double x1, double y1, double x2, double y2)
{
    const double at[] = {x1, y1, x2, y2};
    static const char *const names[] = {"x1", "y1", "x2", "y2"};
    str_addf(out, "<line class=\"%s\"", class);
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        str_addf(out, " %s=\"", names[i]);
        svg_number(out, at[i]);
        str_add_char(out, '"');
    }
    str_add(out, "/>");
}

/* Open a text element; the caller adds the text and closes it. */
void plot_open_text(struct str *out, const char *class, double x, double y, const char *anchor)
{
    str_addf(out, "<text class=\"%s\" x=\"", class);
    svg_number(out, x);
    str_add(out, "\" y=\"");
    svg_number(out, y);
    str_add_char(out, '"');
    if (strcmp(anchor, "start") != 0) {
        str_addf(out, " text-anchor=\"%s\"", anchor);
    }
    str_add_char(out, '>');
}

void plot_add_text(struct str *out, const char *class, double x, double y, const char *anchor,
                   const char *text)
{
    plot_open_text(out, class, x, y, anchor);
    html_text(out, text);
    str_add(out, "</text>");
}

static void add_y_axis(const struct plot_drawing *drawing)
{
    char text[FIGURE_TEXT_SIZE];
    const struct axis *axis = &drawing->y_axis;
    for (size_t i = 0; i < axis->ticks_len; i++) {
        double y = plot_place(&drawing->y, axis->ticks[i]);
        plot_add_line(drawing->out, "grid", PLOT_LEFT, y, PLOT_RIGHT, y);
        plot_add_text(drawing->out, "tick", PLOT_LEFT - 8, y + 4, "end",
                      axis_label(drawing->plot->y_kind, axis, axis->ticks[i], text));
    }
}

static void add_x_axis(const struct plot_drawing *drawing)
{
    char text[FIGURE_TEXT_SIZE];
    const struct axis *axis = &drawing->x_axis;
    plot_add_line(drawing->out, "axis", PLOT_LEFT, drawing->y.from, PLOT_RIGHT, drawing->y.from);
    for (size_t i = 0; i < axis->ticks_len; i++) {
        double x = plot_place(&drawing->x, axis->ticks[i]);
        const char *anchor = x > PLOT_RIGHT - 12 ? "end" : "middle";
        plot_add_line(drawing->out, "axis", x, drawing->y.from, x, drawing->y.from + 4);
        plot_add_text(drawing->out, "tick", x > PLOT_RIGHT - 12 ? x + 6 : x, drawing->y.from + 17, anchor,
                      axis_label(drawing->plot->x_kind, axis, axis->ticks[i], text));
    }
    plot_add_text(drawing->out, "unit", (PLOT_LEFT + PLOT_RIGHT) / 2.0, PLOT_HEIGHT - 4, "middle",
                  drawing->plot->x_name);
}

/* --- lines ------------------------------------------------------------------------------------------ */

static bool is_interrupted(const struct svg_series *series, size_t i)
{
    if (i == 0 || !plot_is_drawn(series, i - 1)) {
        return true;
    }
    double distance = series->x[i] - series->x[i - 1];
    return distance < 0 || (series->gap > 0 && distance > series->gap);
}

static void add_point(struct str *path, const struct plot_drawing *drawing, char command, double x, double y)
{
    str_add_char(path, command);
    svg_number(path, plot_place(&drawing->x, x));
    str_add_char(path, ' ');
    svg_number(path, plot_place(&drawing->y, y));
}

/* Draw the band: around each piece, along its upper and back along its lower edge. */
static void add_band(const struct plot_drawing *drawing, size_t s)
{
    const struct svg_series *series = &drawing->plot->series[s];
    str_addf(drawing->out, "<path class=\"band s%zu\" d=\"", s % SVG_COLORS);
    for (size_t from = 0; from < series->len;) {
        size_t to = from + 1;
        while (to < series->len && !is_interrupted(series, to) && plot_is_drawn(series, to)) {
            to++;
        }
        if (plot_is_drawn(series, from) && to - from > 1) {
            for (size_t i = from; i < to; i++) {
                add_point(drawing->out, drawing, i == from ? 'M' : 'L', series->x[i], series->high[i]);
            }
            for (size_t i = to; i > from; i--) {
                add_point(drawing->out, drawing, 'L', series->x[i - 1], series->low[i - 1]);
            }
            str_add_char(drawing->out, 'Z');
        }
        from = to;
    }
    str_add(drawing->out, "\"/>");
}

void plot_add_dot(const struct plot_drawing *drawing, size_t s, double x, double y)
{
    str_addf(drawing->out, "<circle class=\"s%zu\" r=\"3\" cx=\"", s % SVG_COLORS);
    svg_number(drawing->out, plot_place(&drawing->x, x));
    str_add(drawing->out, "\" cy=\"");
    svg_number(drawing->out, plot_place(&drawing->y, y));
    str_add(drawing->out, "\"/>");
}

static void add_series(const struct plot_drawing *drawing, size_t s)
{
    const struct svg_series *series = &drawing->plot->series[s];
    if (series->low && series->high) {
        add_band(drawing, s);
    }
    str_addf(drawing->out, "<path class=\"line s%zu\" d=\"", s % SVG_COLORS);
    for (size_t i = 0; i < series->len; i++) {
        if (plot_is_drawn(series, i)) {
            add_point(drawing->out, drawing, is_interrupted(series, i) ? 'M' : 'L', series->x[i],
                      series->y[i]);
        }
    }
    str_add(drawing->out, "\"/>");
    for (size_t i = 0; i < series->len; i++) { /* a single point has no line, so it gets a dot */
        bool last = i + 1 == series->len || !plot_is_drawn(series, i + 1) || is_interrupted(series, i + 1);
        if (plot_is_drawn(series, i) && is_interrupted(series, i) && last) {
            plot_add_dot(drawing, s, series->x[i], series->y[i]);
        }
    }
}

/* --- the whole plot --------------------------------------------------------------------------------- */

static void add_summary(const struct plot_drawing *drawing)
{
    const struct svg_plot *plot = drawing->plot;
    char text[FIGURE_TEXT_SIZE];
    str_addf(drawing->out, "%s (%s) by %s", plot->title, plot->y_name, plot->x_name);
    for (size_t s = 0; s < drawing->series_len; s++) {
        const struct svg_series *series = &plot->series[s];
        size_t last = series->len;
        while (last > 0 && !plot_is_drawn(series, last - 1)) {
            last--;
        }
        if (last > 0) {
            str_add(drawing->out, s == 0 ? ": " : "; ");
            if (plot_legend_rows(drawing) > 0) {
                html_text(drawing->out, series->name);
                str_add_char(drawing->out, ' ');
            }
            str_addf(drawing->out, "last %s", figure_text(plot->y_kind, series->y[last - 1], text));
        }
    }
}

void svg_plot(struct str *out, const struct svg_plot *plot)
{
    static const struct axis none = {0};
    struct plot_drawing drawing = {.out = out, .plot = plot, .x_axis = none, .y_axis = none};
    drawing.series_len = plot->series_len < SVG_SERIES_MAX ? plot->series_len : SVG_SERIES_MAX;
    size_t rows = plot_legend_rows(&drawing);
    rows = rows > 0 ? rows : 1; /* for the values under the pointer */
    drawing.top = PLOT_TOP + (double)rows * PLOT_ROW - 8;
    drawing.x.from = PLOT_LEFT;
    drawing.x.to = PLOT_RIGHT;
    drawing.y.from = PLOT_HEIGHT - PLOT_BOTTOM;
    drawing.y.to = drawing.top;
    choose_x(&drawing);
    choose_y(&drawing);
    str_addf(out, "<figure class=\"plot\"><figcaption>%s <span>%s</span></figcaption>", plot->title,
             plot->y_name);
    str_addf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", PLOT_WIDTH, PLOT_HEIGHT);
    add_summary(&drawing);
    str_add(out, "\">");
    add_y_axis(&drawing);
    add_x_axis(&drawing);
    str_addf(out, "<svg x=\"0\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" viewBox=\"0 %.0f %d %.0f\">",
             drawing.top, PLOT_WIDTH, drawing.y.from - drawing.top, drawing.top, PLOT_WIDTH,
             drawing.y.from - drawing.top);
    for (size_t s = 0; s < drawing.series_len; s++) {
        add_series(&drawing, s);
    }
    str_add(out, "</svg>");
    plot_add_legend(&drawing);
    plot_add_readings(&drawing);
    str_add(out, "</svg>");
    if (drawing.above > 0) {
        char text[FIGURE_TEXT_SIZE];
        str_addf(out, "<p class=\"note\">%zu %s above %s</p>", drawing.above,
                 drawing.above == 1 ? "value" : "values", figure_text(plot->y_kind, drawing.y.high, text));
    }
    str_add(out, "</figure>");
}
