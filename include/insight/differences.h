/* What differs between the specs of runs: keys, arguments, variables, hosts. Pure. */
#ifndef MTLAUNCH_INSIGHT_DIFFERENCES_H
#define MTLAUNCH_INSIGHT_DIFFERENCES_H

#include <stddef.h>

#include "model/run.h"

/* A key that is not the same in all of the runs. Owned. */
struct difference {
    char *key;     /* as the job file addresses it: "zero_stage", "args.lr", "env.NCCL_DEBUG"; "hosts" */
    char **values; /* one per run; NULL: not set there */
};

struct differences {
    struct difference *items;
    size_t len, cap;
    size_t runs_len;
};

/*
 * Compare the records: keys of the job, arguments, variables that somebody set, hosts. Each key stands where
 * the first run that has it lists it. Values that differ only in the name or id of their own run are the
 * same. Secret values are masked in the records, and so never differ.
 */
void differences_find(struct differences *out, const struct run *const *runs, size_t runs_len);
void differences_release(struct differences *differences);

#endif
