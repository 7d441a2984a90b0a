/* Check: nodes can connect to the master port, and to their neighbours on a high port. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define DEFAULT_PORT 29500u
#define MET_MS       1000 /* both must have been there for at least this long */
#define TIME_MAX     100000000

static unsigned master_port(const struct check_subject *subject)
{
    return subject->master_port != 0 ? subject->master_port : DEFAULT_PORT;
}

/* Node 0 listens on the master port, and every node on the probe port. targets: lines "WHAT ADDRESS PORT". */
static bool ask(const struct check_subject *subject, struct env *values)
{
    AUTO_STR struct str targets = STR_INIT;
    bool is_master = subject->rank == 0;
    if (!is_master) {
        str_addf(&targets, "master %s %u\n", subject->master_addr, master_port(subject));
    }
    if (subject->next_addr) {
        str_addf(&targets, "next %s %u\n", subject->next_addr, subject->probe_port);
    }
    if (subject->previous_addr) {
        str_addf(&targets, "previous %s %u\n", subject->previous_addr, subject->probe_port);
    }
    check_set_text(values, "connect_targets", str_text(&targets));
    check_set_number(values, "connect_port", subject->probe_port);
    check_set_number(values, "connect_master", is_master ? master_port(subject) : 0);
    check_set_number(values, "connect_awaited", subject->nnodes);
    return subject->nnodes > 1 && subject->master_addr && subject->probe_port != 0;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    struct finding *finding = NULL;
    if (!facts_text(facts, "connect.tool")) {
        finding = findings_add(out, "connect", FINDING_NOTE,
                               "it cannot be tested: there is no Python there, neither on the login's PATH "
                               "nor in the job's environment");
        finding_set_remedy(finding, "install python3, or try `nc -l` and `nc` by hand");
    } else if (!facts_is_set(facts, "connect.done") || !facts_is_set(facts, "connect.listens")) {
        finding = findings_add(out, "connect", FINDING_NOTE, "it could not be tested to the end");
        finding_set_remedy(finding, "check whether `python3 -c 'import socket'` works there");
    }
    /* compare() reports the rest */
}

/* "ok", or why not; NULL: it was not tried. */
static const char *result_of(const struct facts *facts, const char *what)
{
    AUTO_FREE char *key = xasprintf("connect.%s", what);
    return facts_text(facts, key);
}

static const char *explain(const char *result)
{
    if (strcmp(result, "refused") == 0) {
        return "the connection is refused: a firewall rejects it, or another host has that address";
    }
    if (strcmp(result, "timeout") == 0) {
        return "nothing answers: a firewall drops it, or there is no route";
    }
    if (strcmp(result, "name") == 0) {
        return "the name is not found";
    }
    return "no route leads there";
}

static void fail(const struct check_node *node, const char *to, unsigned port, const char *result,
                 struct findings *out)
{
    struct finding *finding =
        findings_fail(out, "connect", &kind_master_unreachable, "cannot connect to %s port %u", to, port);
    finding_set_evidence(finding, "%s", explain(result));
    finding_set_remedy(
        finding, "open that port between the nodes (NCCL and gloo use any high port besides), or choose the "
                 "network with --master-addr and ifname=");
    strlist_add(&finding->hosts, node->label);
}

/* The time (ms, this machine's clock) of a fact that a node reports in hundredths of a second since its
 * checks began. */
static int64_t time_of(const struct check_node *node, const char *key)
{
    int64_t ended_ms = (int64_t)facts_uint(node->facts, "head.now_ms", 0);
    return ended_ms - 10 * (int64_t)facts_uint(node->facts, "node.took", 0) +
           10 * (int64_t)facts_uint(node->facts, key, 0);
}

/* Did one node try while the other one listened? Nodes that were asked one after the other did not meet. */
static bool met(const struct check_node *one, const struct check_node *other)
{
    if (!facts_text(one->facts, "connect.until") || !facts_text(other->facts, "connect.until")) {
        return true;
    }
    int64_t from = time_of(one, "connect.from"), other_from = time_of(other, "connect.from");
    int64_t until = time_of(one, "connect.until"), other_until = time_of(other, "connect.until");
    return (until < other_until ? until : other_until) - (from > other_from ? from : other_from) >= MET_MS;
}

enum outcome { WELL, UNTRIED, FAILED };

/* Judge a result. A node that did not listen, or only at another time, could not be tried. */
static enum outcome judge_result(const struct check_node *nodes, size_t count, const struct check_node *node,
                                 const char *result, unsigned rank)
{
    if (!result || strcmp(result, "ok") == 0) {
        return WELL;
    }
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].subject->rank == rank && facts_is_set(nodes[i].facts, "connect.listens")) {
            return met(node, &nodes[i]) ? FAILED : UNTRIED;
        }
    }
    return WELL; /* the finding of that node reports it */
}

/* The check 'names' reports a name that is not found. */
static bool is_told_by_names(const struct check_node *node)
{
    return facts_is_set(node->facts, "names.ran") && !facts_text(node->facts, "names.address");
}

static enum outcome try_peer(const struct check_node *nodes, size_t count, const struct check_node *node,
                             const char *what, unsigned rank, struct findings *out)
{
    const struct check_subject *subject = node->subject;
    const char *result = result_of(node->facts, what);
    enum outcome outcome = judge_result(nodes, count, node, result, rank);
    bool to_master = strcmp(what, "master") == 0;
    if (outcome == FAILED && to_master && is_told_by_names(node)) {
        return FAILED;
    }
    if (outcome == FAILED) {
        const char *addr = to_master                   ? subject->master_addr
                           : strcmp(what, "next") == 0 ? subject->next_addr
                                                       : subject->previous_addr;
        fail(node, addr, to_master ? master_port(subject) : subject->probe_port, result, out);
    }
    return outcome;
}

/* Try all peers of a node. Returns the worst outcome. */
static enum outcome try_all(const struct check_node *nodes, size_t count, const struct check_node *node,
                            struct findings *out)
{
    unsigned rank = node->subject->rank, nnodes = node->subject->nnodes;
    const struct {
        const char *what;
        unsigned rank;
    } tries[] = {{"master", 0}, {"next", (rank + 1) % nnodes}, {"previous", (rank + nnodes - 1) % nnodes}};
    enum outcome worst = WELL;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        enum outcome outcome = try_peer(nodes, count, node, tries[i].what, tries[i].rank, out);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    struct findings rest = FINDINGS_INIT;
    AUTO_STRLIST struct strlist well = STRLIST_INIT, untried = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        if (!facts_is_set(nodes[i].facts, "connect.done")) {
            continue;
        }
        enum outcome outcome = try_all(nodes, count, &nodes[i], out);
        if (outcome != FAILED) {
            strlist_add(outcome == WELL ? &well : &untried, nodes[i].label);
        }
    }
    if (untried.len > 0) {
        struct finding *finding =
            findings_add(&rest, "connect", FINDING_NOTE,
                         "not all could be tested: the nodes did not answer at the same time");
        finding_set_remedy(finding, "check fewer nodes at once, or when they are less busy");
        strlist_copy(&finding->hosts, &untried);
    }
    if (well.len > 0) {
        struct finding *finding =
            findings_add(&rest, "connect", FINDING_OK, "reaches the master port and its neighbours");
        strlist_copy(&finding->hosts, &well);
    }
    findings_move(out, &rest, "connect");
    findings_release(&rest);
}

static const struct check_fact forms[] = {
    {"from", CHECK_NUMBER, TIME_MAX},
    {"until", CHECK_NUMBER, TIME_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_connect = {
    .id = "connect",
    .title = "connections between nodes",
    .why = "a firewall that drops the master port, or high ports, makes all processes wait in silence",
    .needs = "port", /* that check must not see the listener of this one */
    .when = CHECK_ON_REQUEST,
    .timeout_s = 60,
    .apart = true,
    .facts = forms,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
