/* Collects the values of which metrics are made: records of runs, and the GPUs that supervisors last saw. */
#ifndef MTLAUNCH_CMD_COLLECTOR_INTERNAL_H
#define MTLAUNCH_CMD_COLLECTOR_INTERNAL_H

#include "cmd/session_internal.h"
#include "model/samples.h"

/* The newest sample of a run's GPUs, kept while its file does not change. */
struct collected_gpus {
    char *run;
    int64_t stamp;          /* of the file */
    struct samples samples; /* the newest alone, or none */
    bool used;              /* used by the last collection */
};

struct collector {
    struct session *session; /* borrowed */
    bool tell;               /* report records that cannot be read, as failures of the call */
    struct collected_gpus *gpus;
    size_t gpus_len, gpus_cap;
};

/* Append the current metrics. */
void collector_text(struct collector *collector, struct str *out);
void collector_json(struct collector *collector, struct str *out);
void collector_release(struct collector *collector);

#endif
