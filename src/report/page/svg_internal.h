/*
 * Drawings as SVG text, from values alone. Colours and fonts come from the page's style sheet, by class: s0 …
 * s7 for series, ok, bad, warn and idle for states.
 */
#ifndef MTLAUNCH_REPORT_SVG_INTERNAL_H
#define MTLAUNCH_REPORT_SVG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "figure_internal.h"

#define SVG_COLORS     8
#define SVG_SERIES_MAX 8

/* --- plots ------------------------------------------------------------------------------------------ */

/* A line. Where y is NAN, or x goes back, the line is interrupted. All arrays have len items and are
 * borrowed. */
struct svg_series {
    const char *name; /* as foreign text */
    const double *x, *y;
    const double *low, *high; /* a band around it; NULL: none */
    double gap;               /* a larger distance of two x interrupts it too; 0: none does */
    size_t len;
};

struct svg_plot {
    const char *title;  /* ours, as are the labels */
    const char *x_name; /* "iteration" */
    const char *y_name; /* with its unit: "tokens/s" */
    enum figure_kind x_kind, y_kind;
    bool from_zero;                  /* the y axis begins there */
    double y_high;                   /* the y axis reaches at least so far; 0: as far as the values do */
    const struct svg_series *series; /* the first SVG_SERIES_MAX are drawn */
    size_t series_len;
};

/* Does a plot of these have anything to show? */
bool svg_plot_has_points(const struct svg_plot *plot);

/*
 * A figure with axes, units and lines. What the pointer is over is read off beside the names of the series;
 * the page's script lets the arrow keys move there. Values far above the others do not set the scale: the
 * plot says how many stand above it.
 */
void svg_plot(struct str *out, const struct svg_plot *plot);

/* --- timeline --------------------------------------------------------------------------------------- */

struct svg_bar {
    double from, to; /* seconds since the beginning */
    const char *class;
    const char *text;  /* within the bar, where there is room; ours */
    const char *title; /* foreign */
};

struct svg_row {
    const char *label; /* foreign */
    struct svg_bar *bars;
    size_t bars_len;
};

struct svg_mark {
    double at;
    const char *class;
    const char *title; /* foreign */
    size_t link;       /* the number of the event in the run's list */
};

struct svg_timeline {
    size_t run;  /* of the page: for the links */
    double span; /* seconds */
    const struct svg_row *rows;
    size_t rows_len;
    const struct svg_mark *marks;
    size_t marks_len;
};

void svg_timeline(struct str *out, const struct svg_timeline *timeline);

/* A coordinate with at most one decimal. */
void svg_number(struct str *out, double value);

#endif
