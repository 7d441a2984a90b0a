/*
 * Formats figures for people, and chooses the ticks of axes. Pure; the same input gives the same text
 * everywhere.
 */
#ifndef MTLAUNCH_REPORT_FIGURE_INTERNAL_H
#define MTLAUNCH_REPORT_FIGURE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define FIGURE_TEXT_SIZE 48
#define AXIS_TICKS_MAX   12

/* What a number means, which decides how it is written. */
enum figure_kind {
    FIGURE_NUMBER,  /* four significant digits: 2.346, 81.9k, 1.2e-5 */
    FIGURE_COUNT,   /* a whole number: 12,000 */
    FIGURE_SECONDS, /* of a step: 0.512 s, 84 ms */
    FIGURE_SPAN,    /* since the start: 1h 05m, 12.5 s */
    FIGURE_PERCENT,
    FIGURE_BYTES /* 71.3 GiB */
};

/* Write value with its unit if the kind has one; a value that is not finite becomes "–". Returns text. */
const char *figure_text(enum figure_kind kind, double value, char text[FIGURE_TEXT_SIZE]);

struct axis {
    double low, high; /* the range shown */
    double ticks[AXIS_TICKS_MAX];
    size_t ticks_len;
    double step; /* between two ticks */
};

/* An axis for values from low to high (low <= high, both numbers), with about count ticks at round values. */
struct axis axis_make(enum figure_kind kind, double low, double high, size_t count);

/* Write the label of a tick: short, with as many digits as the step needs. Returns text. */
const char *axis_label(enum figure_kind kind, const struct axis *axis, double tick,
                       char text[FIGURE_TEXT_SIZE]);

#endif
