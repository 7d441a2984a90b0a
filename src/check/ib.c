/* Check: InfiniBand and RoCE ports are active, alike, and used (require.ib). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return !subject->starting || subject->require->ib;
}

/* A port: "DEVICE:PORT|STATE|RATE|LAYER", as in /sys/class/infiniband: "mlx5_0:1|4: ACTIVE|400 Gb/sec (4X
 * NDR)|Ethernet". */
static bool is_active(const char *port)
{
    return strstr(port, "|4: ACTIVE|");
}

static size_t count_ports(const struct facts *facts, bool active)
{
    const char *port = NULL;
    size_t at = 0, count = 0;
    while ((port = facts_next(facts, "ib.port", &at))) {
        count += is_active(port) == active;
    }
    return count;
}

bool check_has_fast_ports(const struct facts *facts)
{
    return count_ports(facts, true) > 0;
}

static void judge_down(const struct facts *facts, struct findings *out)
{
    const char *port = NULL;
    size_t at = 0;
    while ((port = facts_next(facts, "ib.port", &at))) {
        if (!is_active(port)) {
            struct finding *finding = findings_add(out, "ib", FINDING_WARN, "port %.*s is not active",
                                                   (int)strcspn(port, "|"), port);
            finding_set_evidence(finding, "%s", port);
            finding_set_remedy(finding, "look at its cable and switch, or leave it out of NCCL_IB_HCA");
        }
    }
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    size_t active = count_ports(facts, true), down = count_ports(facts, false);
    const char *off = check_env(subject, "NCCL_IB_DISABLE");
    bool disabled = off && strcmp(off, "0") != 0;
    struct finding *finding = NULL;
    if (active == 0 && subject->require->ib) {
        finding = findings_fail(out, "ib", &kind_interface_missing, "%s",
                                down > 0 ? "no InfiniBand or RoCE port is active"
                                         : "there is no InfiniBand or RoCE port");
        finding_set_remedy(finding,
                           "look at `ibstat` and /sys/class/infiniband there, or remove 'ib' from 'require'");
    } else if (active > 0 && facts_is_set(facts, "ib.no_verbs")) {
        finding = findings_add(
            out, "ib", FINDING_WARN,
            "there are active ports, but no /dev/infiniband/uverbs*: NCCL falls back to sockets");
        finding_set_remedy(finding, "%s",
                           subject->container
                               ? "create the container with devices: [/dev/infiniband] (look for a mistyped "
                                 "path) and cap_add: [IPC_LOCK], or privileged: true"
                               : "load ib_uverbs, and look at the modes of /dev/infiniband");
    } else if (active > 0 && disabled) {
        finding = findings_add(out, "ib", FINDING_WARN, "NCCL_IB_DISABLE=%s leaves %zu active ports unused",
                               off, active);
        finding_set_remedy(finding, "remove it from 'env' unless sockets are meant");
    }
    if (down > 0 && active > 0) {
        judge_down(facts, out);
    } else if (!finding) {
        findings_add(out, "ib", FINDING_OK,
                     active > 0 ? "ports are active" : "there is none, and none is required");
    }
}

/* Number and rates of the active ports, in order: "2 ports (…, …)". The caller frees it. */
static char *describe(const struct facts *facts)
{
    AUTO_STRLIST struct strlist rates = STRLIST_INIT;
    const char *port = NULL;
    size_t at = 0;
    while ((port = facts_next(facts, "ib.port", &at))) {
        if (is_active(port)) {
            const char *rate = strstr(port, "|4: ACTIVE|") + strlen("|4: ACTIVE|");
            strlist_addf(&rates, "%.*s", (int)strcspn(rate, "|"), rate);
        }
    }
    AUTO_FREE char *joined = strlist_join(&rates, ", ");
    return xasprintf("%zu ports (%s)", rates.len, joined);
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    check_compare_described(nodes, count, "ib", describe, "its fast ports differ from the other nodes'",
                            "the slowest link sets the pace: look at its cable and switch", out);
}

const struct check check_ib = {
    .id = "ib",
    .title = "InfiniBand and RoCE",
    .why = "without them NCCL falls back to sockets, and more nodes make the job slower",
    .when = CHECK_BEFORE_START,
    .timeout_s = 20,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
