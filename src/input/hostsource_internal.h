/* One place a host list may come from. The table that orders them is in hostsource.c. */
#ifndef MTLAUNCH_INPUT_HOSTSOURCE_INTERNAL_H
#define MTLAUNCH_INPUT_HOSTSOURCE_INTERNAL_H

#include "input/hostsource.h"

struct hostsource {
    const char *name; /* for tests and documents */
    /*
     * Read the list into out (empty) and name it in out->source. Returns 1 when this source is given and was
     * read, 0 when it is not given, -1 on error: a source that is given and wrong is never skipped.
     */
    int (*find)(struct hostlist *out, const struct hostsource_request *request,
                const struct hostlist_context *context, struct error *err);
};

extern const struct hostsource hostsource_options; /* --hosts, --hostfile */
extern const struct hostsource hostsource_spec;    /* hosts, hostfile of the spec */
extern const struct hostsource hostsource_environ; /* $MTLAUNCH_HOSTFILE */
extern const struct hostsource hostsource_slurm;   /* $SLURM_JOB_NODELIST */
extern const struct hostsource hostsource_self;    /* this machine; always given */

/* All of them in order of precedence; the last one always answers. */
extern const struct hostsource *const hostsources[];
extern const size_t hostsources_count;

/* The value of a variable of the caller's environment; NULL when it is unset or empty. Borrowed. */
const char *hostsource_getenv(const struct hostsource_request *request, const char *name);

#endif
