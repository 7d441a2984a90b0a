/* Formats figures for people, and chooses the ticks of axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "figure_internal.h"

#define KIB 1024.0

/* --- text ------------------------------------------------------------------------------------------- */

static void append(char *text, const char *more)
{
    size_t len = strlen(text);
    snprintf(text + len, FIGURE_TEXT_SIZE - len, "%s", more);
}

/* "1.50" → "1.5", "2.00" → "2". */
static void drop_zeros(char *text)
{
    char *end = text + strlen(text);
    if (!strchr(text, '.') || strchr(text, 'e')) {
        return;
    }
    while (end[-1] == '0') {
        *--end = '\0';
    }
    if (end[-1] == '.') {
        end[-1] = '\0';
    }
}

/* Write a value whose size is between 0.001 and 100,000 with `digits` significant digits. */
static void plain(char *text, double value, int digits)
{
    double size = fabs(value);
    int before = size < 1 ? 1 : (int)floor(log10(size)) + 1;
    if (size > 0 && size < 1) {
        before = (int)floor(log10(size)) + 1;
    }
    int decimals = digits - before;
    snprintf(text, FIGURE_TEXT_SIZE, "%.*f", decimals > 0 ? decimals : 0, value);
    drop_zeros(text);
}

static void number(char *text, double value, int digits)
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    double size = fabs(value);
    if (size > 0 && (size < 0.001 || size >= 1e15)) {
        if (snprintf(text, FIGURE_TEXT_SIZE, "%.*g", digits - 1, value) < 0) {
            text[0] = '\0';
        }
        return;
    }
    for (size_t i = 0; size >= 10000 && i < ARRAY_LEN(units); i++) {
        if (size >= units[i].unit) {
            plain(text, value / units[i].unit, digits - 1);
            append(text, units[i].letter);
            return;
        }
    }
    plain(text, value, digits);
}

static void count(char *text, double value)
{
    char digits[FIGURE_TEXT_SIZE];
    snprintf(digits, sizeof digits, "%.0f", fabs(value) < 1e15 ? value : 0);
    size_t len = strlen(digits), out = 0;
    for (size_t i = 0; i < len; i++) {
        size_t left = len - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') {
            text[out++] = ',';
        }
        text[out++] = digits[i];
    }
    text[out] = '\0';
}

static void span(char *text, double value)
{
    double size = fabs(value);
    const char *sign = value < 0 ? "-" : "";
    if (size < 60) {
        plain(text, value, 3);
        append(text, " s");
    } else if (size < 3600) {
        snprintf(text, FIGURE_TEXT_SIZE, "%s%.0fm %02.0fs", sign, floor(size / 60), floor(fmod(size, 60)));
    } else if (size < 86400) {
        snprintf(text, FIGURE_TEXT_SIZE, "%s%.0fh %02.0fm", sign, floor(size / 3600),
                 floor(fmod(size, 3600) / 60));
    } else {
        snprintf(text, FIGURE_TEXT_SIZE, "%s%.0fd %02.0fh", sign, floor(size / 86400),
                 floor(fmod(size, 86400) / 3600));
    }
}

/* The largest unit that is not larger than value. */
static double bytes_unit(double value, const char **name)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double unit = 1;
    size_t i = 0;
    while (fabs(value) / unit >= KIB && i + 1 < ARRAY_LEN(names)) {
        unit *= KIB;
        i++;
    }
    *name = names[i];
    return unit;
}

const char *figure_text(enum figure_kind kind, double value, char text[FIGURE_TEXT_SIZE])
{
    const char *name = "";
    if (!isfinite(value)) {
        snprintf(text, FIGURE_TEXT_SIZE, "–");
        return text;
    }
    switch (kind) {
    case FIGURE_NUMBER:
        number(text, value, 4);
        break;
    case FIGURE_COUNT:
        count(text, value);
        break;
    case FIGURE_SECONDS:
        number(text, fabs(value) < 1 ? value * 1000 : value, 4);
        append(text, fabs(value) < 1 ? " ms" : " s");
        break;
    case FIGURE_SPAN:
        span(text, value);
        break;
    case FIGURE_PERCENT:
        plain(text, value, 3);
        append(text, " %");
        break;
    case FIGURE_BYTES:
        plain(text, value / bytes_unit(value, &name), 3);
        append(text, " ");
        append(text, name);
        break;
    }
    return text;
}

/* --- axes ------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of base 10, not below least. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (steps[i] * power >= least * (1 - 1e-9)) {
            return steps[i] * power;
        }
    }
    return 10 * power;
}

static double span_step(double least)
{
    static const double steps[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                                   900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
    for (size_t i = 0; i < ARRAY_LEN(steps) && least >= 1; i++) {
        if (steps[i] >= least) {
            return steps[i];
        }
    }
    return least < 1 ? round_step(least) : round_step(least / 86400) * 86400;
}

/* Round in the unit shown: 20 GiB, not 21.5 GB. */
static double bytes_step(double least, double high)
{
    const char *name;
    double unit = bytes_unit(high, &name);
    return round_step(least / unit) * unit;
}

struct axis axis_make(enum figure_kind kind, double low, double high, size_t wanted)
{
    struct axis axis = {.low = low, .high = high};
    if (!(high > low)) { /* a single value: add room above and below */
        double room = fabs(low) > 0 ? fabs(low) / 10 : 1;
        low -= room;
        high += room;
    }
    double least = (high - low) / (double)wanted;
    double step = kind == FIGURE_SPAN    ? span_step(least)
                  : kind == FIGURE_BYTES ? bytes_step(least, high)
                                         : round_step(least);
    if (kind == FIGURE_COUNT && step < 1) {
        step = 1;
    }
    axis.step = step;
    axis.low = low;
    axis.high = high;
    double first = ceil(low / step - 1e-9);
    for (double i = first; i * step <= high + step * 1e-9 && axis.ticks_len < AXIS_TICKS_MAX; i++) {
        axis.ticks[axis.ticks_len++] = i * step;
    }
    return axis;
}

static void span_label(char *text, double tick, double step)
{
    if (tick == 0) {
        snprintf(text, FIGURE_TEXT_SIZE, "0");
    } else if (step >= 86400) {
        snprintf(text, FIGURE_TEXT_SIZE, "%.0fd", tick / 86400);
    } else if (fmod(tick, 3600) == 0) {
        snprintf(text, FIGURE_TEXT_SIZE, "%.0fh", tick / 3600);
    } else if (tick > 3600 && step >= 60) {
        snprintf(text, FIGURE_TEXT_SIZE, "%.0fh%02.0f", floor(tick / 3600), fmod(tick, 3600) / 60);
    } else if (fmod(tick, 60) == 0) {
        snprintf(text, FIGURE_TEXT_SIZE, "%.0fm", tick / 60);
    } else if (tick > 60) {
        snprintf(text, FIGURE_TEXT_SIZE, "%.0fm%02.0f", floor(tick / 60), fmod(tick, 60));
    } else {
        plain(text, tick, 3);
        append(text, "s");
    }
}

/* Write the value with enough decimals to distinguish two ticks. */
static void step_digits(char *text, double value, double step)
{
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    snprintf(text, FIGURE_TEXT_SIZE, "%.*f", decimals < 9 ? decimals : 9,
             fabs(value) < step / 1e6 ? 0 : value);
}

const char *axis_label(enum figure_kind kind, const struct axis *axis, double tick,
                       char text[FIGURE_TEXT_SIZE])
{
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    const char *name;
    if (kind == FIGURE_SPAN) {
        span_label(text, tick, axis->step);
    } else if (kind == FIGURE_BYTES) {
        double unit = bytes_unit(axis->high, &name);
        step_digits(text, tick / unit, axis->step / unit);
        append(text, " ");
        append(text, name);
    } else if (kind == FIGURE_PERCENT) {
        step_digits(text, tick, axis->step);
        append(text, " %");
    } else if (largest >= 10000 || axis->step < 1e-6) {
        number(text, fabs(tick) < axis->step / 1e6 ? 0 : tick, 4);
    } else {
        step_digits(text, tick, axis->step);
    }
    return text;
}
