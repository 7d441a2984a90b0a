/* Check: the program of the job exists. */
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    bool is_file = subject->program_type == CHECK_PROGRAM_FILE;
    bool is_command = subject->program_type == CHECK_PROGRAM_COMMAND;
    check_set_text(values, "program", is_file ? subject->program : NULL);
    check_set_text(values, "wanted", is_command ? subject->program : NULL);
    return is_file || is_command;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *program = subject->program;
    struct finding *finding = NULL;
    if (!check_is_set_up(facts)) {
        return;
    }
    if (!facts_is_set(facts, "program.missing")) {
        findings_add(out, "program", FINDING_OK, "'%s' is there", program);
    } else if (subject->program_type == CHECK_PROGRAM_COMMAND) {
        finding = findings_fail(out, "program", &kind_program_missing,
                                "'%s' not found, or not executable (PATH=%s)", program,
                                check_shown(facts, "setup.path"));
        finding_set_remedy(finding, "activate its environment in 'setup', or name it by its whole path");
    } else if (text_starts(program, "~/")) {
        finding = findings_fail(out, "program", &kind_program_missing,
                                "%s: no such file (the home folder there is '%s')", program,
                                check_shown(facts, "node.home"));
        finding_set_remedy(finding, "put it there, or name it by its whole path");
    } else {
        const char *folder = facts_text(facts, "workdir.path");
        finding = findings_fail(out, "program", &kind_program_missing, "%s: no such file (in %s)", program,
                                folder && folder[0] != '\0' ? folder : "the login folder");
        finding_set_remedy(finding, "put it there, or set 'workdir' to the folder that holds it");
    }
}

const struct check check_program = {
    .id = "program",
    .title = "program",
    .why = "the job runs it; a missing one is found by every process at once, after the start",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .late = &kind_program_missing,
    .ask = ask,
    .judge = judge,
};
