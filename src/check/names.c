/* Check: every node resolves the master's name to the same address, not its own loopback, and the names of
 * the others. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define OTHERS_MAX 128 /* names that are looked up */

static bool is_loopback(const char *address)
{
    return text_starts(address, "127.") || strcmp(address, "::1") == 0;
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    AUTO_STRLIST struct strlist others = STRLIST_INIT;
    for (size_t i = 0; subject->addresses && i < subject->addresses->len && others.len < OTHERS_MAX; i++) {
        const char *address = subject->addresses->items[i];
        if (!subject->master_addr || strcmp(address, subject->master_addr) != 0) {
            strlist_add(&others, address);
        }
    }
    check_set_list(values, "other_addrs", &others);
    check_set_text(values, "master_addr", subject->master_addr);
    return subject->nnodes > 1 && subject->master_addr && !is_loopback(subject->master_addr);
}

/* Names of the other nodes: most launchers do not need them, but c10d and deepspeed's own launcher do. */
static bool judge_others(const struct facts *facts, struct findings *out)
{
    AUTO_STRLIST struct strlist missing = STRLIST_INIT;
    const char *name = NULL;
    size_t at = 0;
    while ((name = facts_next(facts, "names.missing", &at))) {
        strlist_add(&missing, name);
    }
    if (missing.len == 0) {
        return true;
    }
    AUTO_FREE char *names = strlist_join(&missing, ", ");
    struct finding *finding =
        findings_add(out, "names", FINDING_NOTE,
                     "the names of other nodes are not found there, or are loopback addresses");
    finding_set_evidence(finding, "%s", names);
    finding_set_remedy(
        finding,
        "add them to /etc/hosts, or give addresses with addr= in the host list: rendezvous 'c10d' and some "
        "programs need them");
    return false;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *address = facts_text(facts, "names.address");
    const char *own = facts_text(facts, "names.own");
    struct finding *finding = NULL;
    if (!address) {
        finding = findings_fail(out, "names", &kind_master_unreachable,
                                "the name '%s' of node 0 is not found there", subject->master_addr);
        finding_set_remedy(
            finding, "add it to /etc/hosts there, or give an address: --master-addr, or addr= of the first "
                     "host in the host list");
        return;
    }
    if (is_loopback(address)) {
        finding = findings_fail(out, "names", &kind_master_unreachable,
                                "'%s' is %s there, its own loopback address", subject->master_addr, address);
        finding_set_remedy(
            finding, "correct /etc/hosts there, or give an address: --master-addr, or addr= of the first "
                     "host in the host list");
        return;
    }
    if (own && is_loopback(own)) {
        finding = findings_add(out, "names", FINDING_NOTE, "its own host name is a loopback address there");
        finding_set_evidence(finding, "%s", own);
        finding_set_remedy(finding,
                           "gloo and rendezvous 'c10d' may announce it: set master.interface, or correct "
                           "/etc/hosts");
        return;
    }
    if (judge_others(facts, out)) {
        findings_add(out, "names", FINDING_OK, "finds the master");
    }
}

/* A name may have several addresses; two lists without a common one belong to different machines. */
static bool shares_address(const struct facts *facts, const struct facts *others)
{
    const char *address = NULL;
    size_t at = 0;
    while ((address = facts_next(facts, "names.address", &at))) {
        const char *other = NULL;
        size_t other_at = 0;
        while ((other = facts_next(others, "names.address", &other_at))) {
            if (strcmp(address, other) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    const struct check_node *reference = NULL;
    for (size_t i = 0; i < count && !reference; i++) {
        const char *address = facts_text(nodes[i].facts, "names.address");
        reference = address && !is_loopback(address) ? &nodes[i] : NULL;
    }
    for (size_t i = 0; reference && i < count; i++) {
        const char *address = facts_text(nodes[i].facts, "names.address");
        if (!address || is_loopback(address) || shares_address(nodes[i].facts, reference->facts)) {
            continue;
        }
        struct finding *finding = findings_fail(out, "names", &kind_nodes_differ,
                                                "'%s' is a different address there than on the other nodes",
                                                nodes[i].subject->master_addr);
        finding_set_evidence(finding, "%s there, %s on %s", address,
                             facts_text(reference->facts, "names.address"), reference->label);
        finding_set_remedy(finding,
                           "make /etc/hosts the same everywhere, or give an address with --master-addr");
        strlist_add(&finding->hosts, nodes[i].label);
    }
}

const struct check check_names = {
    .id = "names",
    .title = "names of the nodes",
    .why = "a node on which a name is not found, or is a loopback address, waits until it gives up",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .apart = true,
    .late = &kind_master_unreachable,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
