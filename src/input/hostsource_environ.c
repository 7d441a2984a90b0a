/* A host file that the user's shell names for every command. */
#include "input/hostfile.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                struct error *err)
{
    const char *path = hostsource_getenv(request, "MTLAUNCH_HOSTFILE");

    if (!path)
        return 0;
    if (hostfile_read(out, path, warnings, err) == 0)
        return 1;
    if (err && err->line == 0)
        error_prefix(err, "$MTLAUNCH_HOSTFILE");
    return -1;
}

const struct hostsource hostsource_environ = {"MTLAUNCH_HOSTFILE", find};
