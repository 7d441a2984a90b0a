/*
 * How fast trainings are compared with each other: pure arithmetic. An unknown number is negative, and so is
 * a result that depends on it.
 *
 * Runs are compared by samples per second, never by seconds per step: a step of another global batch is
 * another amount of work.
 */
#ifndef MTLAUNCH_MODEL_THROUGHPUT_H
#define MTLAUNCH_MODEL_THROUGHPUT_H

#include <stdint.h>

/* Samples per second, for steps of global_batch samples. */
double throughput_samples(double global_batch, double step_time_s);

/* Tokens per second, for samples of sequence tokens. */
double throughput_tokens(double samples_per_second, double sequence);

/* The rate as a multiple of the reference rate. */
double throughput_speedup(double samples_per_second, double reference);

/* The speed-up as a fraction of the ideal one, for size times as many GPUs. */
double throughput_efficiency(double speedup, double size);

/* The rate of the model's own arithmetic as a fraction of the GPU's peak rate (MFU). */
double throughput_utilization(double tflops_per_gpu, double peak_tflops);

/* Hours for that amount of samples or tokens. */
double throughput_hours(double amount, double per_second);

#endif
