/* Debts: nodes of earlier attempts that did not answer when the run went on without them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "common_internal.h"
#include "debtors_internal.h"
#include "model/kind.h"

/* A run of that one node, to ask it with. */
static void make_run(const struct run *run, const struct run_debt *debt, struct run *out)
{
    run_init(out);
    out->name = xstrdup(run->name);
    memcpy(out->id, run->id, sizeof(out->id));
    out->attempt = debt->attempt;
    out->state = RUN_STOPPED;
    const struct reach current = run_reach(run);
    const struct reach *reach = debt->place_known ? &debt->reach : &current;
    out->ssh_user = xstrdup(reach->user);
    out->ssh_port = reach->port;
    out->ssh_identity = xstrdup(reach->identity);
    out->ssh_config = xstrdup(reach->config);
    out->ssh_known_hosts = xstrdup(reach->known_hosts);
    out->ssh_client = xstrdup(reach->client);
    out->ssh_host_key = xstrdup(reach->host_key);
    out->ssh_jump = xstrdup(reach->jump);
    out->container_name = xstrdup(debt->place.container);
    out->container_engine = xstrdup(debt->place.engine);
    out->container_user = xstrdup(debt->place.user);
    out->container_sudo = debt->place.sudo;
    run_nodes_alloc(out, 1);
    struct run_node *node = &out->nodes[0];
    host_copy(&node->host, &debt->host);
    node->rank = debt->rank;
    node->label = xstrdup(debt->label);
    node->local = debt->local;
    node->artifacts = xstrdup(debt->artifacts);
    node->container_id = xstrdup(debt->place.id);
    node->container_started = xstrdup(debt->place.started);
}

/* A record of an earlier version does not say in which container the work was, if in one: looking on the node
 * itself would prove nothing. */
static bool is_payable(const struct run *run, const struct run_debt *debt)
{
    return debt->place_known || !run->container_name;
}

/* Ask the node of one debt. 1: nothing is left there, 0: not proven, -1: interrupted. */
static int pay(struct run_context *context, const struct run *run, const struct run_debt *debt,
               struct run_stop_result *result, struct error *err)
{
    struct run one;
    struct crew crew;
    size_t unproven = 1;
    struct error unasked = ERROR_INIT;
    int code = 0;
    const struct stop_orders orders = {
        .signal = run->stop_signal,
        .grace_s = run->stop_grace_s,
        .sweep = true,
        .quiet = true,
        .only_attempt = true, /* the run may live there again */
    };
    make_run(run, debt, &one);
    if (crew_open(&crew, context, &one, &unasked) != 0) {
        tell_warn(context, "%s: cannot look for what is left of attempt %u: %s", debt->label, debt->attempt,
                  unasked.text);
    } else if (run_end_nodes(&crew, &one, &orders, result, &unproven, NULL) != 0) {
        code = crew_interrupted_error(&crew, err);
    }
    crew_close(&crew);
    run_release(&one);
    return code != 0 ? -1 : unproven == 0;
}

void run_owe_node(struct run *run, size_t index)
{
    const struct run_node *node = &run->nodes[index];
    struct run_debt *debt = run_add_debt(run);
    host_copy(&debt->host, &node->host);
    debt->label = xstrdup(node->label);
    debt->local = node->local;
    debt->artifacts = xstrdup(node->artifacts);
    const struct place place = {
        .container = run->container_name,
        .engine = run->container_engine,
        .sudo = run->container_sudo,
        .user = run->container_user,
        .id = node->container_id,
        .started = node->container_started,
    };
    const struct reach reach = run_reach(run);
    place_copy(&debt->place, &place);
    reach_copy(&debt->reach, &reach);
    debt->place_known = true;
    debt->rank = node->rank;
    debt->attempt = run->attempt;
}

int run_pay_debts_held(struct run_context *context, struct run *run, struct run_stop_result *result,
                       struct error *err)
{
    const size_t before = run->debts_len;
    for (size_t i = run->debts_len; i-- > 0;) {
        if (!is_payable(run, &run->debts[i])) {
            continue;
        }
        int paid = pay(context, run, &run->debts[i], result, err);
        if (paid < 0) {
            return -1;
        }
        if (paid > 0) {
            run_note_event(context, run, "cleaned", run->debts[i].label,
                           "it answers again: nothing of attempt %u is left there", run->debts[i].attempt);
            run_drop_debt(run, i);
        }
    }
    return run->debts_len == before ? 0 : run_keep(context, run, err);
}

int run_pay_debts(struct run_context *context, struct run *run, struct error *err)
{
    struct run fresh;
    struct run_stop_result result = {0};
    AUTO_CLOSE int lock = run_take_turn(context, run->name, false, err);
    if (lock < 0) {
        return lock == -2 ? 0 : -1;
    }
    if (run_store_load(context->store, run->name, &fresh, err) != 0) {
        return -1;
    }
    run_release(run);
    *run = fresh;
    int code = run_pay_debts_held(context, run, &result, err);
    run_stop_result_release(&result);
    return code;
}

void run_tell_unpayable(const struct run_context *context, const struct run *run)
{
    for (size_t i = 0; i < run->debts_len; i++) {
        const struct run_debt *debt = &run->debts[i];
        if (!is_payable(run, debt)) {
            tell_warn(context,
                      "%s: cannot look for what is left of attempt %u: the record is from an earlier version "
                      "and does not name its container; look there by hand, `mtlaunch remove %s` forgets it",
                      debt->label, debt->attempt, run->name);
        }
    }
}

int run_settle_debts(struct run_context *context, struct run *run, struct run_stop_result *result,
                     struct error *err)
{
    if (run->debts_len == 0) {
        return 0;
    }
    run_tell_unpayable(context, run);
    if (run_pay_debts_held(context, run, result, err) != 0) {
        return -1;
    }
    if (run->debts_len == 0) {
        return 0;
    }
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; i < run->debts_len; i++) {
        strlist_add(&names, run->debts[i].label);
    }
    AUTO_FREE char *joined = strlist_join(&names, ", ");
    error_set(err, &kind_not_proven,
              "it is not proven that run '%s' is gone from %s, which did not answer before", run->name,
              joined);
    return error_hint(err, "`mtlaunch stop %s` again is safe", run->name);
}

/* --- debtors ------------------------------------------------------------------------------------- */

#define KNOCK_TIMEOUT_MS 30000

struct debtor {
    struct debtors *debtors;
    size_t host;            /* in the crew's fleet */
    unsigned rank, attempt; /* of the debt */
    unsigned tries;
    bool answered;
};

struct debtors {
    struct crew *crew;
    struct debtor *items;
    size_t len;
    bool answers;
};

static void knock(void *ctx);

static void on_answer(void *ctx, size_t host, const struct exec_result *result)
{
    struct debtor *debtor = ctx;
    struct crew *crew = debtor->debtors->crew;
    (void)host;
    if (crew_is_interrupted(crew)) {
        return;
    }
    if (!result->error.kind) {
        debtor->answered = true;
        debtor->debtors->answers = true;
        fleet_stop(crew->fleet);
        return;
    }
    fleet_timer(crew->fleet, policy_retry_ms(++debtor->tries, UINT32_MAX / 2), knock, debtor);
}

static void knock(void *ctx)
{
    static const struct exec_handler handler = {.done = on_answer};
    static const struct exec_request request = {.command = "true", .timeout_ms = KNOCK_TIMEOUT_MS};
    struct debtor *debtor = ctx;
    fleet_exec(debtor->debtors->crew->fleet, debtor->host, &request, &handler, debtor);
}

struct debtors *debtors_open(struct crew *crew)
{
    struct debtors *debtors = xcalloc(1, sizeof(*debtors));
    debtors->crew = crew;
    debtors->len = crew->run->debts_len;
    debtors->items = xcalloc(debtors->len + 1, sizeof(*debtors->items));
    for (size_t i = 0; i < debtors->len; i++) {
        debtors->items[i] = (struct debtor){
            .debtors = debtors,
            .host = crew->debt_hosts[i],
            .rank = crew->run->debts[i].rank,
            .attempt = crew->run->debts[i].attempt,
        };
        if (debtors->items[i].host != CREW_NO_HOST && is_payable(crew->run, &crew->run->debts[i])) {
            knock(&debtors->items[i]);
        }
    }
    return debtors;
}

static bool still_owed(const struct debtor *debtor, const struct run *run)
{
    for (size_t i = 0; i < run->debts_len; i++) {
        if (run->debts[i].rank == debtor->rank && run->debts[i].attempt == debtor->attempt) {
            return true;
        }
    }
    return false;
}

void debtors_go_on(struct debtors *debtors)
{
    debtors->answers = false;
    for (size_t i = 0; i < debtors->len; i++) {
        struct debtor *debtor = &debtors->items[i];
        if (debtor->answered && still_owed(debtor, debtors->crew->run)) {
            debtor->answered = false;
            fleet_timer(debtors->crew->fleet, policy_retry_ms(++debtor->tries, UINT32_MAX / 2), knock,
                        debtor);
        }
    }
}

void debtors_free(struct debtors *debtors)
{
    if (debtors) {
        free(debtors->items);
        free(debtors);
    }
}

bool debtors_answer(const struct debtors *debtors)
{
    return debtors->answers;
}
