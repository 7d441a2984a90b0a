/*
 * The checks of a job's hosts: asks each host once, judges the answers one by one and then against each
 * other, and runs the all-reduce test if requested.
 */
#include "run/check.h"

#include <stdlib.h>
#include <string.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "comm_internal.h"
#include "model/kind.h"
#include "node/container.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "preflight_internal.h"
#include "round_internal.h"

#define CHECK_MARGIN_MS 120000
#define INSPECT_MS      60000
#define PROBE_PORT_MIN  20000u /* below the ephemeral ports of Linux, which begin at 32768 */
#define PROBE_PORTS     9000u

/* No run can have this name, so nothing on the nodes is taken for a part of it. */
#define NO_RUN    "check"
#define NO_RUN_ID "check-00000000"

struct checking {
    const struct run_check_request *request;
    struct run_checked *out;
    struct node_set set;
    struct plan plan;
    struct preflight_node *nodes; /* one per host */
    bool *answered;               /* one per host */
    char token[NODE_NONCE_LEN + 1];
};

void run_checked_release(struct run_checked *checked)
{
    strlist_release(&checked->labels);
    findings_release(&checked->findings);
    comm_result_release(&checked->comm);
}

/* The plan's nodes are in the order of the host list. */
static int open_hosts(struct checking *all, struct run_context *context, struct error *err)
{
    AUTO_FREE const struct host **hosts = xcalloc(all->plan.nnodes + 1, sizeof(*hosts));
    for (size_t i = 0; i < all->plan.nnodes; i++) {
        hosts[i] = &all->request->hosts->items[all->plan.nodes[i].host];
        strlist_add(&all->out->labels, all->plan.nodes[i].label);
    }
    const struct node_set_options options = {
        .hosts = hosts,
        .labels = (const char *const *)all->out->labels.items,
        .count = all->plan.nnodes,
        .reach = &all->request->job->reach,
        .place = &all->request->job->place,
    };
    return node_set_open(&all->set, context, &options, err);
}

static struct node_target target_of(const struct checking *all, size_t node)
{
    return (struct node_target){
        .run = NO_RUN,
        .run_id = NO_RUN_ID,
        .rank = all->plan.nodes[node].rank,
        .attempt = 1,
        .artifacts = all->plan.nodes[node].artifacts,
        .place = all->request->job->place,
    };
}

static void release(struct checking *all)
{
    node_set_close(&all->set);
    for (size_t i = 0; all->nodes && i < all->plan.nnodes; i++) {
        preflight_node_release(&all->nodes[i]);
    }
    free(all->nodes);
    free(all->answered);
    plan_release(&all->plan);
}

static struct preflight the_preflight(const struct checking *all)
{
    return (struct preflight){
        .context = all->set.context,
        .run = NULL,
        .job = all->request->job,
        .hosts = all->request->hosts,
        .plan = &all->plan,
        .token = all->token,
        .probe_port = PROBE_PORT_MIN + (unsigned)strtoul(all->token, NULL, 36) % PROBE_PORTS,
    };
}

/*
 * Add the checks that the all-reduce test needs: for its plan, as for a start, and to know whether faster
 * ports exist.
 */
static void add_for_comm(struct check_choice *choice)
{
    static const char *const ids[] = {"route", "gpus", "ib"};
    for (size_t i = 0; i < checks_count; i++) {
        for (size_t n = 0; n < ARRAY_LEN(ids); n++) {
            choice->wanted[i] = choice->wanted[i] || strcmp(checks_all[i]->id, ids[n]) == 0;
        }
    }
}

static bool build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct checking *all = ctx;
    const struct node_target target = target_of(all, node);
    const struct preflight preflight = the_preflight(all);
    struct check_choice *choice = &all->nodes[node].choice;
    *choice = *all->request->choice;
    if (all->request->comm) {
        add_for_comm(choice);
    }
    check_add_needed(choice);
    preflight_build(&preflight, node, &target, &all->nodes[node], nonce, call);
    for (size_t i = 0; i < checks_count; i++) {
        all->out->asked.wanted[i] =
            all->out->asked.wanted[i] || (choice->wanted[i] && all->request->choice->wanted[i]);
    }
    return true;
}

static int take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce, struct error *err)
{
    struct checking *all = ctx;
    const struct preflight preflight = the_preflight(all);
    int result = preflight_take(&preflight, node, bytes, len, nonce, &all->nodes[node], err);
    all->answered[node] = result == 0;
    if (result == 0 && all->set.context->observer->verbose) {
        AUTO_FREE char *text = xasprintf("%s: %.2f s there", all->plan.nodes[node].label,
                                         (double)facts_uint(&all->nodes[node].facts, "node.took", 0) / 100);
        all->set.context->observer->verbose(all->set.context->observer->ctx, text);
    }
    return result;
}

static void failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct checking *all = ctx;
    (void)started;
    findings_fail_error(&all->nodes[node].findings, "reach", error);
    all->out->unreached += error->kind->exit_code == kind_unreachable.exit_code;
}

/*
 * Findings of all hosts, by check in the order of the table. A check that was made only because another one
 * needs it is reported only if it failed.
 */
static void gather(struct checking *all)
{
    AUTO_FINDINGS struct findings folded = FINDINGS_INIT;
    for (size_t i = 0; i < all->plan.nnodes; i++) {
        findings_fold(&folded, &all->nodes[i].findings, all->plan.nodes[i].label);
    }
    const struct preflight preflight = the_preflight(all);
    AUTO_FINDINGS struct findings compared = FINDINGS_INIT;
    preflight_compare(&preflight, all->nodes, all->answered, all->request->choice, &compared);
    findings_fold(&folded, &compared, NULL);
    for (size_t i = 0; i < checks_count; i++) {
        const char *id = checks_all[i]->id;
        if (all->request->choice->wanted[i] || findings_worst(&folded, id) == FINDING_FAIL) {
            findings_move(&all->out->findings, &folded, id);
        }
    }
}

/* --- the engine ----------------------------------------------------------------------------------- */

static bool inspect_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct checking *all = ctx;
    struct place container = all->request->job->place;
    (void)node;
    container.user = NULL; /* the container itself is inspected, so no user inside it is needed */
    node_request_container_inspect(&container, NULL, nonce, call);
    return true;
}

static int inspect_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                        struct error *err)
{
    struct checking *all = ctx;
    struct node_container_facts facts;
    int result = node_answer_container(bytes, len, nonce, &facts, err);
    if (result == 0) {
        all->nodes[node].inspect = facts.inspect;
        facts.inspect = NULL;
    }
    node_container_facts_release(&facts);
    return result;
}

static void inspect_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    (void)ctx; /* the checks meet the same failure and report it */
    (void)node;
    (void)error;
    (void)started;
}

/* Ask the nodes for what the engine reports about the containers, for the check of that name. */
static int inspect_containers(struct checking *all, struct error *err)
{
    const struct node_question question = {
        .what = "looking at containers",
        .ctx = all,
        .timeout_ms = INSPECT_MS,
        .build = inspect_build,
        .take = inspect_take,
        .failed = inspect_failed,
    };
    bool wanted = false;
    for (size_t i = 0; i < checks_count; i++) {
        wanted = wanted || (all->request->choice->wanted[i] && strcmp(checks_all[i]->id, "container") == 0);
    }
    if (!wanted || !all->request->job->place.container || node_set_ask(&all->set, &question) == 0) {
        return 0;
    }
    return node_set_interrupted_error(&all->set, err);
}

static int ask(struct checking *all, struct error *err)
{
    const struct node_question question = {
        .what = "checking",
        .ctx = all,
        .timeout_ms = (unsigned)all->request->job->start_timeout_s * 1000 + CHECK_MARGIN_MS,
        .together = node_set_hold(&all->set, NULL) == 0, /* else in turns: too few open files are allowed */
        .build = build,
        .take = take,
        .failed = failed,
    };
    if (node_set_ask(&all->set, &question) != 0) {
        return node_set_interrupted_error(&all->set, err);
    }
    gather(all);
    return 0;
}

/* Make the plan as a start would, from what the checks found. */
static int plan_with_facts(const struct checking *all, const char *run_id, struct plan *plan,
                           struct error *err)
{
    AUTO_FREE struct plan_node_facts *nodes = xcalloc(all->plan.nnodes + 1, sizeof(*nodes));
    for (size_t i = 0; i < all->plan.nnodes; i++) {
        nodes[all->plan.nodes[i].host] = preflight_plan_facts(&all->nodes[i].facts);
    }
    const struct plan_facts facts = {.run_id = run_id, .attempt = 1, .nodes = nodes};
    const struct plan_input input = {
        .job = all->request->job,
        .hosts = all->request->hosts,
        .host_facts = all->request->host_facts,
        .run = NO_RUN,
        .environ_ = all->set.context->environ_,
        .facts = &facts,
    };
    int result = plan_make(plan, &input, err);
    if (result != 0) {
        *plan = (struct plan){0};
    }
    return result;
}

/* Run the all-reduce test over the hosts that have answered. */
static int try_comm(struct checking *all, struct error *err)
{
    struct plan plan;
    char run_id[sizeof(NO_RUN_ID)];
    ask_make_run_id(NO_RUN, run_id, sizeof(run_id));
    AUTO_FREE bool *fast_ports = xcalloc(all->plan.nnodes + 1, sizeof(*fast_ports));
    for (size_t i = 0; i < all->plan.nnodes; i++) {
        fast_ports[i] = check_has_fast_ports(&all->nodes[i].facts);
    }
    all->out->tried_comm = true;
    if (plan_with_facts(all, run_id, &plan, err) != 0) {
        return -1;
    }
    const struct comm_request request = {
        .job = all->request->job,
        .plan = &plan,
        .run_id = run_id,
        .asked = all->answered,
        .fast_ports = fast_ports,
    };
    int result = comm_run(&all->set, &request, &all->out->comm, err);
    if (result == 0) {
        AUTO_FINDINGS struct findings found = FINDINGS_INIT;
        comm_judge(&all->out->comm, &found);
        findings_fold(&all->out->findings, &found, NULL);
    }
    plan_release(&plan);
    return result;
}

int run_check(struct run_context *context, const struct run_check_request *request, struct run_checked *out,
              struct error *err)
{
    struct checking all = {.request = request, .out = out};
    const struct plan_facts facts = {.run_id = NO_RUN_ID, .attempt = 1};
    const struct plan_input input = {
        .job = request->job,
        .hosts = request->hosts,
        .host_facts = request->host_facts,
        .run = NO_RUN,
        .environ_ = context->environ_,
        .facts = &facts,
    };
    int result = plan_make(&all.plan, &input, err);
    if (result != 0) {
        all.plan = (struct plan){0};
    } else {
        all.nodes = xcalloc(all.plan.nnodes, sizeof(*all.nodes));
        all.answered = xcalloc(all.plan.nnodes, sizeof(*all.answered));
        ask_make_nonce(all.token);
        for (size_t i = 0; i < all.plan.warnings.len; i++) {
            report_warn(context, "%s", all.plan.warnings.items[i]);
        }
        result = open_hosts(&all, context, err);
    }
    if (result == 0) {
        result = inspect_containers(&all, err);
    }
    if (result == 0) {
        result = ask(&all, err);
    }
    if (result == 0 && request->comm) {
        result = try_comm(&all, err);
    }
    release(&all);
    return result;
}
