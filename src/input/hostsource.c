#include "input/hostsource.h"

#include <string.h>

#include "base/alloc.h"
#include "input/hostsource_internal.h"

const struct hostsource *const hostsources[] = {
    &hostsource_options, &hostsource_spec, &hostsource_environ, &hostsource_slurm, &hostsource_self,
};
const size_t hostsources_count = ARRAY_LEN(hostsources);

const char *hostsource_getenv(const struct hostsource_request *request, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *at = request->environ_; at && *at; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return (*at)[len + 1] ? *at + len + 1 : NULL;
    }
    return NULL;
}

static int find_list(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                     bool *alone, struct error *err)
{
    for (size_t i = 0; i < hostsources_count; i++) {
        int result = hostsources[i]->find(out, request, warnings, err);
        if (result < 0)
            return -1;
        if (result == 1) {
            if (alone)
                *alone = hostsources[i] == &hostsource_self;
            return 0;
        }
    }
    return 0;
}

int hostsource_narrow(struct hostlist *list, const struct hostsource_request *request, struct error *err)
{
    if (request->nodes_given && request->nodes == 0) {
        error_set(err, &kind_usage, "'--nodes 0' leaves no host");
        return error_hint(err, "give a number of hosts from 1 on");
    }
    if (request->exclude && hostlist_exclude(list, request->exclude, "--exclude", err) < 0)
        return -1;
    if (request->nodes_given)
        return hostlist_keep_first(list, request->nodes, "--nodes", err);
    return 0;
}

int hostsource_find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                    bool *alone, struct error *err)
{
    if (alone)
        *alone = false;
    if (find_list(out, request, warnings, alone, err) == 0 && hostsource_narrow(out, request, err) == 0)
        return 0;
    hostlist_release(out);
    return -1;
}
