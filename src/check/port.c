/* Check: the master port is free on node 0, or (auto) finds a free one. */
#include "check/check_internal.h"
#include "model/kind.h"

#define AUTO_PORT_MIN 29500u
#define AUTO_PORT_MAX 29999u

static bool ask(const struct check_subject *subject, struct env *values)
{
    check_set_number(values, "master_port", subject->master_port);
    return subject->rank == 0;
}

static void judge_taken(const struct facts *facts, unsigned wanted, struct findings *out)
{
    uint64_t pid = facts_uint(facts, "port.pid", 0);
    struct finding *finding =
        pid == 0
            ? findings_fail(out, "port", &kind_port_taken, "master port %u is taken there", wanted)
            : findings_fail(out, "port", &kind_port_taken, "master port %u is taken there by pid %llu (%s)",
                            wanted, (unsigned long long)pid, check_shown(facts, "port.command"));
    finding_set_remedy(finding, "use another with --master-port, or leave it out to have a free one chosen");
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    unsigned wanted = subject->master_port;
    unsigned port = (unsigned)facts_uint(facts, "port.number", 0);
    unsigned min = wanted == 0 ? AUTO_PORT_MIN : wanted;
    unsigned max = wanted == 0 ? AUTO_PORT_MAX : wanted;
    if (wanted != 0 && facts_is_set(facts, "port.taken")) {
        judge_taken(facts, wanted, out);
    } else if (port != 0 && (port < min || port > max)) {
        findings_fail(out, "port", &kind_node_answer, "the node chose master port %u, expected %u to %u",
                      port, min, max);
    } else if (wanted == 0 && port == 0) {
        struct finding *finding =
            findings_fail(out, "port", &kind_port_taken, "no port from 29500 to 29999 is free there");
        finding_set_remedy(finding, "name a free one with --master-port");
    } else {
        findings_add(out, "port", FINDING_OK, "master port %u is free", port != 0 ? port : wanted);
    }
}

static const struct check_fact forms[] = {
    {"number", CHECK_NUMBER, FACT_PORT_MAX},
    {"pid", CHECK_NUMBER, FACT_PID_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_port = {
    .id = "port",
    .title = "master port",
    .why = "the job's processes meet at it; if it is taken, the job ends immediately",
    .needs = "setup", /* late, so that nothing takes the port before the job does */
    .when = CHECK_ALWAYS,
    .timeout_s = 30,
    .late = &kind_port_taken,
    .facts = forms,
    .ask = ask,
    .judge = judge,
};
