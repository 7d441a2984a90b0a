/* How fast trainings are compared with each other: pure arithmetic. */
#include "model/throughput.h"

#define SECONDS_PER_HOUR 3600.0

static double quotient(double number, double divisor)
{
    return number >= 0 && divisor > 0 ? number / divisor : -1;
}

double throughput_samples(double global_batch, double step_time_s)
{
    return quotient(global_batch, step_time_s);
}

double throughput_tokens(double samples_per_second, double sequence)
{
    return samples_per_second >= 0 && sequence > 0 ? samples_per_second * sequence : -1;
}

double throughput_speedup(double samples_per_second, double reference)
{
    return quotient(samples_per_second, reference);
}

double throughput_efficiency(double speedup, double size)
{
    return quotient(speedup, size);
}

double throughput_utilization(double tflops_per_gpu, double peak_tflops)
{
    return quotient(tflops_per_gpu, peak_tflops);
}

double throughput_hours(double amount, double per_second)
{
    return quotient(quotient(amount, per_second), SECONDS_PER_HOUR);
}
