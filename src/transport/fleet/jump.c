/* Jump hosts: kept like any host of the fleet, and shared by all hosts that use the same login for one. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

static struct fleet_host *find_jump(struct fleet *fleet, const struct endpoint *endpoint)
{
    AUTO_FREE char *key = endpoint_login_key(endpoint);
    struct fleet_host *host;

    LIST_EACH(&fleet->jumps, struct fleet_host, jump, at) {
        if (strcmp(at->jump_key, key) == 0) {
            return at;
        }
    }
    host = fleet_host_new(fleet, endpoint, transport_find_carrier());
    host->jump_key = xstrdup(key);
    list_append(&fleet->jumps, &host->jump);
    return host;
}

/*
 * A passage is a request like a command, but it does not keep fleet_run running: the command of the inner
 * host does.
 */
void passage_start(struct fleet *fleet, const struct endpoint *jump, struct passage *passage)
{
    struct fleet_exec *exec = xcalloc(1, sizeof(*exec));

    exec->host = find_jump(fleet, jump);
    exec->follow = true;
    exec->passage = passage;
    exec->target = xstrdup(passage->host);
    exec->job.host = exec->target;
    exec->job.port = passage->port;
    passage->request = exec;
    list_append(&exec->host->execs, &exec->item);
    fleet_host_touch(exec->host);
}

void passage_stop(struct passage *passage)
{
    struct fleet_exec *exec = passage->request;

    if (!exec) {
        return;
    }
    passage->request = NULL;
    exec->passage = NULL;
    if (!exec->started) {
        exec->unwanted = true;
        fleet_host_touch(exec->host);
    }
}

void fleet_jump_asked(struct fleet_exec *exec, bool asked)
{
    if (exec->passage) {
        exec->passage->asked(exec->passage->ctx, asked);
    }
}

void fleet_jump_opened(struct fleet_exec *exec, int fd)
{
    exec->passage->opened(exec->passage->ctx, fd);
}

void fleet_jump_ended(struct fleet_exec *exec, const struct error *err)
{
    struct passage *passage = exec->passage;

    fleet_exec_free(exec);
    if (!passage) {
        return;
    }
    passage->request = NULL;
    if (err->kind) { /* otherwise the end of the socket informs the inner link */
        passage->failed(passage->ctx, err);
    }
}

/* Use the same words for every host behind the jump host, so that they are printed once. */
void fleet_jump_explain(const struct fleet_host *host, struct error *err)
{
    static const struct error_kind *const out_of_reach[] = {
        &kind_name_not_resolved, &kind_refused, &kind_timed_out, &kind_unreachable, &kind_connection_lost};

    for (size_t i = 0; i < ARRAY_LEN(out_of_reach); i++) {
        if (err->kind == out_of_reach[i]) {
            err->kind = &kind_jump_unreachable;
            break;
        }
    }
    error_prefix(err, "jump host '%s'", host->endpoint.name);
}
