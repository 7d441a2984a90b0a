/* Check: the interpreter of the job is found in PATH after the setup lines. */
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return subject->interpreter;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *found = facts_text(facts, "interpreter.found");
    if (!check_is_set_up(facts)) {
        return;
    }
    if (found && found[0] != '\0') {
        findings_add(out, "interpreter", FINDING_OK, "'%s' is %s", subject->interpreter, found);
        return;
    }
    struct finding *finding = findings_fail(out, "interpreter", &kind_interpreter_missing,
                                            "'%s' not found, or not executable (PATH=%s)",
                                            subject->interpreter, check_shown(facts, "setup.path"));
    finding_set_remedy(finding,
                       "activate its environment in 'setup', or name it by its whole path with 'python'");
}

const struct check check_interpreter = {
    .id = "interpreter",
    .title = "interpreter",
    .why = "the job's command begins with it",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .late = &kind_interpreter_missing,
    .ask = ask,
    .judge = judge,
};
