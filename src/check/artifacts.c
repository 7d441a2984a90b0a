/* Check: the artifacts folder exists or can be created, and files can be written in it. */
#include "check/check_internal.h"
#include "model/kind.h"

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    const char *problem = facts_text(facts, "artifacts.problem");
    if (facts_is_set(facts, "artifacts.writable")) {
        findings_add(out, "artifacts", FINDING_OK, "files can be written in '%s'",
                     check_shown(facts, "node.artifacts"));
        return;
    }
    struct finding *finding = findings_fail(
        out, "artifacts", &kind_artifacts_unwritable, "the artifacts folder '%s' is not writable: %s",
        check_shown(facts, "node.artifacts"), problem ? problem : "unknown reason");
    finding_set_remedy(finding, "create it, or name another with 'artifacts' in the spec or --artifacts");
}

const struct check check_artifacts = {
    .id = "artifacts",
    .title = "artifacts folder",
    .why = "logs and the record of the run's processes are written there",
    .when = CHECK_ALWAYS,
    .timeout_s = 30,
    .late = &kind_artifacts_unwritable,
    .ask = check_ask_nothing,
    .judge = judge,
};
