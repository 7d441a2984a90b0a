/*
 * Resolves how the hosts of a list are reached, for callers other than a command, which has resolved them
 * already.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reached_internal.h"

static void forget(struct reached_hosts *hosts)
{
    for (size_t i = 0; hosts->endpoints && i < hosts->list.len; i++) {
        endpoint_release(&hosts->endpoints[i]);
    }
    free(hosts->endpoints);
    free(hosts->facts);
    ssh_config_free(hosts->config);
    hosts->endpoints = NULL;
    hosts->facts = NULL;
    hosts->config = NULL;
}

int reached_hosts_resolve(struct reached_hosts *hosts, const struct job *job, const char *home,
                          struct error *err)
{
    struct machine machine;
    size_t count = hosts->list.len;
    forget(hosts);
    if (machine_read(&machine, home, err) != 0) {
        return -1;
    }
    hosts->endpoints = xcalloc(count + 1, sizeof(*hosts->endpoints));
    hosts->facts = xcalloc(count + 1, sizeof(*hosts->facts));
    hosts->config = ssh_config_load(job->reach.config, machine.home, NULL, NULL, err);
    int result = hosts->config ? 0 : -1;
    for (size_t i = 0; i < count && result == 0; i++) {
        struct endpoint *endpoint = &hosts->endpoints[i];
        result = endpoint_resolve(&hosts->list.items[i], &job->reach, &machine, hosts->config, endpoint, NULL,
                                  err);
        if (result == 0) {
            bool renamed = endpoint->hostname && strcmp(endpoint->hostname, endpoint->name) != 0;
            hosts->facts[i] = (struct plan_host){
                .local = endpoint->local,
                .hostname = renamed ? endpoint->hostname : NULL,
                .user = endpoint->local ? NULL : endpoint->user,
                .port = endpoint->local ? 0 : endpoint->port,
            };
        }
    }
    machine_release(&machine);
    return result;
}

void reached_hosts_release(struct reached_hosts *hosts)
{
    forget(hosts);
    hostlist_release(&hosts->list);
}
