/* Check: the job's working folder exists. */
#include "check/check_internal.h"
#include "model/kind.h"

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    if (!facts_is_set(facts, "workdir.missing")) {
        findings_add(out, "workdir", FINDING_OK, "'%s' is there", check_shown(facts, "workdir.path"));
        return;
    }
    struct finding *finding = findings_fail(out, "workdir", &kind_workdir_missing, "%s: no such directory",
                                            subject->workdir ? subject->workdir : "the login folder");
    finding_set_remedy(finding, "create it there, or give this host its own with workdir= in the host list");
}

const struct check check_workdir = {
    .id = "workdir",
    .title = "working folder",
    .why = "the job starts in it",
    .needs = "earlier", /* setup runs next, and what it starts has the mark that 'earlier' looks for */
    .when = CHECK_BEFORE_START,
    .timeout_s = 30,
    .apart = true,
    .late = &kind_workdir_missing,
    .ask = check_ask_nothing,
    .judge = judge,
};
