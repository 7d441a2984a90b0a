/* Check: nodes can connect to the master port, and to their neighbours on a high port. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define DEFAULT_PORT 29500u

static unsigned master_port(const struct check_subject *subject)
{
    return subject->master_port != 0 ? subject->master_port : DEFAULT_PORT;
}

/* Node 0 listens at the master port, everybody at the other one; targets: "WHAT ADDRESS PORT", a line each.
 */
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
        finding = findings_add(
            out, "connect", FINDING_NOTE,
            "it cannot be tried: there is no Python there, neither on the login's PATH nor of the job");
        finding_set_remedy(finding, "install python3, or try `nc -l` and `nc` by hand");
    } else if (!facts_is_set(facts, "connect.done") || !facts_is_set(facts, "connect.listens")) {
        finding = findings_add(out, "connect", FINDING_NOTE, "it could not be tried to the end");
        finding_set_remedy(finding, "look whether `python3 -c 'import socket'` works there");
    }
    /* compare says the rest */
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
        return "nothing answers: a firewall drops it, or there is no way";
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

/* A node that listened can be tried; of one that could not, nothing is known. */
static bool listened(const struct check_node *nodes, size_t count, unsigned rank)
{
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].subject->rank == rank) {
            return facts_is_set(nodes[i].facts, "connect.listens");
        }
    }
    return false;
}

static bool try_peer(const struct check_node *nodes, size_t count, const struct check_node *node,
                     const char *what, unsigned rank, const char *addr, struct findings *out)
{
    const char *result = result_of(node->facts, what);
    if (!result || strcmp(result, "ok") == 0 || !listened(nodes, count, rank)) {
        return true;
    }
    fail(node, addr, node->subject->probe_port, result, out);
    return false;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    struct findings well = FINDINGS_INIT;
    struct finding *finding =
        findings_add(&well, "connect", FINDING_OK, "reaches the master port and its neighbours");
    for (size_t i = 0; i < count; i++) {
        const struct check_subject *subject = nodes[i].subject;
        const char *master = result_of(nodes[i].facts, "master");
        bool fine = true;
        if (!facts_is_set(nodes[i].facts, "connect.done")) {
            continue;
        }
        if (master && strcmp(master, "ok") != 0 && listened(nodes, count, 0)) {
            fail(&nodes[i], subject->master_addr, master_port(subject), master, out);
            fine = false;
        }
        fine = try_peer(nodes, count, &nodes[i], "next", (subject->rank + 1) % subject->nnodes,
                        subject->next_addr, out) &&
               fine;
        fine =
            try_peer(nodes, count, &nodes[i], "previous",
                     (subject->rank + subject->nnodes - 1) % subject->nnodes, subject->previous_addr, out) &&
            fine;
        if (fine) {
            strlist_add(&finding->hosts, nodes[i].label);
        }
    }
    if (finding->hosts.len > 0) {
        findings_move(out, &well, "connect");
    }
    findings_release(&well);
}

const struct check check_connect = {
    .id = "connect",
    .title = "connections between nodes",
    .why = "a firewall that drops the master port, or high ports, makes all processes wait in silence",
    .needs = "port", /* that one must find the port as it was */
    .when = CHECK_ON_REQUEST,
    .timeout_s = 30,
    .apart = true,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
