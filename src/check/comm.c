/* Judges the results of the all-reduce test: nodes and pairs that failed or are slow, and the transport. */
#include "check/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"

#define SLOW      0.5 /* of the usual rate */
#define GB        1e9
#define CROWDED   0.3 /* of the slowest pair's rate, for all nodes together */
#define NODES_MIN 3   /* with two nodes, it is unknown which one is slow */

void comm_result_release(struct comm_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        free(result->nodes[i].label);
        free(result->nodes[i].problem);
        free(result->nodes[i].remedy);
        free(result->nodes[i].transport);
        free(result->nodes[i].interface);
    }
    free(result->nodes);
    for (size_t i = 0; i < result->pairs_len; i++) {
        free(result->pairs[i].error);
    }
    free(result->pairs);
    free(result->whole_error);
    findings_release(&result->left);
    *result = (struct comm_result){0};
}

struct comm_pair *comm_get_pair(struct comm_result *result, size_t one, size_t other)
{
    size_t first = one < other ? one : other;
    size_t second = one < other ? other : one;
    for (size_t i = 0; i < result->pairs_len; i++) {
        if (result->pairs[i].first == first && result->pairs[i].second == second) {
            return &result->pairs[i];
        }
    }
    result->pairs = xgrow(result->pairs, result->pairs_len, &result->pairs_cap, sizeof(*result->pairs));
    result->pairs[result->pairs_len] = (struct comm_pair){.first = first, .second = second};
    return &result->pairs[result->pairs_len++];
}

static bool has(const struct comm_pair *pair, size_t node)
{
    return pair->first == node || pair->second == node;
}

bool comm_fails_always(const struct comm_result *result, size_t node, size_t pairs)
{
    size_t failed = 0;
    for (size_t i = 0; i < result->pairs_len; i++) {
        if (has(&result->pairs[i], node)) {
            if (result->pairs[i].rate > 0) {
                return false;
            }
            failed++;
        }
    }
    return failed >= pairs;
}

double comm_best(const struct comm_result *result, size_t node)
{
    double best = 0;
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *pair = &result->pairs[i];
        best = has(pair, node) && pair->rate > best ? pair->rate : best;
    }
    return best;
}

static int compare_rates(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* The median of rates (the lower one of two); 0: there is none. Sorts rates. */
static double middle(double *rates, size_t len)
{
    qsort(rates, len, sizeof(*rates), compare_rates);
    return len > 0 ? rates[(len - 1) / 2] : 0;
}

double comm_median(const struct comm_result *result)
{
    AUTO_FREE double *rates = xcalloc(result->pairs_len + 1, sizeof(*rates));
    size_t len = 0;
    for (size_t i = 0; i < result->pairs_len; i++) {
        if (result->pairs[i].rate > 0) {
            rates[len++] = result->pairs[i].rate;
        }
    }
    return middle(rates, len);
}

bool comm_is_slow(double rate, double usual)
{
    return rate > 0 && rate < SLOW * usual;
}

bool comm_left_something(const struct comm_result *result)
{
    return result->left.len > 0;
}

/* What is known of each node while the results are judged. */
struct verdict {
    double best;
    bool failed; /* took no part, or all its pairs failed */
    bool slow;   /* also with its best partner */
    bool told;   /* a finding that is not FINDING_OK names it */
};

static void name_hosts(const struct comm_result *result, struct finding *finding, struct verdict *verdicts,
                       size_t first, size_t second)
{
    strlist_add(&finding->hosts, result->nodes[first].label);
    verdicts[first].told = true;
    if (second != first) {
        strlist_add(&finding->hosts, result->nodes[second].label);
        verdicts[second].told = true;
    }
}

static const char path_remedy[] = "open all ports between the nodes on the network that NCCL_SOCKET_IFNAME "
                                  "and GLOO_SOCKET_IFNAME name, and check whether "
                                  "the nodes use the same one (`mtlaunch check` with connect, route and nic)";

static void judge_absent(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    for (size_t i = 0; i < result->count; i++) {
        if (result->nodes[i].problem) {
            struct finding *finding =
                findings_fail(out, COMM_ID, &kind_comm_failed, "%s", result->nodes[i].problem);
            if (result->nodes[i].remedy) {
                finding_set_remedy(finding, "%s", result->nodes[i].remedy);
            }
            name_hosts(result, finding, verdicts, i, i);
            verdicts[i].failed = true;
        }
    }
}

/* The error of the first failed pair of a node (SIZE_MAX: of any node). */
static const char *first_error(const struct comm_result *result, size_t node)
{
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *pair = &result->pairs[i];
        if (pair->error && (node == SIZE_MAX || has(pair, node))) {
            return pair->error;
        }
    }
    return "no reason was given";
}

static void judge_all_failed(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    struct finding *finding = findings_fail(out, COMM_ID, &kind_comm_failed,
                                            "no all-reduce between any two of these nodes succeeded");
    finding_set_evidence(finding, "%s", first_error(result, SIZE_MAX));
    finding_set_remedy(finding, "%s", path_remedy);
    for (size_t i = 0; i < result->count; i++) {
        if (!verdicts[i].failed) {
            name_hosts(result, finding, verdicts, i, i);
            verdicts[i].failed = true;
        }
    }
}

static void judge_failed_nodes(const struct comm_result *result, struct verdict *verdicts,
                               struct findings *out)
{
    for (size_t i = 0; i < result->count; i++) {
        if (verdicts[i].failed || !comm_fails_always(result, i, 1)) {
            continue;
        }
        struct finding *finding =
            findings_fail(out, COMM_ID, &kind_comm_failed,
                          "no all-reduce with any other node succeeded, but those between the others did");
        finding_set_evidence(finding, "%s", first_error(result, i));
        finding_set_remedy(finding, "%s", path_remedy);
        name_hosts(result, finding, verdicts, i, i);
        verdicts[i].failed = true;
    }
}

static void judge_failed_pairs(const struct comm_result *result, struct verdict *verdicts,
                               struct findings *out)
{
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *pair = &result->pairs[i];
        if (pair->rate > 0 || verdicts[pair->first].failed || verdicts[pair->second].failed) {
            continue;
        }
        struct finding *finding =
            findings_fail(out, COMM_ID, &kind_comm_failed,
                          "no all-reduce between %s and %s succeeded, but with other nodes it did",
                          result->nodes[pair->first].label, result->nodes[pair->second].label);
        finding_set_evidence(finding, "%s", pair->error ? pair->error : "no reason was given");
        finding_set_remedy(finding, "%s", path_remedy);
        name_hosts(result, finding, verdicts, pair->first, pair->second);
    }
}

static void judge_slow_nodes(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    AUTO_FREE double *rates = xcalloc(result->count + 1, sizeof(*rates));
    size_t len = 0;
    for (size_t i = 0; i < result->count; i++) {
        if (verdicts[i].best > 0) {
            rates[len++] = verdicts[i].best;
        }
    }
    double usual = middle(rates, len);
    for (size_t i = 0; len >= NODES_MIN && i < result->count; i++) {
        if (!comm_is_slow(verdicts[i].best, usual)) {
            continue;
        }
        struct finding *finding = findings_add(
            out, COMM_ID, FINDING_WARN, "it is slow: %.2f GB/s at best, the other nodes reach %.2f GB/s",
            verdicts[i].best / GB, usual / GB);
        finding_set_remedy(
            finding,
            "look at its cables, link speed, errors of its ports, and its load; or leave it out with "
            "--exclude: the slowest node sets the pace");
        name_hosts(result, finding, verdicts, i, i);
        verdicts[i].slow = true;
    }
}

static void judge_slow_pairs(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *pair = &result->pairs[i];
        double first = verdicts[pair->first].best, second = verdicts[pair->second].best;
        double usual = first < second ? first : second;
        if (verdicts[pair->first].slow || verdicts[pair->second].slow || !comm_is_slow(pair->rate, usual)) {
            continue;
        }
        struct finding *finding = findings_add(
            out, COMM_ID, FINDING_WARN,
            "the path between %s and %s is slow: %.2f GB/s; with other nodes both reach %.2f GB/s",
            result->nodes[pair->first].label, result->nodes[pair->second].label, pair->rate / GB, usual / GB);
        finding_set_remedy(finding, "look at the switches between them");
        name_hosts(result, finding, verdicts, pair->first, pair->second);
    }
}

static bool is_socket(const struct comm_node *node)
{
    return node->transport && strcmp(node->transport, "Socket") == 0;
}

/* The transport of most nodes; if several are equally common, the first node's. NULL: none is known. */
static const char *usual_transport(const struct comm_result *result)
{
    const char *usual = NULL;
    size_t most = 0;
    for (size_t i = 0; i < result->count; i++) {
        size_t same = 0;
        for (size_t n = 0; result->nodes[i].transport && n < result->count; n++) {
            same += result->nodes[n].transport &&
                    strcmp(result->nodes[n].transport, result->nodes[i].transport) == 0;
        }
        if (same > most) {
            most = same;
            usual = result->nodes[i].transport;
        }
    }
    return usual;
}

static void judge_transport(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    const char *usual = usual_transport(result);
    for (size_t i = 0; i < result->count; i++) {
        const struct comm_node *node = &result->nodes[i];
        struct finding *finding = NULL;
        if (is_socket(node) && node->fast_ports) {
            finding = findings_add(out, COMM_ID, FINDING_WARN,
                                   "NCCL uses sockets although InfiniBand or RoCE ports are up");
            finding_set_remedy(
                finding,
                "leave out NCCL_IB_DISABLE and NCCL_NET, let NCCL_IB_HCA name ports that are there, and "
                "give the container /dev/infiniband and an unlimited memlock");
        } else if (node->transport && strcmp(node->transport, usual) != 0) {
            finding = findings_add(out, COMM_ID, FINDING_WARN, "NCCL uses %s, on the other nodes %s",
                                   node->transport, usual);
            finding_set_remedy(
                finding,
                "make the same network usable for NCCL on all nodes (`mtlaunch check` with ib and nic)");
        }
        if (finding) {
            name_hosts(result, finding, verdicts, i, i);
        }
    }
}

static void judge_whole(const struct comm_result *result, struct verdict *verdicts, struct findings *out)
{
    double slowest = comm_median(result);
    for (size_t i = 0; i < result->pairs_len; i++) {
        double rate = result->pairs[i].rate;
        slowest = rate > 0 && rate < slowest ? rate : slowest;
    }
    struct finding *finding = NULL;
    if (result->whole_nodes > 0 && result->whole_rate <= 0) {
        finding = findings_fail(out, COMM_ID, &kind_comm_failed,
                                "no all-reduce over %zu nodes together succeeded%s", result->whole_nodes,
                                result->pairs_len > 0 ? ", but in pairs it did" : "");
        finding_set_evidence(finding, "%s",
                             result->whole_error ? result->whole_error : "no reason was given");
    } else if (result->whole_rate > 0 && result->backend && strcmp(result->backend, "nccl") == 0 &&
               result->whole_rate < CROWDED * slowest) {
        finding = findings_add(out, COMM_ID, FINDING_WARN,
                               "together the nodes reach %.2f GB/s, the slowest pair alone %.2f GB/s",
                               result->whole_rate / GB, slowest / GB);
        finding_set_remedy(finding,
                           "check whether the switches between the nodes are shared or oversubscribed");
    }
    for (size_t i = 0; finding && i < result->count; i++) {
        if (!verdicts[i].failed) {
            name_hosts(result, finding, verdicts, i, i);
        }
    }
}

static void judge_well(const struct comm_result *result, const struct verdict *verdicts, struct findings *out)
{
    struct findings well = FINDINGS_INIT;
    struct finding *finding = NULL;
    double median = comm_median(result);
    if (result->whole_rate > 0 && median > 0) {
        finding = findings_add(&well, COMM_ID, FINDING_OK,
                               "%.2f GB/s between two nodes (median), %.2f GB/s together", median / GB,
                               result->whole_rate / GB);
    } else {
        double rate = median > 0 ? median : result->whole_rate;
        finding = findings_add(&well, COMM_ID, FINDING_OK, "%.2f GB/s", rate / GB);
    }
    for (size_t i = 0; i < result->count; i++) {
        if (!verdicts[i].told && (verdicts[i].best > 0 || result->whole_rate > 0)) {
            strlist_add(&finding->hosts, result->nodes[i].label);
        }
    }
    if (finding->hosts.len > 0) {
        findings_move(out, &well, COMM_ID);
    }
    findings_release(&well);
}

void comm_judge(const struct comm_result *result, struct findings *out)
{
    AUTO_FREE struct verdict *verdicts = xcalloc(result->count + 1, sizeof(*verdicts));
    for (size_t i = 0; i < result->count; i++) {
        verdicts[i].best = comm_best(result, i);
    }
    judge_absent(result, verdicts, out);
    if (result->pairs_len > 0 && comm_median(result) <= 0) {
        judge_all_failed(result, verdicts, out);
    } else {
        judge_failed_nodes(result, verdicts, out);
        judge_failed_pairs(result, verdicts, out);
        judge_slow_nodes(result, verdicts, out);
        judge_slow_pairs(result, verdicts, out);
    }
    judge_whole(result, verdicts, out);
    judge_transport(result, verdicts, out);
    judge_well(result, verdicts, out);
    if (result->count > 0 && result->pairs_len == 0 && result->whole_nodes == 0 && out->len == 0) {
        struct finding *finding =
            findings_add(out, COMM_ID, FINDING_NOTE, "nothing to test: it is one process on one node");
        name_hosts(result, finding, verdicts, 0, 0);
    }
    findings_fold(out, &result->left, NULL);
}
