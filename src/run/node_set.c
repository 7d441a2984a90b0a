/* The node set and the round: one question to each node, as many at once as the fan-out allows. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "login_output_internal.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "reach/endpoint.h"
#include "run/notify_store.h"
#include "test_crash_internal.h"

#define ANSWER_TIMES 3 /* the time for connect and login */

/* --- opening ------------------------------------------------------------------------------------ */

static void on_signal(void *ctx, int signal_number)
{
    struct node_set *set = ctx;
    if (signal_number == SIGHUP) {
        set->hung_up = true;
        fleet_stop(set->fleet);
        return;
    }
    set->signal_number = signal_number;
    set->signals++;
    if (set->signals == set->patience + 1 && set->on_interrupt) {
        set->on_interrupt(set->interrupt_ctx);
    }
    if (node_set_is_interrupted(set)) {
        fleet_cancel_all(set->fleet);
        fleet_stop(set->fleet);
    }
}

bool node_set_is_interrupted(const struct node_set *set)
{
    return set->signals > set->patience;
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

/* What is needed to add hosts to a node set's fleet. */
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
    const struct ssh_options options = {
        .user = adder->reach.user,
        .port = adder->reach.port,
        .identity = adder->reach.identity,
        .known_hosts = adder->reach.known_hosts,
        .client = adder->reach.client,
        .host_key = adder->reach.host_key,
        .config = adder->reach.config,
        .jump = adder->reach.jump,
    };
    if (endpoint_resolve(host, &options, adder->machine, adder->config, &endpoint, NULL, err) != 0) {
        return error_prefix(err, "%s", label);
    }
    *index = fleet_add_host(adder->set->fleet, &endpoint);
    trust_survey_add(adder->survey, &endpoint);
    endpoint_release(&endpoint);
    return 0;
}

/* A host of an earlier attempt, reached as that attempt did. One that cannot be is no reason to leave the
 * run's own nodes alone: whoever tries the pending cleanup says why. */
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

static int add_hosts(struct node_set *set, const struct machine *machine, const struct ssh_config *config,
                     struct trust_survey *survey, struct error *err)
{
    const struct run *run = set->run;
    const struct host_adder adder = {
        .set = set,
        .machine = machine,
        .config = config,
        .reach = run_reach(run),
        .survey = survey,
    };
    int result = 0;
    for (size_t i = 0; i < run->nodes_len && result == 0; i++) {
        size_t index; /* that of the node */
        result = add_host(&adder, &run->nodes[i].host, run->nodes[i].label, &index, err);
    }
    set->cleanup_hosts = xcalloc(run->cleanups_len + 1, sizeof(*set->cleanup_hosts));
    for (size_t i = 0; i < run->cleanups_len && result == 0; i++) {
        set->cleanup_hosts[i] = add_cleanup_host(adder, &run->cleanups[i]);
    }
    return result;
}

/* Once a command. */
static void warn_unverified(struct run_context *context, const struct trust_survey *survey)
{
    AUTO_FREE char *warning = trust_survey_warning(survey);
    if (warning && !context->warned_unverified) {
        context->warned_unverified = true;
        report_warn(context, "%s", warning);
    }
}

int node_set_open(struct node_set *set, struct run_context *context, const struct run *run, struct error *err)
{
    struct machine machine;
    *set = (struct node_set){.context = context, .run = run};
    if (context->secrets.len == 0) {
        run_store_load_secret_values(context->store, run->name, &context->secrets);
    }
    if (machine_read(&machine, context->home, err) != 0) {
        return -1;
    }
    int result = -1;
    struct ssh_config *config = ssh_config_load(run->ssh_config, machine.home, NULL, NULL, err);
    if (config) {
        const struct fleet_options options = {
            .fanout = context->fanout,
            .connect_timeout_ms = context->connect_timeout_ms,
            .hosts = run->nodes_len + run->cleanups_len,
        };
        set->fleet = fleet_new(&options, err);
        if (set->fleet) {
            fleet_on_signal(set->fleet, on_signal, set);
            struct trust_survey survey = {0};
            result = add_hosts(set, &machine, config, &survey, err);
            if (result == 0) {
                warn_unverified(context, &survey);
            }
            trust_survey_release(&survey);
            if (result == 0 && context->observer->work) {
                result = fleet_background(set->fleet, context->observer->work_fd, context->observer->work,
                                          context->observer->work_ctx, err);
            }
        }
    }
    ssh_config_free(config);
    machine_release(&machine);
    return result;
}

int node_set_hold(const struct node_set *set, struct error *err)
{
    return fleet_hold(set->fleet, err);
}

void node_set_close(struct node_set *set)
{
    fleet_free(set->fleet);
    set->fleet = NULL;
    free(set->cleanup_hosts);
    set->cleanup_hosts = NULL;
}

/* --- rounds ------------------------------------------------------------------------------------- */

struct round_entry {
    struct round *round;
    size_t node;
    struct str bytes;
    struct str login_output;
    char nonce[NODE_NONCE_LEN + 1];
};

struct round {
    struct node_set *set;
    const struct node_question *question;
    struct round_entry *entries;
    size_t next; /* the next node to ask */
    size_t open; /* asked and not done */
    size_t done;
};

void node_set_make_nonce(char nonce[NODE_NONCE_LEN + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 32: no bias in a byte's low bits */
    unsigned char random[NODE_NONCE_LEN];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort(); /* cannot happen below 256 bytes once the kernel's pool is set up */
    }
    for (size_t i = 0; i < NODE_NONCE_LEN; i++) {
        nonce[i] = letters[random[i] % (sizeof(letters) - 1)];
    }
    nonce[NODE_NONCE_LEN] = '\0';
}

static void round_advance(struct round *round);

static void on_data(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct round_entry *entry = ctx;
    (void)host;
    size_t room = NODE_ANSWER_MAX - entry->bytes.len;
    login_output_add(&entry->login_output, bytes, len);
    if (stream == 1) {
        str_add_mem(&entry->bytes, bytes, len < room ? len : room);
    }
}

static void round_tell_progress(const struct round *round)
{
    const struct run_observer *observer = round->set->context->observer;
    if (round->question->what && observer->progress) {
        observer->progress(observer->ctx, round->question->what, round->done, round->set->run->nodes_len);
    }
}

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct round_entry *entry = ctx;
    struct round *round = entry->round;
    const struct node_question *question = round->question;
    struct error err = result->error;
    (void)host;
    test_crash_point(round->set->context);
    if (!err.kind && question->take(question->ctx, entry->node, str_text(&entry->bytes), entry->bytes.len,
                                    entry->nonce, &err) == 0) {
        err.kind = NULL;
    }
    if (err.kind) {
        login_output_explain(&entry->login_output, &err);
        question->failed(question->ctx, entry->node, &err, result->started);
    }
    str_release(&entry->bytes);
    str_release(&entry->login_output);
    round->open--;
    round->done++;
    round_tell_progress(round);
    round_advance(round);
    if (round->open == 0) {
        fleet_stop(round->set->fleet);
    }
}

/* Ask one node; false when it has nothing to be asked. */
static bool round_ask(struct round *round, size_t node)
{
    static const struct exec_handler handler = {.data = on_data, .done = on_done};
    struct round_entry *entry = &round->entries[node];
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    node_set_make_nonce(entry->nonce);
    if (!round->question->build(round->question->ctx, node, entry->nonce, &call)) {
        return false;
    }
    test_crash_point(round->set->context);
    const struct exec_request request = {
        .command = call.command,
        .input = call.input.data,
        .input_len = call.input.len,
        .timeout_ms = round->question->timeout_ms,
    };
    fleet_exec(round->set->fleet, node, &request, &handler, entry);
    round->open++;
    return true;
}

/* Keep as many questions open as the fan-out allows: no call is built before its turn. */
static void round_advance(struct round *round)
{
    size_t count = round->set->run->nodes_len;
    if (node_set_is_interrupted(round->set)) {
        for (; round->next < count; round->next++) {
            struct error err = ERROR_INIT;
            node_set_interrupted_error(round->set, &err);
            round->question->failed(round->question->ctx, round->next, &err, false);
        }
    }
    while (round->next < count && round->open < round->set->context->fanout) {
        if (!round_ask(round, round->next++)) {
            round->done++;
            round_tell_progress(round);
        }
    }
}

int node_set_ask(struct node_set *set, const struct node_question *question)
{
    size_t count = set->run->nodes_len;
    struct round round = {
        .set = set,
        .question = question,
        .entries = xcalloc(count, sizeof(struct round_entry)),
    };
    for (size_t i = 0; i < count; i++) {
        round.entries[i].round = &round;
        round.entries[i].node = i;
    }
    round_tell_progress(&round);
    round_advance(&round);
    while (round.open > 0) {
        fleet_run(set->fleet);
    }
    free(round.entries);
    return node_set_is_interrupted(set) ? -1 : 0;
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

unsigned run_answer_ms(unsigned connect_timeout_ms)
{
    return ANSWER_TIMES * (connect_timeout_ms != 0 ? connect_timeout_ms : FLEET_CONNECT_MS);
}
