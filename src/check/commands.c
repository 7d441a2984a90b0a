/* Check: the commands that the spec requires (require.commands) are found after the setup lines. */
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    check_set_list(values, "commands", &subject->require->commands);
    return subject->require->commands.len > 0;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *name = NULL;
    size_t at = 0, missing = 0;
    (void)subject;
    if (!check_is_set_up(facts)) {
        return;
    }
    while ((name = facts_next(facts, "commands.missing", &at))) {
        struct finding *finding =
            findings_fail(out, "commands", &kind_program_missing, "'%s' not found (PATH=%s)", name,
                          check_shown(facts, "setup.path"));
        finding_set_remedy(finding, "install it there, or put its folder into PATH in 'setup'");
        missing++;
    }
    if (missing == 0) {
        findings_add(out, "commands", FINDING_OK, "all found");
    }
}

const struct check check_commands = {
    .id = "commands",
    .title = "required commands",
    .why = "the job calls the commands that require.commands names",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .late = &kind_program_missing,
    .ask = ask,
    .judge = judge,
};
