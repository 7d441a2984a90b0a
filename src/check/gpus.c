/* Check: the GPUs can be counted, if their number decides how many processes start. */
#include "check/check_internal.h"
#include "model/kind.h"

#define GPUS_MAX 1024

static bool ask(const struct check_subject *subject, struct env *values)
{
    check_set_flag(values, "visible_set", subject->visible);
    check_set_text(values, "visible", subject->visible);
    return subject->counts_gpus;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *problem = facts_text(facts, "gpus.problem");
    if (!problem) {
        findings_add(out, "gpus", FINDING_OK, "%llu GPUs",
                     (unsigned long long)facts_uint(facts, "gpus.visible", 0));
        return;
    }
    if (!subject->needs_gpus) {
        findings_add(out, "gpus", FINDING_NOTE, "the GPUs cannot be counted: %s", problem);
        return;
    }
    struct finding *finding =
        findings_fail(out, "gpus", &kind_gpus_unknown, "the GPUs cannot be counted: %s", problem);
    finding_set_remedy(finding,
                       "make `nvidia-smi -L` work there, leave the host out with --exclude, or give the "
                       "number with --nproc-per-node or slots=");
}

static const struct check_fact forms[] = {
    {"visible", CHECK_NUMBER, GPUS_MAX},
    {"present", CHECK_NUMBER, GPUS_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_gpus = {
    .id = "gpus",
    .title = "GPUs",
    .why = "with nproc_per_node: auto, their number decides how many processes start",
    CHECK_AFTER_SETUP(CHECK_ALWAYS),
    .apart = true,
    .late = &kind_gpus_unknown,
    .facts = forms,
    .ask = ask,
    .judge = judge,
};
