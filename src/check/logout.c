/* Check: systemd-logind lets processes survive the login that started them (logind.conf(5)). */
#include "check/check_internal.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return !subject->container && !subject->local;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    if (facts_is_set(facts, "logout.kills")) {
        findings_add(
            out, "logout", FINDING_WARN,
            "systemd-logind ends a user's processes at the last logout (KillUserProcesses=yes); `loginctl "
            "enable-linger` there lets the run live");
    } else {
        findings_add(out, "logout", FINDING_OK, "processes survive a logout");
    }
}

const struct check check_logout = {
    .id = "logout",
    .title = "processes after a logout",
    .why = "with KillUserProcesses=yes and no linger the job ends with the connection that started it",
    .when = CHECK_ALWAYS,
    .timeout_s = 30,
    .ask = ask,
    .judge = judge,
};
