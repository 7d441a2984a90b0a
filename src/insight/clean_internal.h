/* A line of a log without what launchers, terminals and progress bars put around its text. */
#ifndef MTLAUNCH_INSIGHT_CLEAN_INTERNAL_H
#define MTLAUNCH_INSIGHT_CLEAN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "insight/signature.h"

struct clean_line {
    char text[SIGNATURE_TEXT_MAX + 1]; /* cut at the end when it is longer */
    size_t len;
    long rank, local_rank; /* as the prefixes or the text say; -1: they do not */
    double time;           /* negative: none */
    bool prefixed; /* the line has a rank before it, which distinguishes it from lines of other ranks */
};

/*
 * Bytes hold no line end. Prefixes that go: "[rank3]:" (torch 2.4 on), "[default3]:" (torchrun --tee), "3: "
 * (srun);
 * "[Rank 3]" and "Rank 3]" in the text give the rank too (ProcessGroupNCCL).
 */
void clean_line(const char *bytes, size_t len, struct clean_line *out);

/*
 * A time of the text in seconds, comparable within a run, or -1: glog's "E1129 16:11:57.245000" (torch) or a
 * date such as "2026-11-29 16:11:57" (NCCL, Megatron-LM) or "2026-11-29_16:11:57" (torchrun's block).
 */
double clean_time(const char *text);

#endif
