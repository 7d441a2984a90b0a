/*
 * Host source: hosts or hostfile of the spec. The reader of specs has already parsed `hosts`, so that
 * mistakes are shown at their place in the spec even if another source wins. The line numbers given here are
 * for warnings.
 */
#include <string.h>

#include "input/hostfile.h"
#include "input/hostsource_internal.h"

static int find(struct hostlist *out, const struct hostsource_request *request,
                const struct hostlist_context *context, struct error *err)
{
    const struct job *job = request->job;

    if (!job) {
        return 0;
    }
    if (job->hosts) {
        enum hostlist_form form = job->hosts_is_list ? HOSTLIST_LINES : HOSTLIST_COMMAS;
        bool in_file = job->file && job->hosts_line > 0;
        const char *name = in_file ? job->file : "hosts";
        if (hostlist_read(out, job->hosts, strlen(job->hosts), form, name, in_file ? job->hosts_line : 0,
                          context, err) < 0) {
            return -1;
        }
        return 1;
    }
    if (!job->hostfile) {
        return 0;
    }
    if (hostfile_read(out, job->hostfile, context, err) == 0) {
        return 1;
    }
    if (!err->file[0] && job->file && job->hostfile_line > 0) { /* not an error in a line of the host file */
        error_at(err, job->file, job->hostfile_line, 0);
    }
    return -1;
}

const struct hostsource hostsource_spec = {"spec", find};
