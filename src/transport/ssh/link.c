/* The ssh transport's entry in the table of transports: its links, and what they share. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/ssh/ssh_internal.h"

static void *ssh_begin(const struct transport_setup *setup, struct error *err)
{
    struct ssh_shared *shared = xcalloc(1, sizeof(*shared));

    shared->setup = *setup;
    shared->resolver = resolver_new(setup->loop, err);
    if (!shared->resolver) {
        free(shared);
        return NULL;
    }
    shared->keys = ssh_keys_new();
    shared->agents = ssh_agents_new();
    shared->known = known_hosts_new();
    return shared;
}

static void ssh_end(void *arg)
{
    struct ssh_shared *shared = arg;

    resolver_close(shared->resolver);
    ssh_keys_free(shared->keys);
    ssh_agents_free(shared->agents);
    known_hosts_free(shared->known);
    free(shared);
}

/* One socket; through a jump host, a pair of sockets. */
static size_t ssh_files(const struct endpoint *endpoint)
{
    return endpoint->jump ? 2 : 1;
}

static bool ssh_serves(const struct endpoint *endpoint)
{
    return !endpoint->local;
}

void ssh_link_where(const struct ssh_link *link, struct str *out)
{
    if (strcmp(link->endpoint->name, link->endpoint->hostname) != 0) {
        str_addf(out, "'%s' ", link->endpoint->hostname);
    }
    str_addf(out, "port %u", link->endpoint->port);
    if (link->endpoint->jump) {
        str_addf(out, " through '%s'", link->endpoint->jump->name);
    }
}

static void *ssh_open(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                      void *owner)
{
    struct ssh_link *link = xcalloc(1, sizeof(*link));

    link->shared = shared;
    link->endpoint = endpoint;
    link->events = events;
    link->owner = owner;
    ssh_link_dial(link);
    return link;
}

static void ssh_run(void *arg, struct transport_job *job)
{
    struct ssh_link *link = arg;

    if (job->command) {
        ssh_command_run(link->connection, job);
    } else {
        ssh_forward_start(link->connection, job);
    }
}

static void ssh_input(void *arg, struct transport_job *job)
{
    (void)arg;
    ssh_command_input(job);
}

static void ssh_pause(void *arg)
{
    struct ssh_link *link = arg;

    if (link->connection) {
        ssh_connection_watch(link->connection);
    }
}

static void ssh_cancel(void *arg, struct transport_job *job)
{
    (void)arg;
    if (job->command) {
        ssh_command_cancel(job);
    } else {
        ssh_forward_stop(job);
    }
}

static void ssh_close(void *arg)
{
    struct ssh_link *link = arg;

    ssh_link_hang_up(link);
    free(link->via);
    free(link);
}

const struct transport_ops transport_ssh = {
    .name = "ssh",
    .serves = ssh_serves,
    .carries = true,
    .files = ssh_files,
    .begin = ssh_begin,
    .end = ssh_end,
    .open = ssh_open,
    .run = ssh_run,
    .input = ssh_input,
    .pause = ssh_pause,
    .cancel = ssh_cancel,
    .close = ssh_close,
};
