/* The command line: --hosts is always an expression, --hostfile always a file. */
#include <string.h>

#include "input/hostfile.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                struct error *err)
{
    if (request->hosts && request->hostfile) {
        error_set(err, &kind_usage, "'--hosts' beside '--hostfile'");
        return error_hint(err, "give one of the two");
    }
    if (request->hosts) {
        if (hostlist_parse(out, request->hosts, strlen(request->hosts), HOSTLIST_COMMAS, "--hosts", 0,
                           warnings, err) < 0)
            return -1;
        return 1;
    }
    if (!request->hostfile)
        return 0;
    return hostfile_read(out, request->hostfile, warnings, err) < 0 ? -1 : 1;
}

const struct hostsource hostsource_options = {"command line", find};
