/* Makes the series of a training run from its log: one point per iteration. */
#include <math.h>

#include "progress_internal.h"

static double known(double value)
{
    return value >= 0 ? value : (double)NAN;
}

struct sample progress_point(const struct step *step, double samples, int64_t sequence,
                             unsigned long world_size)
{
    struct sample point = {.iteration = step->iteration};
    double *numbers = point.numbers;
    double time = step->time_is_mean ? -1 : step->time_s;
    numbers[SAMPLE_LOSS] = step->has_loss ? step->loss : (double)NAN;
    numbers[SAMPLE_STEP_TIME] = known(time);
    numbers[SAMPLE_SAMPLES] = known(step->samples_per_second);
    numbers[SAMPLE_TOKENS] = known(step->tokens_per_second);
    numbers[SAMPLE_TFLOPS] = known(step->tflops_per_gpu);
    if (samples > 0 && time > 0 && isnan(numbers[SAMPLE_SAMPLES])) {
        numbers[SAMPLE_SAMPLES] = samples / time;
    } else if (samples > 0 && time < 0 && numbers[SAMPLE_SAMPLES] > 0) {
        numbers[SAMPLE_STEP_TIME] = samples / numbers[SAMPLE_SAMPLES];
    }
    if (step->tokens_per_second_per_gpu >= 0 && world_size > 0) {
        numbers[SAMPLE_TOKENS] = step->tokens_per_second_per_gpu * (double)world_size;
    } else if (isnan(numbers[SAMPLE_TOKENS]) && sequence > 0) {
        numbers[SAMPLE_TOKENS] = numbers[SAMPLE_SAMPLES] * (double)sequence;
    }
    return point;
}

void progress_series_add(struct samples *series, const struct sample *point)
{
    struct sample *last = series->len > 0 ? &series->items[series->len - 1] : NULL;
    if (last && last->attempt == point->attempt && last->iteration >= point->iteration) {
        for (size_t i = 0; last->iteration == point->iteration && i < SAMPLE_NUMBERS; i++) {
            last->numbers[i] = isnan(point->numbers[i]) ? last->numbers[i] : point->numbers[i];
        }
        return;
    }
    if (series->len >= PROGRESS_SERIES_MAX) {
        samples_thin(series);
    }
    samples_add(series, point);
}
