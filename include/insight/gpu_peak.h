/* The peak rates of GPUs, to compute which fraction of them a training run uses. Pure. */
#ifndef MTLAUNCH_INSIGHT_GPU_PEAK_H
#define MTLAUNCH_INSIGHT_GPU_PEAK_H

/*
 * The peak rate of a model, as nvidia-smi names it ("NVIDIA H100 80GB HBM3"), in TFLOP/s of dense BF16 (FP16
 * where there is no BF16); negative when it is not in the table.
 */
double gpu_peak_tflops(const char *model);

#endif
