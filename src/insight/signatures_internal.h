/* The tables of signatures by subject. */
#ifndef MTLAUNCH_INSIGHT_SIGNATURES_INTERNAL_H
#define MTLAUNCH_INSIGHT_SIGNATURES_INTERNAL_H

#include "insight/signature.h"

extern const struct signature_table signatures_process;
extern const struct signature_table signatures_torchrun;
extern const struct signature_table signatures_watchdog;
extern const struct signature_table signatures_nccl;
extern const struct signature_table signatures_gpu;
extern const struct signature_table signatures_host;
extern const struct signature_table signatures_config;
extern const struct signature_table signatures_launch;

#endif
