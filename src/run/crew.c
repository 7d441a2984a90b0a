#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "common_internal.h"
#include "crew_internal.h"
#include "model/kind.h"
#include "reach/endpoint.h"
#include "run/notify_store.h"
#include "said_internal.h"
#include "step_internal.h"

#define ANSWER_TIMES 3 /* the time for connect and login */

/* --- opening ------------------------------------------------------------------------------------ */

static void on_signal(void *ctx, int signal_number)
{
    struct crew *crew = ctx;
    if (signal_number == SIGHUP) {
        crew->hung_up = true;
        fleet_stop(crew->fleet);
        return;
    }
    crew->signal_number = signal_number;
    crew->signals++;
    if (crew->signals == crew->patience + 1 && crew->on_interrupt) {
        crew->on_interrupt(crew->interrupt_ctx);
    }
    if (crew_is_interrupted(crew)) {
        fleet_cancel_all(crew->fleet);
        fleet_stop(crew->fleet);
    }
}

bool crew_is_interrupted(const struct crew *crew)
{
    return crew->signals > crew->patience;
}

void crew_catch_hangup(struct crew *crew)
{
    fleet_catch_hangup(crew->fleet);
}

int crew_interrupted_error(const struct crew *crew, struct error *err)
{
    return crew->signal_number == SIGTERM ? error_set(err, &kind_terminated, "terminated by SIGTERM")
                                          : error_set(err, &kind_interrupted, "interrupted");
}

/* What is needed to add hosts to a crew's fleet. */
struct crew_adder {
    struct crew *crew;
    const struct machine *machine;
    const struct ssh_config *config;
    struct reach reach; /* borrowed */
    struct trust_survey *survey;
};

static int add_host(const struct crew_adder *adder, const struct host *host, const char *label, size_t *index,
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
    *index = fleet_add_host(adder->crew->fleet, &endpoint);
    trust_survey_add(adder->survey, &endpoint);
    endpoint_release(&endpoint);
    return 0;
}

/* A host of an earlier attempt, reached as that attempt did. One that cannot be is no reason to leave the
 * run's own nodes alone: whoever pays the debt says why. */
static size_t add_debtor(struct crew_adder adder, const struct run_debt *debt)
{
    struct ssh_config *config = NULL;
    size_t host = CREW_NO_HOST;
    if (debt->place_known) {
        adder.reach = debt->reach;
        adder.config = config = ssh_config_load(debt->reach.config, adder.machine->home, NULL, NULL, NULL);
    }
    if (adder.config) {
        add_host(&adder, &debt->host, debt->label, &host, NULL);
    }
    ssh_config_free(config);
    return host;
}

static int add_hosts(struct crew *crew, const struct machine *machine, const struct ssh_config *config,
                     struct trust_survey *survey, struct error *err)
{
    const struct run *run = crew->run;
    const struct crew_adder adder = {
        .crew = crew,
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
    crew->debt_hosts = xcalloc(run->debts_len + 1, sizeof(*crew->debt_hosts));
    for (size_t i = 0; i < run->debts_len && result == 0; i++) {
        crew->debt_hosts[i] = add_debtor(adder, &run->debts[i]);
    }
    return result;
}

/* Once a command. */
static void warn_unverified(struct run_context *context, const struct trust_survey *survey)
{
    AUTO_FREE char *warning = trust_survey_warning(survey);
    if (warning && !context->told_unverified) {
        context->told_unverified = true;
        tell_warn(context, "%s", warning);
    }
}

int crew_open(struct crew *crew, struct run_context *context, const struct run *run, struct error *err)
{
    struct machine machine;
    *crew = (struct crew){.context = context, .run = run};
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
            .hosts = run->nodes_len + run->debts_len,
        };
        crew->fleet = fleet_new(&options, err);
        if (crew->fleet) {
            fleet_on_signal(crew->fleet, on_signal, crew);
            struct trust_survey survey = {0};
            result = add_hosts(crew, &machine, config, &survey, err);
            if (result == 0) {
                warn_unverified(context, &survey);
            }
            trust_survey_release(&survey);
            if (result == 0 && context->observer->work) {
                result = fleet_background(crew->fleet, context->observer->work_fd, context->observer->work,
                                          context->observer->work_ctx, err);
            }
        }
    }
    ssh_config_free(config);
    machine_release(&machine);
    return result;
}

int crew_hold(const struct crew *crew, struct error *err)
{
    return fleet_hold(crew->fleet, err);
}

void crew_close(struct crew *crew)
{
    fleet_free(crew->fleet);
    crew->fleet = NULL;
    free(crew->debt_hosts);
    crew->debt_hosts = NULL;
}

/* --- rounds ------------------------------------------------------------------------------------- */

struct round_entry {
    struct round *round;
    size_t node;
    struct str bytes;
    struct str said;
    char nonce[NODE_NONCE_LEN + 1];
};

struct round {
    struct crew *crew;
    const struct crew_question *question;
    struct round_entry *entries;
    size_t next; /* the next node to ask */
    size_t open; /* asked and not done */
    size_t done;
};

void crew_make_nonce(char nonce[NODE_NONCE_LEN + 1])
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
    said_add(&entry->said, bytes, len);
    if (stream == 1) {
        str_add_mem(&entry->bytes, bytes, len < room ? len : room);
    }
}

static void round_tell_progress(const struct round *round)
{
    const struct run_observer *observer = round->crew->context->observer;
    if (round->question->what && observer->progress) {
        observer->progress(observer->ctx, round->question->what, round->done, round->crew->run->nodes_len);
    }
}

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct round_entry *entry = ctx;
    struct round *round = entry->round;
    const struct crew_question *question = round->question;
    struct error err = result->error;
    (void)host;
    run_step(round->crew->context);
    if (!err.kind && question->take(question->ctx, entry->node, str_text(&entry->bytes), entry->bytes.len,
                                    entry->nonce, &err) == 0) {
        err.kind = NULL;
    }
    if (err.kind) {
        said_explain(&entry->said, &err);
        question->failed(question->ctx, entry->node, &err, result->started);
    }
    str_release(&entry->bytes);
    str_release(&entry->said);
    round->open--;
    round->done++;
    round_tell_progress(round);
    round_advance(round);
    if (round->open == 0) {
        fleet_stop(round->crew->fleet);
    }
}

/* Ask one node; false when it has nothing to be asked. */
static bool round_ask(struct round *round, size_t node)
{
    static const struct exec_handler handler = {.data = on_data, .done = on_done};
    struct round_entry *entry = &round->entries[node];
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    crew_make_nonce(entry->nonce);
    if (!round->question->build(round->question->ctx, node, entry->nonce, &call)) {
        return false;
    }
    run_step(round->crew->context);
    const struct exec_request request = {
        .command = call.command,
        .input = call.input.data,
        .input_len = call.input.len,
        .timeout_ms = round->question->timeout_ms,
    };
    fleet_exec(round->crew->fleet, node, &request, &handler, entry);
    round->open++;
    return true;
}

/* Keep as many questions open as the fan-out allows: no call is built before its turn. */
static void round_advance(struct round *round)
{
    size_t count = round->crew->run->nodes_len;
    if (crew_is_interrupted(round->crew)) {
        for (; round->next < count; round->next++) {
            struct error err = ERROR_INIT;
            crew_interrupted_error(round->crew, &err);
            round->question->failed(round->question->ctx, round->next, &err, false);
        }
    }
    while (round->next < count && round->open < round->crew->context->fanout) {
        if (!round_ask(round, round->next++)) {
            round->done++;
            round_tell_progress(round);
        }
    }
}

int crew_ask(struct crew *crew, const struct crew_question *question)
{
    size_t count = crew->run->nodes_len;
    struct round round = {
        .crew = crew,
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
        fleet_run(crew->fleet);
    }
    free(round.entries);
    return crew_is_interrupted(crew) ? -1 : 0;
}

/* --- pauses ------------------------------------------------------------------------------------- */

static void on_pause_end(void *ctx)
{
    fleet_stop(ctx);
}

void crew_pause(struct crew *crew, unsigned ms)
{
    if (crew_is_interrupted(crew)) {
        return;
    }
    uint64_t timer = fleet_timer(crew->fleet, ms, on_pause_end, crew->fleet);
    fleet_run(crew->fleet);
    fleet_timer_cancel(crew->fleet, timer);
}

unsigned run_answer_ms(unsigned connect_timeout_ms)
{
    return ANSWER_TIMES * (connect_timeout_ms != 0 ? connect_timeout_ms : FLEET_CONNECT_MS);
}
