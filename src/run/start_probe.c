/* Runs the checks before a start: asks every node, and treats a failed check as a failure of its node. */
#include <string.h>

#include "base/alloc.h"
#include "judge_internal.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "round_internal.h"
#include "start_internal.h"

#define PROBE_MARGIN_MS 90000 /* beyond the limits of the checks, so that one that hangs is reported */

struct preflight start_preflight(const struct start *start)
{
    return (struct preflight){
        .context = start->context,
        .run = start->run->name,
        .job = start->request->job,
        .hosts = start->hosts,
        .plan = &start->plan,
        .starting = true,
    };
}

static bool probe_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct start *start = ctx;
    const struct node_target target = run_node_target(start->run, node);
    const struct preflight preflight = start_preflight(start);
    check_choose_start(&start->checks[node].choice, start->request->no_check);
    check_choose_skip(&start->request->job->checks_skip, &start->checks[node].choice,
                      NULL); /* cmd has validated the names */
    preflight_build(&preflight, node, &target, &start->checks[node], nonce, call);
    start->touched[node] = true;
    return true;
}

static int probe_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                      struct error *err)
{
    struct start *start = ctx;
    struct preflight_node *checks = &start->checks[node];
    const struct preflight preflight = start_preflight(start);
    start->touched[node] = false;
    if (preflight_take(&preflight, node, bytes, len, nonce, checks, err) != 0) {
        return -1;
    }
    const struct finding *failure = findings_first_failure(&checks->findings);
    return failure ? finding_to_error(failure, err) : 0;
}

bool start_is_out_of_reach(const struct error_kind *kind)
{
    static const struct error_kind *const kinds[] = {&kind_name_not_resolved, &kind_refused,
                                                     &kind_timed_out,         &kind_unreachable,
                                                     &kind_jump_unreachable,  &kind_connection_lost};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kind == kinds[i]) {
            return true;
        }
    }
    return false;
}

static void probe_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct start *start = ctx;
    /*
     * Setup lines may still be running there if the probe was cut short. After a lost connection the node
     * cannot be asked.
     */
    start->touched[node] =
        start->touched[node] && started && error->kind->exit_code != kind_connection_lost.exit_code;
    start->unreached[node] = !started && start_is_out_of_reach(error->kind);
    node_failures_set(&start->failures, node, error);
    judge_set_reason(&start->run->nodes[node], "%s", error->text);
}

/* Collect the findings of all checks, equal ones of several nodes once. */
static void gather(const struct start *start, struct findings *all)
{
    for (size_t i = 0; i < start->run->nodes_len; i++) {
        findings_fold(all, &start->checks[i].findings, start->run->nodes[i].label);
    }
}

void start_report_warnings(struct start *start)
{
    AUTO_FINDINGS struct findings all = FINDINGS_INIT;
    bool skips_others = start->named_others || start->request->is_restart;
    gather(start, &all);
    for (size_t i = 0; i < all.len; i++) {
        const struct finding *finding = &all.items[i];
        AUTO_STR struct str folded = STR_INIT;
        if (finding->severity != FINDING_WARN || (skips_others && strcmp(finding->id, "others") == 0)) {
            continue;
        }
        hostlist_fold_names(finding->hosts.items, finding->hosts.len, &folded);
        report_warn(start->context, "%s: %s", str_text(&folded), finding->text);
    }
    start->named_others = true;
}

int start_probe_nodes(struct start *start)
{
    const struct node_question question = {
        .what = "checking",
        .ctx = start,
        .timeout_ms = (unsigned)start->request->job->start_timeout_s * 1000 + PROBE_MARGIN_MS,
        .build = probe_build,
        .take = probe_take,
        .failed = probe_failed,
    };
    int result = node_set_ask(&start->set, &question);
    AUTO_FINDINGS struct findings all = FINDINGS_INIT;
    gather(start, &all);
    start_record_findings(start, &all);
    return result;
}
