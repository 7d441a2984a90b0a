/* Draws the legend of a plot, and the values that the pointer shows at each place of it. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "html_internal.h"
#include "svg_plot_internal.h"

#define COLUMNS  200 /* places at which values can be read off */
#define NAME_MAX 15  /* characters of a series' name */
#define PER_ROW  3
#define SLOT     ((double)(PLOT_RIGHT - PLOT_LEFT) / PER_ROW)
#define EDGE     60 /* the label of the place keeps at least this distance from the edges */

size_t plot_legend_rows(const struct plot_drawing *drawing)
{
    return drawing->series_len > 1 ? (drawing->series_len + PER_ROW - 1) / PER_ROW : 0;
}

static double legend_x(size_t s)
{
    return PLOT_LEFT + (double)(s % PER_ROW) * SLOT;
}

static double legend_y(size_t s)
{
    const size_t row = s / PER_ROW;
    return PLOT_TOP + (double)row * PLOT_ROW;
}

void plot_add_legend(const struct plot_drawing *drawing)
{
    struct str *out = drawing->out;
    for (size_t s = 0; s < drawing->series_len && plot_legend_rows(drawing) > 0; s++) {
        str_add(out, "<g><title>");
        html_text(out, drawing->plot->series[s].name);
        str_addf(out, "</title><path class=\"line s%zu\" d=\"M", s % SVG_COLORS);
        svg_number(out, legend_x(s));
        str_add_char(out, ' ');
        svg_number(out, legend_y(s) - 4);
        str_add(out, "h14\"/>");
        plot_open_text(out, "key", legend_x(s) + 20, legend_y(s), "start");
        html_text_short(out, drawing->plot->series[s].name, NAME_MAX);
        str_add(out, "</text></g>");
    }
}

/* --- readings --------------------------------------------------------------------------------------- */

struct reading {
    double x;                    /* coordinate of the place */
    double value;                /* value on the x axis */
    long points[SVG_SERIES_MAX]; /* index of each series' point; -1: none */
};

static size_t column_of(double x)
{
    double part = (x - PLOT_LEFT) / (PLOT_RIGHT - PLOT_LEFT);
    return part >= 1 ? COLUMNS - 1 : part > 0 ? (size_t)(part * COLUMNS) : 0;
}

/* Find one reading per column; of several points of a series in one column the last counts. */
static size_t find_readings(const struct plot_drawing *drawing, struct reading *readings)
{
    size_t kept = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        readings[c].x = -1;
        for (size_t s = 0; s < SVG_SERIES_MAX; s++) {
            readings[c].points[s] = -1;
        }
    }
    for (size_t s = 0; s < drawing->series_len; s++) {
        const struct svg_series *series = &drawing->plot->series[s];
        for (size_t i = 0; i < series->len; i++) {
            if (plot_is_drawn(series, i)) {
                double x = plot_place(&drawing->x, series->x[i]);
                struct reading *reading = &readings[column_of(x)];
                reading->x = x;
                reading->value = series->x[i];
                reading->points[s] = (long)i;
            }
        }
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        if (readings[c].x >= 0) {
            readings[kept++] = readings[c];
        }
    }
    return kept;
}

/* Append the area in which the pointer shows the reading. */
static void add_area(const struct plot_drawing *drawing, double from, double to)
{
    str_add(drawing->out, "<rect x=\"");
    svg_number(drawing->out, from);
    str_add(drawing->out, "\" y=\"");
    svg_number(drawing->out, drawing->top);
    str_add(drawing->out, "\" width=\"");
    svg_number(drawing->out, to - from);
    str_add(drawing->out, "\" height=\"");
    svg_number(drawing->out, drawing->y.from - drawing->top);
    str_add(drawing->out, "\"/>");
}

static void add_value(const struct plot_drawing *drawing, size_t s, size_t point)
{
    const struct svg_series *series = &drawing->plot->series[s];
    char text[FIGURE_TEXT_SIZE];
    bool alone = plot_legend_rows(drawing) == 0;
    double right = alone ? PLOT_RIGHT : legend_x(s) + SLOT - 12;
    if (series->y[point] <= drawing->y.high) {
        plot_add_dot(drawing, s, series->x[point], series->y[point]);
    }
    plot_add_text(drawing->out, "value", right, alone ? PLOT_TOP : legend_y(s), "end",
                  figure_text(drawing->plot->y_kind, series->y[point], text));
}

/* Append a line, a dot and a figure for each series, and the place itself below the axis. */
static void add_reading(const struct plot_drawing *drawing, const struct reading *reading, double from,
                        double to)
{
    const struct svg_plot *plot = drawing->plot;
    char text[FIGURE_TEXT_SIZE];
    double x = fmin(fmax(reading->x, PLOT_LEFT + EDGE), PLOT_RIGHT - EDGE);
    str_add(drawing->out, "<g class=\"at\">");
    add_area(drawing, from, to);
    plot_add_line(drawing->out, "cursor", reading->x, drawing->top, reading->x, drawing->y.from);
    plot_open_text(drawing->out, "value", x, PLOT_HEIGHT - 4, "middle");
    str_addf(drawing->out, "%s %s</text>", plot->x_name, figure_text(plot->x_kind, reading->value, text));
    for (size_t s = 0; s < drawing->series_len; s++) {
        if (reading->points[s] >= 0) {
            add_value(drawing, s, (size_t)reading->points[s]);
        }
    }
    str_add(drawing->out, "</g>");
}

void plot_add_readings(const struct plot_drawing *drawing)
{
    AUTO_FREE struct reading *readings = xcalloc(COLUMNS, sizeof(*readings));
    size_t len = find_readings(drawing, readings);
    double from = PLOT_LEFT;
    for (size_t i = 0; i < len; i++) {
        double to = i + 1 < len ? (readings[i].x + readings[i + 1].x) / 2 : PLOT_RIGHT;
        add_reading(drawing, &readings[i], from, to);
        from = to;
    }
}
