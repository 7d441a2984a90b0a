/* The node set: opens and closes it, and handles its signals and pauses. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/signals.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "reach/endpoint.h"
#include "run/notify_store.h"

/* --- opening ------------------------------------------------------------------------------------ */

static void interrupt(struct node_set *set)
{
    set->signals++;
    if (set->signals == set->patience + 1 && set->on_interrupt) {
        set->on_interrupt(set->interrupt_ctx);
    }
    if (node_set_is_interrupted(set)) {
        fleet_cancel_all(set->fleet);
        fleet_stop(set->fleet);
    }
}

static void on_signal(void *ctx, int signal_number)
{
    struct node_set *set = ctx;
    if (signal_number == SIGHUP) {
        set->hung_up = true;
        fleet_stop(set->fleet);
        return;
    }
    set->signal_number = signal_number;
    interrupt(set);
}

void run_context_interrupt(struct run_context *context)
{
    context->interrupted = true;
    for (struct node_set *set = context->sets; set; set = set->next) {
        interrupt(set);
    }
}

bool node_set_is_interrupted(const struct node_set *set)
{
    return set->signals > set->patience;
}

void node_set_hold_signals(struct node_set *set)
{
    signal_block(SIGINT);
    signal_block(SIGTERM);
    set->context->holds_signals = true;
}

void node_set_release_signals(struct run_context *context)
{
    if (context->holds_signals) {
        signal_unblock(SIGINT);
        signal_unblock(SIGTERM);
        context->holds_signals = false;
    }
}

void node_set_catch_hangup(struct node_set *set)
{
    fleet_catch_hangup(set->fleet);
}

int node_set_interrupted_error(const struct node_set *set, struct error *err)
{
    return set->signal_number == SIGTERM ? error_set(err, &kind_terminated, "terminated by SIGTERM")
                                         : error_set(err, &kind_interrupted, "interrupted");
}

/* The arguments for adding hosts to a node set's fleet. */
struct host_adder {
    struct node_set *set;
    const struct machine *machine;
    const struct ssh_config *config;
    struct reach reach; /* borrowed */
    struct trust_survey *survey;
};

static int add_host(const struct host_adder *adder, const struct host *host, const char *label, size_t *index,
                    struct error *err)
{
    struct endpoint endpoint;
    if (endpoint_resolve(host, &adder->reach, adder->machine, adder->config, &endpoint, NULL, err) != 0) {
        return error_prefix(err, "%s", label);
    }
    *index = fleet_add_host(adder->set->fleet, &endpoint);
    trust_survey_add(adder->survey, &endpoint);
    endpoint_release(&endpoint);
    return 0;
}

/*
 * Add a host of an earlier attempt, reached in the same way as by that attempt. If this is not possible, the
 * set does without it: the code that tries the pending cleanup reports why.
 */
static size_t add_cleanup_host(struct host_adder adder, const struct run_cleanup *cleanup)
{
    struct ssh_config *config = NULL;
    size_t host = NODE_SET_NO_HOST;
    if (cleanup->place_known) {
        adder.reach = cleanup->reach;
        adder.config = config = ssh_config_load(cleanup->reach.config, adder.machine->home, NULL, NULL, NULL);
    }
    if (adder.config) {
        add_host(&adder, &cleanup->host, cleanup->label, &host, NULL);
    }
    ssh_config_free(config);
    return host;
}

/* At most once per command. */
static void warn_unverified(struct run_context *context, const struct trust_survey *survey)
{
    AUTO_FREE char *warning = trust_survey_warning(survey);
    if (warning && !context->warned_unverified) {
        context->warned_unverified = true;
        report_warn(context, "%s", warning);
    }
}

static int add_own_hosts(const struct host_adder *adder, const struct node_set_options *options,
                         struct error *err)
{
    int result = 0;
    for (size_t i = 0; i < options->count && result == 0; i++) {
        size_t index; /* equals i */
        result = add_host(adder, options->hosts[i], options->labels[i], &index, err);
        strlist_add(&adder->set->labels, options->labels[i]);
    }
    return result;
}

static void add_cleanup_hosts(struct node_set *set, const struct host_adder *adder, const struct run *run)
{
    set->cleanup_hosts = xcalloc(run->cleanups_len + 1, sizeof(*set->cleanup_hosts));
    for (size_t i = 0; i < run->cleanups_len; i++) {
        set->cleanup_hosts[i] = add_cleanup_host(*adder, &run->cleanups[i]);
    }
}

/* Let the observer's work continue while this set's loop runs. */
static int add_works(struct node_set *set, struct error *err)
{
    const struct run_observer *observer = set->context->observer;
    int result = 0;
    for (size_t i = 0; i < RUN_WORKS && result == 0; i++) {
        const struct run_work *work = &observer->works[i];
        if (work->ready) {
            result = fleet_background(set->fleet, work->fd, work->ready, work->ctx, err);
        }
    }
    return result;
}

static int add_hosts(struct node_set *set, const struct node_set_options *options, const struct run *run,
                     const struct machine *machine, const struct ssh_config *config, struct error *err)
{
    struct trust_survey survey = {0};
    const struct host_adder adder = {
        .set = set, .machine = machine, .config = config, .reach = *options->reach, .survey = &survey};
    int result = add_own_hosts(&adder, options, err);
    if (result == 0 && run) {
        add_cleanup_hosts(set, &adder, run);
    }
    if (result == 0) {
        warn_unverified(set->context, &survey);
    }
    trust_survey_release(&survey);
    return result == 0 ? add_works(set, err) : -1;
}

static void enter_context(struct node_set *set)
{
    struct run_context *context = set->context;
    set->signals = context->interrupted;
    set->next = context->sets;
    context->sets = set;
    fleet_on_signal(set->fleet, on_signal, set);
    node_set_release_signals(context);
}

/* run: the hosts of its pending cleanups are added; NULL: none. */
static int open_set(struct node_set *set, struct run_context *context, const struct node_set_options *options,
                    const struct run *run, struct error *err)
{
    struct machine machine;
    const struct fleet_options fleet = {
        .fanout = context->fanout,
        .connect_timeout_ms = context->connect_timeout_ms,
        .hosts = options->count + (run ? run->cleanups_len : 0),
    };
    *set = (struct node_set){.context = context, .place = options->place};
    if (machine_read(&machine, context->home, err) != 0) {
        return -1;
    }
    int result = -1;
    struct ssh_config *config = ssh_config_load(options->reach->config, machine.home, NULL, NULL, err);
    if (config) {
        set->fleet = fleet_new(&fleet, err);
    }
    if (set->fleet) {
        enter_context(set);
        result = add_hosts(set, options, run, &machine, config, err);
    }
    ssh_config_free(config);
    machine_release(&machine);
    return result;
}

int node_set_open(struct node_set *set, struct run_context *context, const struct node_set_options *options,
                  struct error *err)
{
    return open_set(set, context, options, NULL, err);
}

/* Whether the kept sessions can be used for run. Pending cleanups need hosts of their own. */
static bool can_go_on(const struct run_context *context, const struct run *run)
{
    return context->kept && run->cleanups_len == 0 && context->kept_attempt == run->attempt &&
           strcmp(context->kept_id, run->id) == 0;
}

/* Use the sessions that an earlier set of these nodes has left open. */
static int open_kept(struct node_set *set, struct run_context *context,
                     const struct node_set_options *options, struct error *err)
{
    *set =
        (struct node_set){.context = context, .place = options->place, .fleet = context->kept, .held = true};
    context->kept = NULL;
    enter_context(set);
    for (size_t i = 0; i < options->count; i++) {
        strlist_add(&set->labels, options->labels[i]);
    }
    set->cleanup_hosts = xcalloc(1, sizeof(*set->cleanup_hosts));
    return add_works(set, err);
}

int node_set_open_run(struct node_set *set, struct run_context *context, const struct run *run,
                      struct error *err)
{
    AUTO_FREE const struct host **hosts = xcalloc(run->nodes_len + 1, sizeof(*hosts));
    AUTO_FREE const char **labels = xcalloc(run->nodes_len + 1, sizeof(*labels));
    for (size_t i = 0; i < run->nodes_len; i++) {
        hosts[i] = &run->nodes[i].host;
        labels[i] = run->nodes[i].label;
    }
    const struct node_set_options options = {.hosts = hosts,
                                             .labels = labels,
                                             .count = run->nodes_len,
                                             .reach = &run->reach,
                                             .place = &run->place};
    if (context->secrets.len == 0) {
        run_store_load_secret_values(context->store, run->name, &context->secrets);
    }
    if (can_go_on(context, run)) {
        return open_kept(set, context, &options, err);
    }
    fleet_free(context->kept);
    context->kept = NULL;
    return open_set(set, context, &options, run, err);
}

int node_set_hold(struct node_set *set, struct error *err)
{
    if (!set->held && fleet_hold(set->fleet, err) != 0) {
        return -1;
    }
    set->held = true;
    return 0;
}

/* Does nothing if the set is not in the list because it could not be opened. */
static void leave_context(struct node_set *set)
{
    struct node_set **at = set->context ? &set->context->sets : NULL;
    while (at && *at) {
        if (*at == set) {
            *at = set->next;
            return;
        }
        at = &(*at)->next;
    }
}

void node_set_close(struct node_set *set)
{
    leave_context(set);
    fleet_free(set->fleet);
    set->fleet = NULL;
    free(set->cleanup_hosts);
    set->cleanup_hosts = NULL;
    strlist_release(&set->labels);
}

/* Ignore a signal that arrives between two sets: the loop of the second one handles it. */
static void leave_signal(void *ctx, int signal_number)
{
    (void)ctx;
    (void)signal_number;
}

void node_set_keep(struct node_set *set, const struct run *run)
{
    struct run_context *context = set->context;
    if (set->held && !context->kept && run->cleanups_len == 0) {
        fleet_background_end(set->fleet, -1);
        fleet_on_signal(set->fleet, leave_signal, NULL);
        node_set_release_signals(context);
        context->kept = set->fleet;
        context->kept_attempt = run->attempt;
        memcpy(context->kept_id, run->id, sizeof(context->kept_id));
        set->fleet = NULL;
    }
    node_set_close(set);
}

/* --- pauses ------------------------------------------------------------------------------------- */

static void on_pause_end(void *ctx)
{
    fleet_stop(ctx);
}

void node_set_pause(struct node_set *set, unsigned ms)
{
    if (node_set_is_interrupted(set)) {
        return;
    }
    uint64_t timer = fleet_timer(set->fleet, ms, on_pause_end, set->fleet);
    fleet_run(set->fleet);
    fleet_timer_cancel(set->fleet, timer);
}

int run_pause(struct run_context *context, unsigned ms, struct error *err)
{
    const struct reach reach = {0};
    const struct node_set_options options = {.reach = &reach};
    struct node_set set;
    int result = node_set_open(&set, context, &options, err);
    if (result == 0) {
        node_set_pause(&set, ms);
        result = node_set_is_interrupted(&set) ? node_set_interrupted_error(&set, err) : 0;
    }
    node_set_close(&set);
    return result;
}
