/* Host source: the command line. --hosts is always an expression, --hostfile always a file. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "input/hostfile.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request,
                const struct hostlist_context *context, struct error *err)
{
    if (request->hosts && request->hostfile) {
        error_set(err, &kind_usage, "'--hosts' and '--hostfile' cannot be used together");
        return error_hint(err, "give one of the two");
    }
    if (request->hosts && hostfile_is_meant(request->hosts)) {
        error_set(err, &kind_usage, "'%s' for --hosts is a file, not a list of hosts", request->hosts);
        return error_hint(err, "use --hostfile %s", request->hosts);
    }
    if (request->hosts) {
        if (hostlist_read(out, request->hosts, strlen(request->hosts), HOSTLIST_COMMAS, "--hosts", 0, context,
                          err) < 0) {
            return -1;
        }
        return 1;
    }
    if (!request->hostfile) {
        return 0;
    }
    AUTO_FREE char *path = path_expand_home(request->hostfile, request->home);
    return hostfile_read(out, path, context, err) < 0 ? -1 : 1;
}

const struct hostsource hostsource_options = {"command line", find};
