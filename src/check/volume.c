/* Check: in a container, the artifacts folder lies on a volume. */
#include "check/check_internal.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return subject->container;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *unmounted = facts_text(facts, "volume.unmounted");
    if (unmounted) {
        findings_add(out, "volume", FINDING_WARN,
                     "artifacts '%s' lie on %s of container '%s': logs and whatever is written there end "
                     "with it (name "
                     "a folder of a volume with 'artifacts')",
                     check_shown(facts, "node.artifacts"), unmounted, subject->container);
    } else if (facts_is_set(facts, "artifacts.writable")) {
        findings_add(out, "volume", FINDING_OK, "artifacts lie on a volume");
    }
}

const struct check check_volume = {
    .id = "volume",
    .title = "artifacts on a volume",
    .why = "what is written inside a container is lost when the container is removed",
    .needs = "artifacts",
    .when = CHECK_ALWAYS,
    .timeout_s = 30,
    .ask = ask,
    .judge = judge,
};
