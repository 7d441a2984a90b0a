/* Signatures of GPUs, their driver and CUDA's libraries. */
#include "base/alloc.h"
#include "signatures_internal.h"

#define SIZE "([0-9.]+ [KMGT]iB)"

static const struct signature rows[] = {
    /* c10/cuda/CUDACachingAllocator.cpp */
    {.id = "CUDA_OOM",
     .class = CLASS_ROOT,
     .literals = {"CUDA out of memory. Tried to allocate"},
     .pattern = "Tried to allocate " SIZE "\\. GPU ([0-9]+) has a total capacity of " SIZE " of which " SIZE
                " is free",
     .summary = "CUDA out of memory on gpu%[2]: tried to allocate %1 of %3 (%4 free)",
     .remedies = {"use a smaller micro batch, activation recomputation, or a higher ZeRO stage",
                  "nvidia-smi (other processes on the same GPU)"}},
    {.id = "CUDA_OOM",
     .class = CLASS_ROOT,
     .literals = {"CUDA out of memory. Tried to allocate"},
     .pattern = "Tried to allocate " SIZE " \\(GPU ([0-9]+); " SIZE " total capacity;.* " SIZE " free;",
     .summary = "CUDA out of memory on gpu%[2]: tried to allocate %1 of %3 (%4 free)",
     .remedies = {"use a smaller micro batch, activation recomputation, or a higher ZeRO stage",
                  "nvidia-smi (other processes on the same GPU)"}},
    {.id = "CUDA_OOM",
     .class = CLASS_ROOT,
     .literals = {"CUDA out of memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED"},
     .summary = "CUDA out of memory",
     .remedies = {"use a smaller micro batch, activation recomputation, or a higher ZeRO stage",
                  "nvidia-smi (other processes on the same GPU)"}},
};

const struct signature_table signatures_gpu = {"gpu", rows, ARRAY_LEN(rows)};
