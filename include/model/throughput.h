/*
 * How fast trainings are compared with each other: pure arithmetic. A number that is not known is negative,
 * and so is what would follow from it.
 *
 * Runs are compared by samples per second, never by seconds per step: a step of another global batch is
 * another amount of work.
 */
#ifndef MTLAUNCH_MODEL_THROUGHPUT_H
#define MTLAUNCH_MODEL_THROUGHPUT_H

#include <stdint.h>

/* Samples per second of steps of global_batch samples. */
double throughput_samples(double global_batch, double step_time_s);

/* Tokens per second of samples of sequence tokens. */
double throughput_tokens(double samples_per_second, double sequence);

/* How many times as fast as the reference. */
double throughput_speedup(double samples_per_second, double reference);

/* The part of the speed-up that size times as many GPUs could give: 1 is all of it. */
double throughput_efficiency(double speedup, double size);

/* The part of the GPU's peak rate that the model's own arithmetic uses (MFU). */
double throughput_utilization(double tflops_per_gpu, double peak_tflops);

/* Hours for so many samples or tokens. */
double throughput_hours(double amount, double per_second);

#endif
