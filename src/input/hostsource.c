/* Finds the host list of a command in the table of sources, and applies --exclude and --nodes. */
#include "input/hostsource.h"

#include <string.h>

#include "base/alloc.h"
#include "input/hostgroup.h"
#include "input/hostsource_internal.h"

const struct hostsource *const hostsources[] = {
    &hostsource_options, &hostsource_spec, &hostsource_environ, &hostsource_slurm, &hostsource_self,
};
const size_t hostsources_count = ARRAY_LEN(hostsources);

const char *hostsource_getenv(const struct hostsource_request *request, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *at = request->environ_; at && *at; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=') {
            return (*at)[len + 1] ? *at + len + 1 : NULL;
        }
    }
    return NULL;
}

/* A source that the command does not name is reported, so that no job runs on hosts by accident. */
static void say_source(const struct hostsource *source, const struct hostlist *list,
                       const struct hostsource_request *request, struct strlist *warnings,
                       struct strlist *notes)
{
    const char *file = hostsource_getenv(request, "MTLAUNCH_HOSTFILE");
    const char *id = hostsource_getenv(request, "SLURM_JOB_ID");
    AUTO_FREE char *allocation = id ? xasprintf("the Slurm job %s", id) : xstrdup("the Slurm allocation");

    if (source == &hostsource_slurm && notes) {
        strlist_addf(notes, "hosts: %zu from %s", list->len, allocation);
    }
    if (source != &hostsource_environ) {
        return;
    }
    if (notes) {
        strlist_addf(notes, "hosts: %zu from $MTLAUNCH_HOSTFILE (%s)", list->len, file);
    }
    if (hostsource_getenv(request, "SLURM_JOB_NODELIST") && warnings) {
        strlist_addf(
            warnings,
            "$MTLAUNCH_HOSTFILE is used and not the hosts of %s: 'unset MTLAUNCH_HOSTFILE' uses those",
            allocation);
    }
}

static int find_list(struct hostlist *out, const struct hostsource_request *request,
                     const struct hostlist_context *context, bool *alone, struct error *err)
{
    for (size_t i = 0; i < hostsources_count; i++) {
        int result = hostsources[i]->find(out, request, context, err);
        if (result < 0) {
            return -1;
        }
        if (result == 1) {
            *alone = hostsources[i] == &hostsource_self;
            say_source(hostsources[i], out, request, context->warnings, context->notes);
            return 0;
        }
    }
    return 0;
}

static int narrow(struct hostlist *list, const struct hostsource_request *request,
                  const struct hostlist_context *context, bool alone, struct error *err)
{
    if (request->nodes_given && request->nodes == 0) {
        error_set(err, &kind_usage, "'--nodes 0' leaves no host");
        return error_hint(err, "give at least 1");
    }
    if (request->nodes_given && alone) {
        error_set(err, &kind_usage, "'--nodes %lu', but there is no host list", request->nodes);
        return error_hint(err, "name the hosts: --hosts LIST, --hostfile FILE, or 'hosts' in the job file");
    }
    if (request->exclude && hostlist_exclude(list, request->exclude, "--exclude", context, err) < 0) {
        return -1;
    }
    if (request->nodes_given) {
        return hostlist_keep_first(list, request->nodes, "--nodes", err);
    }
    return 0;
}

int hostsource_find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                    struct strlist *notes, bool *alone, struct error *err)
{
    const struct hostlist_groups groups = hostgroup_files(request->home);
    const struct hostlist_context context = {.warnings = warnings, .notes = notes, .groups = &groups};
    bool none = false;
    int result = find_list(out, request, &context, &none, err);

    if (result == 0) {
        result = narrow(out, request, &context, none, err);
    }
    if (alone) {
        *alone = result == 0 && none;
    }
    if (result < 0) {
        hostlist_release(out);
    }
    return result;
}

int hostsource_narrow(struct hostlist *list, const struct hostsource_request *request, struct strlist *notes,
                      struct error *err)
{
    const struct hostlist_groups groups = hostgroup_files(request->home);
    const struct hostlist_context context = {.notes = notes, .groups = &groups};

    return narrow(list, request, &context, false, err);
}
