/* Loads the job, the hosts and how to reach them, for commands that act on hosts. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "check/check.h"
#include "cmd/setup_internal.h"
#include "input/hostsource.h"
#include "input/jobfile.h"

void setup_release(struct setup *setup)
{
    for (size_t i = 0; setup->endpoints && i < setup->hosts.len; i++) {
        endpoint_release(&setup->endpoints[i]);
    }
    free(setup->endpoints);
    free(setup->facts);
    ssh_config_free(setup->config);
    hostlist_release(&setup->hosts);
    if (setup->has_job) {
        job_release(&setup->job);
    }
    if (setup->has_run) {
        run_release(&setup->run);
    }
    machine_release(&setup->machine);
    *setup = (struct setup){0};
}

static void say_warnings(const struct strlist *warnings)
{
    for (size_t i = 0; i < warnings->len; i++) {
        msg_warn("%s", warnings->items[i]);
    }
}

static void say_notes(const struct strlist *notes)
{
    for (size_t i = 0; i < notes->len; i++) {
        msg_info("%s", notes->items[i]);
    }
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
        .rest = call->command && call->command->takes_command ? NULL : &call->rest,
        .environ_ = (const char *const *)environ,
        .home = setup->machine.home,
    };
    int result = jobfile_load(&setup->job, &setup->asked, &notes, &warnings, err);
    setup->has_job = result == 0;
    say_warnings(&warnings);
    say_notes(&notes);
    struct check_choice unused = {0};
    return result == 0 ? check_choose_skip(&setup->job.checks_skip, &unused, err) : result;
}

static int load_hosts(struct setup *setup, const struct cmd_call *call, struct error *err)
{
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
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
        .home = setup->machine.home,
    };
    int result = hostsource_find(&setup->hosts, &request, &warnings, &notes, &setup->alone, err);
    say_warnings(&warnings);
    say_notes(&notes);
    if (result == 0 && setup->alone) {
        msg_info("no host list: running on this machine alone");
    }
    return result;
}

int setup_load(struct setup *setup, const struct cmd_call *call, const char *job, struct error *err)
{
    if (machine_read(&setup->machine, getenv("HOME"), err) != 0) {
        return -1;
    }
    if (job && load_job(setup, call, job, err) != 0) {
        return -1;
    }
    return load_hosts(setup, call, err);
}

int setup_load_run(struct setup *setup, const struct cmd_call *call, const char *name, struct error *err)
{
    struct run_store store = {0};
    const struct cmd_options *options = &call->options;
    if (options->hosts || options->hostfile) {
        error_set(err, &kind_usage, "'--run' and '%s' cannot be used together",
                  options->hosts ? "--hosts" : "--hostfile");
        return error_hint(err, "leave out one of the two; --exclude and --nodes narrow the nodes of a run");
    }
    if (machine_read(&setup->machine, getenv("HOME"), err) != 0 ||
        run_store_open(&store, getenv("XDG_STATE_HOME"), setup->machine.home, err) != 0) {
        return -1;
    }
    run_init(&setup->run);
    setup->has_run = true;
    int result = run_store_load(&store, name, &setup->run, err);
    run_store_release(&store);
    if (result != 0) {
        return -1;
    }
    setup->hosts.source = xasprintf("run %s", name);
    for (size_t i = 0; i < setup->run.nodes_len; i++) {
        struct hostlist *hosts = &setup->hosts;
        hosts->items = xgrow(hosts->items, hosts->len, &hosts->cap, sizeof(hosts->items[0]));
        host_copy(&hosts->items[hosts->len++], &setup->run.nodes[i].host);
    }
    const struct hostsource_request narrow = {
        .exclude = options->exclude,
        .nodes_given = options->nodes.given,
        .nodes = options->nodes.value,
        .home = setup->machine.home,
    };
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    int narrowed = hostsource_narrow(&setup->hosts, &narrow, &notes, err);
    say_notes(&notes);
    return narrowed;
}

/* How the hosts are reached, by the job or the run. Borrows from setup. */
static const struct reach *reach_of(const struct setup *setup)
{
    static const struct reach none = {0};
    if (setup->has_job) {
        return &setup->job.reach;
    }
    return setup->has_run ? &setup->run.reach : &none;
}

static int load_config(struct setup *setup, struct error *err)
{
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    const char *path = reach_of(setup)->config;
    setup->config = ssh_config_load(path, setup->machine.home, &warnings, &notes, err);
    say_warnings(&warnings);
    for (size_t i = 0; i < notes.len; i++) {
        msg_verbose("%s", notes.items[i]);
    }
    if (!setup->config && path && !err->file[0] && !err->hint[0]) {
        return error_hint(err, "check 'ssh.config' in %s, or leave it out to use ~/.ssh/config",
                          setup->has_job ? setup->job.file : "the job file");
    }
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
    if (load_config(setup, err) != 0) {
        return -1;
    }
    setup->endpoints = xcalloc(setup->hosts.len, sizeof(setup->endpoints[0]));
    setup->facts = xcalloc(setup->hosts.len, sizeof(setup->facts[0]));
    for (size_t i = 0; i < setup->hosts.len; i++) {
        if (endpoint_resolve(&setup->hosts.items[i], reach_of(setup), &setup->machine, setup->config,
                             &setup->endpoints[i], &notes, err) != 0) {
            return -1;
        }
        setup->facts[i] = plan_host_of(&setup->endpoints[i]);
    }
    for (size_t i = 0; i < notes.len; i++) {
        msg_verbose("%s", notes.items[i]);
    }
    return 0;
}

static void warn_unverified(const struct setup *setup)
{
    struct trust_survey survey = {0};

    for (size_t i = 0; i < setup->hosts.len; i++) {
        trust_survey_add(&survey, &setup->endpoints[i]);
    }
    AUTO_FREE char *warning = trust_survey_warning(&survey);
    if (warning) {
        msg_warn("%s", warning);
    }
    trust_survey_release(&survey);
}

int setup_load_hosts(struct setup *setup, const struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;
    int result = options->run ? setup_load_run(setup, call, options->run, err)
                              : setup_load(setup, call, options->job, err);
    if (result != 0 || setup_endpoints(setup, err) != 0) {
        return -1;
    }
    warn_unverified(setup);
    return 0;
}
