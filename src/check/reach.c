/* Check: the host answers in time, and its login prints nothing. */
#include "check/check_internal.h"
#include "model/kind.h"

#define SLOW_S 8

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    const char *noise = facts_text(facts, "head.noise");
    uint64_t seconds = facts_uint(facts, "head.seconds", 0);
    struct finding *finding = NULL;
    if (noise) {
        finding = findings_add(out, "reach", FINDING_NOTE,
                               "the login prints something before a command: '%s'", noise);
        finding_set_remedy(finding, "let its start-up files print only for terminals: [ -t 1 ] && echo …");
    }
    if (seconds >= SLOW_S) {
        finding = findings_add(out, "reach", FINDING_NOTE, "the answer took %llu s or more",
                               (unsigned long long)(seconds - seconds % SLOW_S));
        finding_set_remedy(
            finding, "look at the login's start-up files, at name look-ups (UseDNS) and at slow mounts");
    }
    if (!finding) {
        findings_add(out, "reach", FINDING_OK, "answers");
    }
}

const struct check check_reach = {
    .id = "reach",
    .title = "connection to the host",
    .why = "a host that cannot be reached, or whose login is slow or prints text, cannot be used",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 30,
    .ask = check_ask_nothing,
    .judge = judge,
};
