/* Check: the interpreter finds the module that the launcher needs (it is not imported). */
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return subject->interpreter && subject->module;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *interpreter = facts_text(facts, "interpreter.found");
    if (!check_is_set_up(facts) || (interpreter && interpreter[0] == '\0')) {
        return;
    }
    if (!facts_is_set(facts, "module.missing")) {
        findings_add(out, "module", FINDING_OK, "'%s' is there", subject->module);
        return;
    }
    struct finding *finding = findings_fail(
        out, "module", &kind_interpreter_missing, "'%s' has no module '%s' (PATH=%s)",
        interpreter ? interpreter : subject->interpreter, subject->module, check_shown(facts, "setup.path"));
    finding_set_remedy(finding,
                       "activate the right environment in 'setup', or name its python with 'python'");
}

const struct check check_module = {
    .id = "module",
    .title = "launcher's module",
    .why = "torchrun is a module of torch: without it no process starts",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .late = &kind_interpreter_missing,
    .ask = ask,
    .judge = judge,
};
