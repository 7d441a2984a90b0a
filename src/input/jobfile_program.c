/*
 * `program`: what is run. For launchers that run Python it is one script or module; a whole command line is
 * refused, and the hint shows the keys to use instead.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "input/words_internal.h"

int read_program(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct job *job = reader->job;
    reader->program = node;
    if (reader_list(reader, node, path, &job->program) < 0) {
        return node->type == YAML_MAP ? error_hint(reader->err, "specify what to run: 'program: train.py'")
                                      : -1;
    }
    job->program_is_list = node->type == YAML_LIST;
    if (job->program.len == 0 || job->program.items[0][0] == '\0') {
        reader_fail(reader, node, "'%s' is empty", path);
        return error_hint(reader->err, "specify what to run: 'program: train.py'");
    }
    for (size_t i = 0; i < job->program.len; i++) {
        const struct yaml_node *item = job->program_is_list ? node->items[i] : node;
        if (reader_check_word(reader, item, path, job->program.items[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Commands that run another program, as they appear in a shell line. */
static const struct {
    const char *name;
    const char *why;
} interpreters[] = {
    {"python", "the interpreter is named by 'python'"},
    {"pypy", "the interpreter is named by 'python'"},
    {"torchrun", "mtlaunch starts torchrun itself"},
    {"accelerate", "mtlaunch starts the processes itself"},
    {"deepspeed", "mtlaunch starts the processes itself"},
    {"mpirun", "mtlaunch starts the processes itself"},
    {"srun", "mtlaunch starts the processes itself"},
    {"bash", "a shell line needs 'launcher: script'"},
    {"dash", "a shell line needs 'launcher: script'"},
    {"zsh", "a shell line needs 'launcher: script'"},
    {"sh", "a shell line needs 'launcher: script'"},
    {"env", "variables belong in 'env'"},
    {"sudo", "a shell line needs 'launcher: script'"},
    {"nohup", "a shell line needs 'launcher: script'"},
    {"uv", "a shell line needs 'launcher: script'"},
    {"conda", "activate an environment in 'setup'"},
};

/* The index of the interpreter that word names (python, python3, python3.11, /usr/bin/python3), or -1. */
static int find_interpreter(const char *word)
{
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < ARRAY_LEN(interpreters); i++) {
        size_t len = strlen(interpreters[i].name);
        bool versioned = strncmp(interpreters[i].why, "the interpreter", 15) == 0;
        if (strncmp(name, interpreters[i].name, len) == 0 &&
            name[len + strspn(name + len, versioned ? "0123456789." : "")] == '\0') {
            return (int)i;
        }
    }
    return -1;
}

static bool is_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    AUTO_FREE char *name = equals ? xstrndup(word, (size_t)(equals - word)) : NULL;
    return name && env_name_valid(name);
}

/* "-m torch.distributed.run", with the "-m" at this place: what mtlaunch runs itself. */
static bool is_launcher_module(const struct strlist *words, size_t at)
{
    return at + 1 < words->len && strcmp(words->items[at], "-m") == 0 &&
           text_starts(words->items[at + 1], "torch.distributed.");
}

/* The index of the script, or of the "-m" before a module; words->len: there is none. */
static size_t find_script(const struct strlist *words)
{
    for (size_t i = 0; i < words->len; i++) {
        bool module = strcmp(words->items[i], "-m") == 0 && i + 1 < words->len;
        if (text_ends(words->items[i], ".py") || (module && !is_launcher_module(words, i))) {
            return i;
        }
    }
    for (size_t i = 0; i < words->len; i++) {
        bool option = words->items[i][0] == '-' || is_assignment(words->items[i]) ||
                      (i > 0 && is_launcher_module(words, i - 1));
        if (!option && find_interpreter(words->items[i]) < 0) {
            return i;
        }
    }
    return words->len;
}

/* What is wrong with the words of a program that has to be one script or module; NULL: nothing. */
static const char *find_fault(const struct strlist *words)
{
    const char *first = words->items[0];
    bool module = strcmp(first, "-m") == 0;
    if (module && words->len < 2) {
        return "names no module";
    }
    if (module ? words->len > 2 : first[0] == '-') {
        return module ? "contains arguments" : "begins with an option";
    }
    if (!module && find_interpreter(first) >= 0 && (words->len > 1 || first[0] != '.')) {
        return "begins with an interpreter";
    }
    if (words->len > 1 && is_assignment(first)) {
        return "begins with a variable";
    }
    for (size_t i = 1; i < words->len; i++) {
        if (!module && words->items[i][0] == '-' && words->items[i][1] != '\0') {
            return "contains options";
        }
    }
    return !module && words->len > 1 && text_ends(first, ".py") ? "contains arguments" : NULL;
}

/* Is there a blank or a line end around text? A block text ends with one, and no file's name does. */
static bool has_outer_blank(const char *text)
{
    static const char blanks[] = " \t\r\n";
    return strchr(blanks, text[0]) || strchr(blanks, text[strlen(text) - 1]);
}

/* Hint at the keys that have the same meaning as the words: 'program: train.py' and 'args: [--lr, 1e-4]'. */
static int hint_keys(struct job_reader *reader, const struct strlist *words)
{
    int interpreter = find_interpreter(words->items[0]);
    size_t at = find_script(words);
    AUTO_STR struct str hint = STR_INIT;
    if (yaml_has_secret(reader->program->doc, reader->program->text)) {
        return error_hint(reader->err, "name the script in 'program' and its arguments in 'args'");
    }
    if (at == words->len) {
        return error_hint(reader->err, "write 'program: train.py', or 'launcher: script' for a command line");
    }
    bool module = strcmp(words->items[at], "-m") == 0;
    size_t rest = at + (module ? 2 : 1);
    str_add(&hint, "write 'program: ");
    if (module) {
        str_addf(&hint, "-m %s", words->items[at + 1]);
    } else {
        words_add_scalar(words->items[at], &hint);
    }
    str_add_char(&hint, '\'');
    if (rest < words->len) {
        str_add(&hint, " and 'args: ");
        words_add_list(words->items + rest, words->len - rest, &hint);
        str_add_char(&hint, '\'');
    }
    if (interpreter >= 0) {
        str_addf(&hint, "; %s", interpreters[interpreter].why);
    } else if (is_assignment(words->items[0])) {
        str_add(&hint, "; variables belong in 'env'");
    }
    return error_hint(reader->err, "%s", str_text(&hint));
}

/* The program must be one word, a verb of the launcher. */
static int check_verb(struct job_reader *reader)
{
    const struct job *job = reader->job;
    const struct launcher *launcher = reader_launcher(reader);
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    words_split(job->program.items[0], &words);
    if (words.len == 1 && strcmp(words.items[0], job->program.items[0]) == 0) {
        return 0;
    }
    bool secret = yaml_has_secret(reader->program->doc, reader->program->text);
    reader_fail(reader, reader->program, "'program' is '%.100s'; for the launcher '%s' it is one verb",
                secret ? "***" : job->program.items[0], launcher->name);
    return error_hint(reader->err, "write 'program: %s' and put its options into 'args'",
                      launcher->example.program);
}

int check_program_words(struct job_reader *reader)
{
    const struct job *job = reader->job;
    if (reader_launcher(reader)->program == LAUNCHER_PROGRAM_VERB) {
        return check_verb(reader);
    }
    if (reader_launcher(reader)->program != LAUNCHER_PROGRAM_PYTHON || strcmp(job->python, "none") == 0) {
        return 0;
    }
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    words_split(job->program.items[0], &words);
    const char *fault = words.len > 0 ? find_fault(&words) : "is blank";
    if (!fault && has_outer_blank(job->program.items[0])) {
        fault = "has a blank or a line end around it";
    }
    if (!fault) {
        return 0;
    }
    bool secret = yaml_has_secret(reader->program->doc, reader->program->text);
    reader_fail(reader, reader->program,
                "'program' %s: '%.100s'; for the launcher '%s' it is one script or module", fault,
                secret ? "***" : job->program.items[0], job->launcher);
    if (words.len == 0) {
        return error_hint(reader->err, "specify what to run: 'program: train.py'");
    }
    return hint_keys(reader, &words);
}
