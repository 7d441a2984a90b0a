/* Check: which network interface leads to the master. */
#include "check/check_internal.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    bool asked = subject->nnodes > 1 && subject->master_addr;
    check_set_text(values, "master_addr", asked ? subject->master_addr : NULL);
    check_set_flag(values, "is_master", subject->rank == 0);
    return asked;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *interface = facts_text(facts, "route.interface");
    if (interface && interface[0] != '\0') {
        findings_add(out, "route", FINDING_OK, "%s leads to %s", interface, subject->master_addr);
        return;
    }
    if (facts_is_set(facts, "names.ran") && !facts_text(facts, "names.address")) {
        return; /* the name is not found: the check 'names' reports it */
    }
    struct finding *finding = findings_add(out, "route", FINDING_NOTE,
                                           "no interface was found that leads to %s", subject->master_addr);
    finding_set_remedy(finding, "name the interface with ifname= in the host list");
}

const struct check check_route = {
    .id = "route",
    .title = "interface to the master",
    .why = "NCCL and gloo choose an interface by themselves, and often one that the other nodes cannot reach",
    .when = CHECK_ALWAYS,
    .timeout_s = 30,
    .apart = true,
    .ask = ask,
    .judge = judge,
};
