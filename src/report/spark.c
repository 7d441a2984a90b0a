/* Draws a series of numbers with the eight block characters. */
#include "report/spark.h"

#include <math.h>

#include "base/alloc.h"

static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* The mean of the finite values; NAN: there are none. */
static double mean_of(const double *values, size_t len)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        if (isfinite(values[i])) {
            sum += values[i] / (double)len;
            count++;
        }
    }
    return count > 0 ? sum * ((double)len / (double)count) : (double)NAN;
}

static const char *bar_of(double value, double least, double most)
{
    if (!isfinite(value)) {
        return " ";
    }
    const size_t steps = ARRAY_LEN(bars) - 1;
    double share = most > least ? (value / 2 - least / 2) / (most / 2 - least / 2) : 0;
    size_t step = (size_t)(share * (double)steps + 0.5);
    return bars[step < steps ? step : steps];
}

size_t spark_add(const double *values, size_t len, size_t width, struct str *out)
{
    const size_t count = len < width ? len : width;
    AUTO_FREE double *means = xcalloc(count + 1, sizeof(*means));
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        const size_t from = i * len / count, to = (i + 1) * len / count;
        means[i] = mean_of(values + from, to - from);
        if (isfinite(means[i])) {
            least = means[i] < least ? means[i] : least;
            most = means[i] > most ? means[i] : most;
        }
    }
    if (least > most) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        str_add(out, bar_of(means[i], least, most));
    }
    return count;
}
