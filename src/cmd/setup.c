#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/setup_internal.h"
#include "input/hostsource.h"
#include "input/jobfile.h"

void setup_release(struct setup *setup)
{
    for (size_t i = 0; setup->endpoints && i < setup->hosts.len; i++)
        endpoint_release(&setup->endpoints[i]);
    free(setup->endpoints);
    free(setup->facts);
    ssh_config_free(setup->config);
    hostlist_release(&setup->hosts);
    if (setup->has_job)
        job_release(&setup->job);
    machine_release(&setup->machine);
    *setup = (struct setup){0};
}

static void say_warnings(const struct strlist *warnings)
{
    for (size_t i = 0; i < warnings->len; i++)
        msg_warn("%s", warnings->items[i]);
}

static int load_job(struct setup *setup, const struct cmd_call *call, const char *job, struct error *err)
{
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    const struct cmd_options *options = &call->options;
    setup->asked = (struct job_request){
        .job = job,
        .profiles = &options->profiles,
        .sets = &options->set,
        .env = &options->env,
        .container = options->container,
        .zero_stage = options->zero_stage,
        .nproc_per_node = options->nproc_per_node,
        .master_addr = options->master_addr,
        .master_port = options->master_port,
        .artifacts = options->artifacts,
        .rest = &call->rest,
        .environ_ = (const char *const *)environ,
        .home = setup->machine.home,
    };
    int result = jobfile_load(&setup->job, &setup->asked, &notes, &warnings, err);
    setup->has_job = result == 0;
    say_warnings(&warnings);
    for (size_t i = 0; i < notes.len; i++)
        msg_info("%s", notes.items[i]);
    return result;
}

static int load_hosts(struct setup *setup, const struct cmd_call *call, struct error *err)
{
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    const struct cmd_options *options = &call->options;
    struct hostsource_request request = {
        .hosts = options->hosts,
        .hostfile = options->hostfile,
        .exclude = options->exclude,
        .nodes_given = options->nodes.given,
        .nodes = options->nodes.value,
        .job = setup->has_job ? &setup->job : NULL,
        .environ_ = (const char *const *)environ,
        .self = setup->machine.name,
    };
    bool alone = false;
    int result = hostsource_find(&setup->hosts, &request, &warnings, &alone, err);
    say_warnings(&warnings);
    if (result == 0 && alone)
        msg_info("no host list: running on this machine alone");
    return result;
}

int setup_load(struct setup *setup, const struct cmd_call *call, const char *job, struct error *err)
{
    if (machine_read(&setup->machine, getenv("HOME"), err) != 0)
        return -1;
    if (job && load_job(setup, call, job, err) != 0)
        return -1;
    return load_hosts(setup, call, err);
}

static int load_config(struct setup *setup, struct error *err)
{
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    const char *path = setup->has_job ? setup->job.ssh_config : NULL;
    setup->config = ssh_config_load(path, setup->machine.home, &warnings, &notes, err);
    say_warnings(&warnings);
    for (size_t i = 0; i < notes.len; i++)
        msg_verbose("%s", notes.items[i]);
    return setup->config ? 0 : -1;
}

static struct plan_host plan_host_of(const struct endpoint *endpoint)
{
    bool renamed = endpoint->hostname && strcmp(endpoint->hostname, endpoint->name) != 0;
    return (struct plan_host){
        .local = endpoint->local,
        .hostname = renamed ? endpoint->hostname : NULL,
        .user = endpoint->local ? NULL : endpoint->user,
        .port = endpoint->local ? 0 : endpoint->port,
    };
}

int setup_endpoints(struct setup *setup, struct error *err)
{
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    struct ssh_options options = {0};
    if (setup->has_job)
        options = (struct ssh_options){.user = setup->job.ssh_user,
                                       .port = setup->job.ssh_port,
                                       .identity = setup->job.ssh_identity,
                                       .known_hosts = setup->job.ssh_known_hosts,
                                       .host_key = setup->job.ssh_host_key,
                                       .client = setup->job.ssh_client,
                                       .config = setup->job.ssh_config,
                                       .jump = setup->job.ssh_jump};
    if (load_config(setup, err) != 0)
        return -1;
    setup->endpoints = xcalloc(setup->hosts.len, sizeof(setup->endpoints[0]));
    setup->facts = xcalloc(setup->hosts.len, sizeof(setup->facts[0]));
    for (size_t i = 0; i < setup->hosts.len; i++) {
        if (endpoint_resolve(&setup->hosts.items[i], &options, &setup->machine, setup->config,
                             &setup->endpoints[i], &notes, err) != 0)
            return -1;
        setup->facts[i] = plan_host_of(&setup->endpoints[i]);
    }
    for (size_t i = 0; i < notes.len; i++)
        msg_verbose("%s", notes.items[i]);
    return 0;
}
