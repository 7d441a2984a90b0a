/*
 * Draws plots and timelines as SVG text. Colours and fonts come from the page's style sheet, by class: s0 …
 * s7 for series; ok, bad, warn and idle for states.
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

/* A line. It is interrupted where y is NAN or x decreases. All arrays have len items and are borrowed. */
struct svg_series {
    const char *name; /* from outside: to be escaped */
    const double *x, *y;
    const double *low, *high; /* a band around it; NULL: none */
    double gap;               /* a larger distance between two x interrupts the line too; 0: none does */
    size_t len;
};

struct svg_plot {
    const char *title;  /* from the program, like the labels */
    const char *x_name; /* "iteration" */
    const char *y_name; /* with its unit: "tokens/s" */
    enum figure_kind x_kind, y_kind;
    bool from_zero; /* the y axis begins at 0 */
    /* the y axis reaches at least this value; 0: only as far as the values */
    double y_high;
    const struct svg_series *series; /* the first SVG_SERIES_MAX are drawn */
    size_t series_len;
};

/* Does the plot have anything to show? */
bool svg_plot_has_points(const struct svg_plot *plot);

/*
 * Append a figure with axes, units and lines. The values under the pointer are shown beside the names of the
 * series; the page's script lets the arrow keys move there. Values far above the others do not set the scale:
 * the plot says how many lie above it.
 */
void svg_plot(struct str *out, const struct svg_plot *plot);

/* --- timeline --------------------------------------------------------------------------------------- */

struct svg_bar {
    double from, to; /* seconds since the beginning */
    const char *class;
    const char *text;  /* in the bar, if there is room; from the program */
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
    size_t run;  /* index of the run on the page, for the links */
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
