/* The command `init`: writes a first job file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/msg.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/spec_internal.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "report/answer.h"
#include "report/output.h"

#define NAME_DEFAULT "train"

/* The file to write. */
struct init {
    char *path, *folder;
    char *job; /* as `start` finds it: the name, or the path if the file is elsewhere */
    struct spec_answers answers;
    char *launcher, *hosts, *hostfile, *program; /* owned: what answers borrows */
};

static void release(struct init *init)
{
    free(init->path);
    free(init->folder);
    free(init->job);
    free(init->launcher);
    free(init->hosts);
    free(init->hostfile);
    free(init->program);
}

static bool is_path(const char *name)
{
    return text_ends(name, ".yaml") || text_ends(name, ".yml");
}

static void set_path(struct init *init, const char *name)
{
    init->path = is_path(name) ? xstrdup(name) : xasprintf("%s.yaml", name);
    init->folder = path_folder(init->path);
    init->job = xstrdup(name);
}

static int check_name(const char *name, struct error *err)
{
    if (is_path(name) || job_check_run_name(name, NULL) == 0) {
        return 0;
    }
    if (strchr(name, '/')) {
        error_set(err, &kind_usage, "'%s' is neither a name nor a path that ends in .yaml", name);
        return error_hint(err, "use '%s.yaml'", name);
    }
    error_set(err, &kind_usage, "'%s' is not a valid job name", name);
    return error_hint(err, "use letters, digits, '.', '_' and '-', the first a letter or digit");
}

/* --- questions ------------------------------------------------------------------------------------ */

/* Ask the user. Returns "" for an empty line; NULL at the end of input. The caller frees. */
static char *ask(const char *question, const char *otherwise)
{
    char *line = NULL;
    size_t size = 0;
    msg_make_room();
    fprintf(stderr, "%s [%s]: ", question, otherwise);
    fflush(stderr);
    ssize_t len = getline(&line, &size, stdin);
    if (len < 0) {
        free(line);
        return NULL;
    }
    while (len > 0 && strchr(" \t\r\n", line[len - 1])) {
        line[--len] = '\0';
    }
    char *answer = xstrdup(line + strspn(line, " \t"));
    free(line);
    return answer;
}

static int ask_into(char **place, const char *question, const char *otherwise, struct error *err)
{
    char *answer = ask(question, otherwise);
    if (!answer) {
        return error_set(err, &kind_interrupted, "no answer: nothing was written");
    }
    if (*answer) {
        *place = answer;
    } else {
        free(answer);
    }
    return 0;
}

static void list_launchers(struct strlist *names)
{
    for (size_t i = 0; launchers_all[i]; i++) {
        strlist_add(names, launchers_all[i]->name);
    }
}

static int ask_launcher(struct init *init, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    list_launchers(&names);
    AUTO_FREE char *all = strlist_join(&names, ", ");
    AUTO_FREE char *question = xasprintf("launcher (%s)", all);
    for (;;) {
        struct error why = ERROR_INIT;
        if (ask_into(&init->launcher, question, names.items[0], err) != 0) {
            return -1;
        }
        if (!init->launcher || launcher_find(init->launcher, &why)) {
            return 0;
        }
        msg_info("%s", why.text);
        free(init->launcher);
        init->launcher = NULL;
    }
}

static int ask_hosts(struct init *init, struct error *err)
{
    AUTO_FREE char *answer = NULL;
    if (ask_into(&answer, "hosts, such as g[0033-0036], or the name of a host file", "given later", err) !=
        0) {
        return -1;
    }
    if (answer && file_exists(answer)) {
        init->hostfile = xstrdup(answer);
    } else if (answer) {
        init->hosts = xstrdup(answer);
    }
    return 0;
}

static int ask_all(struct init *init, const struct cmd_options *options, struct error *err)
{
    if (!options->launcher && ask_launcher(init, err) != 0) {
        return -1;
    }
    if (!options->hosts && !options->hostfile && ask_hosts(init, err) != 0) {
        return -1;
    }
    const char *example = spec_example_program(init->launcher ? init->launcher : launchers_all[0]->name);
    return options->program ? 0 : ask_into(&init->program, "program", example, err);
}

/* --- answers -------------------------------------------------------------------------------------- */

static char *copy_or(char *old, const char *given)
{
    return given ? xstrdup(given) : old;
}

/*
 * A relative path in a spec is relative to the spec's folder, but was typed relative to the current one.
 * Takes ownership of path.
 */
static char *path_for_spec(char *path, const char *folder)
{
    if (!path || path[0] == '/' || path[0] == '~' || strcmp(folder, ".") == 0) {
        return path;
    }
    AUTO_FREE char *here = getcwd(NULL, 0);
    char *absolute = path_join(here ? here : ".", path);
    free(path);
    return absolute;
}

static int check_utf8(const char *option, const char *text, struct error *err)
{
    AUTO_STR struct str clean = STR_INIT;
    text_add_utf8(&clean, text ? text : "", text ? strlen(text) : 0);
    if (!text || strcmp(str_text(&clean), text) == 0) {
        return 0;
    }
    return error_set(err, &kind_usage, "the value of %s is not valid UTF-8", option);
}

static int check_hosts(const char *hosts, struct error *err)
{
    struct hostlist list = HOSTLIST_INIT;
    if (!hosts) {
        return 0;
    }
    int result = hostlist_parse(&list, hosts, strlen(hosts), HOSTLIST_COMMAS, "--hosts", 0, NULL, err);
    hostlist_release(&list);
    return result;
}

static int take_answers(struct init *init, const struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;
    if (options->hosts && options->hostfile) {
        return error_set(err, &kind_usage, "--hosts and --hostfile cannot be used together");
    }
    if (options->launcher && !launcher_find(options->launcher, err)) {
        return -1;
    }
    bool asks = term_is_tty(STDIN_FILENO) && term_is_tty(STDERR_FILENO) && !options->json && !options->quiet;
    if (asks && ask_all(init, options, err) != 0) {
        return -1;
    }
    init->launcher = copy_or(init->launcher, options->launcher);
    init->hosts = copy_or(init->hosts, options->hosts);
    init->program = copy_or(init->program, options->program);
    init->hostfile = path_for_spec(copy_or(init->hostfile, options->hostfile), init->folder);
    if (check_hosts(init->hosts, err) != 0 || check_utf8("--hosts", init->hosts, err) != 0 ||
        check_utf8("--hostfile", init->hostfile, err) != 0 ||
        check_utf8("--program", init->program, err) != 0) {
        return -1;
    }
    init->answers = (struct spec_answers){
        .job = init->job,
        .launcher = init->launcher ? init->launcher : launchers_all[0]->name,
        .hosts = init->hosts,
        .hostfile = init->hostfile,
        .program = init->program,
    };
    return 0;
}

/* --- writing -------------------------------------------------------------------------------------- */

/* Parse the text as `start` would, so that an error in an answer is found before anything is written. */
static int check_text(const struct init *init, const struct str *text, struct error *err)
{
    static const char *const no_variables[] = {NULL};
    const struct job_request request = {.home = getenv("HOME"), .environ_ = no_variables};
    struct job job;
    if (jobfile_parse_text(&job, init->path, str_text(text), text->len, &request, NULL, NULL, err) != 0) {
        err->kind = &kind_usage;
        return -1;
    }
    job_release(&job);
    return 0;
}

static int write_text(const struct init *init, const struct str *text, bool force, struct error *err)
{
    if (force) {
        return file_write_atomic(init->path, text->data, text->len, 0644, err);
    }
    AUTO_CLOSE int fd = open(init->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
        error_set(err, &kind_usage, "'%s' already exists", init->path);
        return error_hint(err, "give another name, or --force to overwrite it");
    }
    if (fd < 0) {
        return error_set_errno(err, &kind_local, errno, "'%s' cannot be written", init->path);
    }
    if (output_write(fd, text->data, text->len, err) == 0) {
        return 0;
    }
    unlink(init->path);
    return -1;
}

static int answer(const struct init *init, const struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (call->style.json) {
        report_init_json(init->path, &text);
    } else {
        str_addf(&text, "%s\n", init->path);
    }
    msg_info("edit the file, then look at the plan: mtlaunch start %s RUN --dry-run", init->job);
    return output_print(&text, err);
}

static int run_init(struct cmd_call *call, struct error *err)
{
    struct init init = {0};
    AUTO_STR struct str text = STR_INIT;
    const char *name = call->operands.len ? call->operands.items[0] : NAME_DEFAULT;
    set_path(&init, name);
    int result = check_name(name, err);
    if (result == 0) {
        result = take_answers(&init, call, err);
    }
    if (result == 0) {
        spec_render(&init.answers, &text);
        result = check_text(&init, &text, err);
    }
    if (result == 0) {
        result = write_text(&init, &text, call->options.force, err);
    }
    if (result == 0) {
        result = answer(&init, call, err);
    }
    release(&init);
    return result;
}

static const char *const usage[] = {
    "init [NAME] [--launcher L] [--hosts LIST|--hostfile FILE] [--program P] [--force]",
    NULL,
};
static const struct option own_options[] = {
    {.name = "launcher",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, launcher),
     .value = "L",
     .help = "how the program is started (torchrun)"},
    {.name = "hosts",
     .letter = 'H',
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, hosts),
     .value = "LIST",
     .help = "the hosts, such as 'g[0033-0036]'"},
    {.name = "hostfile",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, hostfile),
     .value = "FILE",
     .help = "the file that lists the hosts"},
    {.name = "program",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, program),
     .value = "P",
     .help = "the program: a script, a module as '-m pkg.train', or for the launcher script a shell command"},
    {.name = "force",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, force),
     .help = "overwrite an existing file"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] = "Writes NAME.yaml (default: train.yaml) to the current folder. A NAME that ends\n"
                            "in .yaml is a path. On a terminal, init asks for what the options do not give.\n"
                            "Elsewhere it writes examples.\n";
const struct command command_init = {
    .name = "init",
    .summary = "write a first job file, with comments",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .max_operands = 1,
    .run = run_init,
};
