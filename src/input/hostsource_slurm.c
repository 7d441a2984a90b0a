/*
 * Host source: the Slurm allocation of this shell. SLURM_JOB_NODELIST holds Slurm's hostlist form (salloc(1),
 * "OUTPUT ENVIRONMENT VARIABLES"; src/common/hostlist.c of Slurm), e.g. "g[0033-0036,0040],login1", which the
 * host grammar reads unchanged: Slurm pads both bounds to the same width.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request,
                const struct hostlist_context *context, struct error *err)
{
    const char *nodes = hostsource_getenv(request, "SLURM_JOB_NODELIST");

    if (!nodes) {
        return 0;
    }
    if (hostlist_read(out, nodes, strlen(nodes), HOSTLIST_COMMAS, "SLURM_JOB_NODELIST", 0, context, err) <
        0) {
        return -1;
    }
    free(out->source);
    out->source = xstrdup("Slurm allocation");
    return 1;
}

const struct hostsource hostsource_slurm = {"SLURM_JOB_NODELIST", find};
