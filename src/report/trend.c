/* Extracts from a run's samples the series that its status shows. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/status.h"

static const struct {
    enum sample_number number;
    const char *what, *unit;
} shown[] = {
    {SAMPLE_LOSS, "loss", ""},
    {SAMPLE_STEP_TIME, "step time", " s"},
};

/* Copy the finite values to values (NULL: only count them). Returns how many there are. */
static size_t take(const struct samples *samples, enum sample_number number, double *values, int64_t *span_ms)
{
    size_t len = 0;
    int64_t first_ms = 0;
    for (size_t i = 0; i < samples->len; i++) {
        const struct sample *sample = &samples->items[i];
        if (!isfinite(sample->numbers[number])) {
            continue;
        }
        first_ms = len == 0 ? sample->time_ms : first_ms;
        *span_ms = sample->time_ms - first_ms;
        if (values) {
            values[len] = sample->numbers[number];
        }
        len++;
    }
    return len;
}

void report_trend_init(struct report_trend *trend, const struct samples *samples)
{
    int64_t span_ms = 0;
    *trend = (struct report_trend){0};
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        const size_t len = take(samples, shown[i].number, NULL, &span_ms);
        if (len < 2) {
            continue;
        }
        trend->what = shown[i].what;
        trend->unit = shown[i].unit;
        trend->values = xcalloc(len, sizeof(*trend->values));
        trend->len = take(samples, shown[i].number, trend->values, &span_ms);
        trend->span_s = span_ms > 0 ? span_ms / 1000 : 0;
        return;
    }
}

void report_trend_release(struct report_trend *trend)
{
    free(trend->values);
    *trend = (struct report_trend){0};
}
