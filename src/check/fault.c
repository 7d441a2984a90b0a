/* Check: the files that the job's command executes can be executed. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define LINE_STOPS ";&|<>()`\n\"'$\\*?[]{}~#="

/* Files of a node's command to look at. Owned; NULL: none. */
struct look {
    char *exec;  /* a file, or a name in PATH, that is executed */
    char *shell; /* a file that a shell reads */
    char *read;  /* a file that another program reads */
};

static bool is_shell(const char *word)
{
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh"};
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        if (strcmp(name, shells[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Words that are executed as they are: the first, or the script that a shell is given. */
static void look_at_words(char *const *words, size_t len, struct look *out)
{
    if (len > 1 && is_shell(words[0])) {
        /* an argument is not expanded: "~/x" is a file in a folder named "~" */
        out->shell = words[1][0] == '-' ? NULL : xasprintf("%s%s", words[1][0] == '~' ? "./" : "", words[1]);
    } else if (len > 0 && !is_shell(words[0])) {
        out->exec = xstrdup(words[0]);
    }
}

/* A line for /bin/sh that is one plain command beginning with a path or a shell; nothing is known about any
 * other line. */
static void look_at_line(const char *line, struct look *out)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    size_t len = strlen(line);
    while (len > 0 && strchr(" \t\r\n", line[len - 1])) {
        len--;
    }
    AUTO_FREE char *plain = xstrndup(line, len);
    if (strpbrk(plain, ";&|<>()`\n")) {
        return;
    }
    char *rest = NULL;
    for (char *word = strtok_r(plain, " \t", &rest); word && words.len < 2;
         word = strtok_r(NULL, " \t", &rest)) {
        strlist_add(&words, word);
    }
    size_t exact = 0; /* words that the shell leaves as they are */
    while (exact < words.len && !strpbrk(words.items[exact], LINE_STOPS)) {
        exact++;
    }
    if (exact > 0 && (strchr(words.items[0], '/') || is_shell(words.items[0]))) {
        look_at_words(words.items, exact, out);
    }
}

static void find_look(const struct check_subject *subject, struct look *out)
{
    const struct strlist *argv = subject->argv;
    switch (subject->program_type) {
    case CHECK_PROGRAM_COMMAND:
        if (subject->interpreter) { /* torchrun and no_python */
            out->exec = xstrdup(subject->program);
        } else {
            look_at_words(argv->items, argv->len, out);
        }
        break;
    case CHECK_PROGRAM_FILE:
        out->exec = xstrdup(subject->interpreter);
        out->read = xstrdup(subject->program);
        break;
    case CHECK_PROGRAM_MODULE:
        out->exec = xstrdup(subject->interpreter);
        break;
    case CHECK_PROGRAM_NONE:
        if (argv && argv->len >= 3 && strcmp(argv->items[1], "-c") == 0) {
            look_at_line(argv->items[2], out);
        }
        break;
    }
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    struct look look = {0};
    find_look(subject, &look);
    bool any = look.exec || look.shell || look.read;
    check_set_text(values, "look_exec", look.exec);
    check_set_text(values, "look_shell", look.shell);
    check_set_text(values, "look_read", look.read);
    free(look.exec);
    free(look.shell);
    free(look.read);
    return any;
}

static const char *shown_folder(const struct facts *facts)
{
    const char *folder = facts_text(facts, "workdir.path");
    return folder && folder[0] != '\0' ? folder : "the login folder";
}

/* Add the finding for a fault that the kernel or the shell reports misleadingly. NULL: another fault. */
static struct finding *add_fault(const char *fault, const struct facts *facts, struct findings *out)
{
    const char *file = check_shown(facts, "fault.file");
    struct finding *finding = NULL;
    if (strcmp(fault, "crlf") == 0) {
        finding = findings_fail(out, "fault", &kind_program_missing, "'%s' has Windows line ends", file);
        finding_set_remedy(finding, "convert it there: sed -i 's/\\r$//' %s", file);
    } else if (strcmp(fault, "mode") == 0) {
        finding =
            findings_fail(out, "fault", &kind_program_missing, "'%s' is there but not executable", file);
        finding_set_remedy(finding, "chmod +x %s, or program: [bash, %s]", file, file);
    } else if (strcmp(fault, "forbidden") == 0) {
        finding =
            findings_fail(out, "fault", &kind_program_missing,
                          "'%s' exists but may not be executed by this user, or on this file system", file);
        finding_set_remedy(
            finding, "look at its owner and mode and for noexec in `mount`, or program: [bash, %s]", file);
    } else if (strcmp(fault, "folder") == 0) {
        finding = findings_fail(out, "fault", &kind_program_missing, "'%s' is a folder (in %s)", file,
                                shown_folder(facts));
        finding_set_remedy(finding, "name the file in it to run");
    } else if (strcmp(fault, "here") == 0) {
        finding =
            findings_fail(out, "fault", &kind_program_missing,
                          "'%s' is not in PATH; a file of that name is in %s", file, shown_folder(facts));
        finding_set_remedy(finding, "name it ./%s", file);
    }
    return finding;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    const char *fault = facts_text(facts, "fault.kind");
    if (!check_is_set_up(facts)) {
        return;
    }
    if (!fault) {
        findings_add(out, "fault", FINDING_OK, "no fault was found in the files that are executed");
    } else if (!add_fault(fault, facts, out)) {
        const char *file = check_shown(facts, "fault.file");
        struct finding *finding =
            findings_fail(out, "fault", &kind_program_missing,
                          "'%s' needs '%s', which is not there (its first line names it)", file,
                          check_shown(facts, "fault.detail"));
        finding_set_remedy(
            finding, "correct the first line of %s, or put the interpreter before it: program: [bash, %s]",
            file, file);
    }
}

const struct check check_fault = {
    .id = "fault",
    .title = "executable files",
    .why =
        "a wrong mode, Windows line ends or a missing interpreter are reported as 'not found' by the kernel",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .late = &kind_program_missing,
    .ask = ask,
    .judge = judge,
};
