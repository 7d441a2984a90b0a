/* How hosts are reached, as a value. */
#include "model/reach.h"

#include <stdlib.h>

#include "base/alloc.h"

void reach_init(struct reach *reach)
{
    *reach = (struct reach){0};
}

void reach_copy(struct reach *to, const struct reach *from)
{
    *to = (struct reach){
        .user = xstrdup(from->user),
        .port = from->port,
        .identity = xstrdup(from->identity),
        .config = xstrdup(from->config),
        .known_hosts = xstrdup(from->known_hosts),
        .client = xstrdup(from->client),
        .host_key = xstrdup(from->host_key),
        .jump = xstrdup(from->jump),
    };
}

void reach_release(struct reach *reach)
{
    free(reach->user);
    free(reach->identity);
    free(reach->config);
    free(reach->known_hosts);
    free(reach->client);
    free(reach->host_key);
    free(reach->jump);
    reach_init(reach);
}
