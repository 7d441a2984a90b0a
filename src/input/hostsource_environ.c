/* Host source: the host file that $MTLAUNCH_HOSTFILE names for every command. */
#include "base/alloc.h"
#include "base/file.h"
#include "input/hostfile.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request,
                const struct hostlist_context *context, struct error *err)
{
    const char *given = hostsource_getenv(request, "MTLAUNCH_HOSTFILE");
    AUTO_FREE char *path = given ? path_expand_home(given, request->home) : NULL;

    if (!path) {
        return 0;
    }
    if (hostfile_read(out, path, context, err) == 0) {
        return 1;
    }
    if (err && err->line == 0) {
        error_prefix(err, "$MTLAUNCH_HOSTFILE");
    }
    return -1;
}

const struct hostsource hostsource_environ = {"MTLAUNCH_HOSTFILE", find};
