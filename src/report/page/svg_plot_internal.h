/* What the parts of a plot share: its dimensions, its scales and its state while it is drawn. */
#ifndef MTLAUNCH_REPORT_SVG_PLOT_INTERNAL_H
#define MTLAUNCH_REPORT_SVG_PLOT_INTERNAL_H

#include <stdbool.h>

#include "svg_internal.h"

#define PLOT_WIDTH  560
#define PLOT_HEIGHT 250
#define PLOT_LEFT   58
#define PLOT_RIGHT  (PLOT_WIDTH - 14) /* where the field ends */
#define PLOT_TOP    14                /* of the legend */
#define PLOT_ROW    18                /* of the legend */
#define PLOT_BOTTOM 38                /* below the field */

struct plot_scale {
    double low, high; /* values */
    double from, to;  /* coordinates */
};

/* A plot that is being drawn. */
struct plot_drawing {
    struct str *out;
    const struct svg_plot *plot;
    size_t series_len; /* series that are drawn */
    struct axis x_axis, y_axis;
    struct plot_scale x, y;
    double top;   /* of the field */
    size_t above; /* values above the field */
};

double plot_place(const struct plot_scale *scale, double value);
bool plot_is_drawn(const struct svg_series *series, size_t i);
size_t plot_legend_rows(const struct plot_drawing *drawing); /* 0: a single series has no legend */

void plot_add_line(struct str *out, const char *class, double x1, double y1, double x2, double y2);
void plot_open_text(struct str *out, const char *class, double x, double y, const char *anchor);
void plot_add_text(struct str *out, const char *class, double x, double y, const char *anchor,
                   const char *text);
void plot_add_dot(const struct plot_drawing *drawing, size_t s, double x, double y);

/*
 * Append the names of the series; and a group for each place that has values, shown when the pointer is
 * there.
 */
void plot_add_legend(const struct plot_drawing *drawing);
void plot_add_readings(const struct plot_drawing *drawing);

#endif
