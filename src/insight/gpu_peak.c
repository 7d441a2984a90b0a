/* The table of the peak rates of GPUs. */
#include "insight/gpu_peak.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Words of the model's name; a variant precedes the plain form. Rates are those of NVIDIA's data sheets for
 * BF16 on tensor cores. Where a sheet gives only the rate "with sparsity", which training does not use, it is
 * half of that.
 */
static const struct {
    const char *word, *variant; /* variant NULL: any */
    double tflops;
} peaks[] = {
    {"GB200", NULL, 2500},  /* GB200 NVL72: 5 PFLOPS a GPU with sparsity */
    {"B200", NULL, 2250},   /* HGX B200: 36 PFLOPS for 8 with sparsity */
    {"H200", "NVL", 835.5}, /* H200 NVL: 1,671 with sparsity */
    {"H200", NULL, 989},    /* H200 SXM: 1,979 with sparsity */
    {"GH200", NULL, 989},   /* GH200: 1,979 with sparsity */
    {"H100", "NVL", 835.5}, /* H100 NVL: 1,671 with sparsity */
    {"H100", "PCIe", 756},  /* H100 PCIe: 1,513 with sparsity */
    {"H100", NULL, 989},    /* H100 SXM: 1,979 with sparsity */
    {"H800", "PCIe", 756},  /* as H100 PCIe */
    {"H800", NULL, 989},    /* as H100 SXM */
    {"H20", NULL, 148},     /* H20: 148 */
    {"A100", NULL, 312},    /* A100: 312, 624 with sparsity */
    {"A800", NULL, 312},    /* as A100 */
    {"A30", NULL, 165},     /* A30: 165, 330 with sparsity */
    {"A40", NULL, 149.7},   /* A40: 149.7, 299.4 with sparsity */
    {"A10", NULL, 125},     /* A10: 125, 250 with sparsity */
    {"L40S", NULL, 362},    /* L40S: 362, 733 with sparsity */
    {"L40", NULL, 181},     /* L40: 181, 362 with sparsity */
    {"L4", NULL, 121},      /* L4: 242 with sparsity */
    {"V100", "PCIE", 112},  /* V100 PCIe, FP16: 112 */
    {"V100", NULL, 125},    /* V100 SXM2, FP16: 125 */
};

/* Is it a word of the name: letters and digits between other characters? */
static bool has_word(const char *name, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word)) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[len])) {
            return true;
        }
    }
    return false;
}

double gpu_peak_tflops(const char *model)
{
    for (size_t i = 0; i < ARRAY_LEN(peaks); i++) {
        if (has_word(model, peaks[i].word) && (!peaks[i].variant || has_word(model, peaks[i].variant))) {
            return peaks[i].tflops;
        }
    }
    return -1;
}
