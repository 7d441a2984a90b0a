/* Check: the setup lines run and end with 0. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define SETUP_LINE_MAX 160 /* bytes of a setup line in a message */

char *check_quote_setup(const struct strlist *setup, uint64_t number)
{
    AUTO_STR struct str quoted = STR_INIT;
    if (!setup || number == 0 || number > setup->len) {
        return xstrdup("'?'");
    }
    const char *line = setup->items[number - 1];
    size_t len = strcspn(line, "\n");
    bool cut = line[len] != '\0' || len > SETUP_LINE_MAX;
    len = len > SETUP_LINE_MAX ? SETUP_LINE_MAX : len;
    while (len > 0 && ((unsigned char)line[len] & 0xC0) == 0x80) {
        len--; /* not in the middle of a character */
    }
    str_add_char(&quoted, '\'');
    text_add_safe(&quoted, line, len);
    str_add(&quoted, cut ? "…'" : "'");
    return str_detach(&quoted);
}

bool check_is_set_up(const struct facts *facts)
{
    return !facts_is_set(facts, "workdir.missing") && !facts_text(facts, "setup.failed") &&
           facts_text(facts, "setup.path");
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    check_set_number(values, "setup_timeout", subject->start_timeout_s != 0 ? subject->start_timeout_s : 60);
    return true;
}

/* The last output of the setup lines, after ": "; "" if there is none. The caller frees it. */
static char *shown_output(const struct facts *facts)
{
    AUTO_STR struct str output = STR_INIT;
    const char *printed = facts_text(facts, "setup.output");
    if (printed) {
        text_add_safe(&output, printed, strlen(printed));
    }
    while (output.len > 0 && output.data[output.len - 1] == '\n') {
        str_truncate(&output, output.len - 1);
    }
    return output.len > 0 ? xasprintf(": %s", str_text(&output)) : xstrdup("");
}

/* Report the setup line with this number: it failed, or did not end in time. */
static void judge_line(const struct check_subject *subject, const struct facts *facts, uint64_t number,
                       struct findings *out)
{
    const char *status = facts_text(facts, "setup.status");
    AUTO_FREE char *line = check_quote_setup(subject->setup, number);
    AUTO_FREE char *output = shown_output(facts);
    struct finding *finding = NULL;
    if (!status || status[0] == '\0' || strcmp(status, "-1") == 0) {
        finding = findings_fail(out, "setup", &kind_time_limit,
                                "setup line %llu (%s) did not end within start_timeout, %lu s%s",
                                (unsigned long long)number, line, subject->start_timeout_s, output);
        finding_set_remedy(finding, "raise start_timeout in the spec, or look at what that line waits for");
        return;
    }
    finding = findings_fail(out, "setup", &kind_setup_failed, "setup line %llu (%s) ended with status %s%s",
                            (unsigned long long)number, line, status, output);
    finding_set_remedy(finding, "every setup line must end with 0; try it there in a plain `sh` or `bash`");
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *status = facts_text(facts, "setup.status");
    const char *printed = facts_text(facts, "setup.output");
    struct finding *finding = NULL;
    if (check_is_set_up(facts)) {
        findings_add(out, "setup", FINDING_OK, "the setup lines run");
    } else if (!facts_text(facts, "setup.failed")) {
        return; /* there is no working folder */
    } else if (facts_uint(facts, "setup.failed", 0) > 0) {
        judge_line(subject, facts, facts_uint(facts, "setup.failed", 0), out);
    } else if (status && strcmp(status, "127") == 0) {
        finding =
            findings_fail(out, "setup", &kind_interpreter_missing, "%s",
                          printed && printed[0] != '\0' ? printed : "the shell for setup was not found");
        finding_set_remedy(finding, "name one that is there with 'shell'");
    } else {
        finding = findings_fail(out, "setup", &kind_workdir_missing, "the folder '%s' can't be entered",
                                check_shown(facts, "workdir.path"));
        finding_set_remedy(finding, "look at its mode and owner there, or name another with 'workdir'");
    }
}

static const struct check_fact forms[] = {
    {"failed", CHECK_NUMBER, 1000000},
    {"status", CHECK_STATUS, 0},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_setup = {
    .id = "setup",
    .title = "setup lines",
    .why = "they prepare the job's environment; one that fails ends the start",
    .needs = "workdir",
    .when = CHECK_BEFORE_START,
    .timeout_s = 20,
    .has_setup = true,
    .late = &kind_setup_failed,
    .facts = forms,
    .ask = ask,
    .judge = judge,
};
