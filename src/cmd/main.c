/* Finds the command, parses its words, runs it, and turns the result into messages and an exit code. */
#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "report/output.h"

/*
 * Closed standard descriptors would be reused by the next file that is opened. Here they are opened for
 * reading, so that a write to them fails.
 */
static void hold_standard_fds(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

/*
 * Descriptors that the caller left open (a lock, a pipe) are not passed on to a job or a supervisor, which
 * outlive it. They are not closed, because a host file may be a /dev/fd/N.
 */
static void keep_inherited_fds_here(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        int fd = atoi(entry->d_name);
        if (fd > STDERR_FILENO) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
    closedir(folder);
}

static bool has_word(int argc, char *const *argv, const char *word)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* Print messages to stderr in any case, and the JSON object for the script that reads stdout. */
static int report_failed(struct cmd_call *call, struct error *err)
{
    int code = err->kind->exit_code;
    if (err->kind == &kind_output_closed) {
        return code;
    }
    if (!failures_has(&call->failures, err)) {
        failure_print(err, NULL, call->style.color_err);
    }
    if (call->options.json && !call->answered) {
        AUTO_STR struct str text = STR_INIT;
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        struct error ignored = ERROR_INIT; /* only the first failure counts */
        failures_hosts(&call->failures, &hosts);
        failure_json(err, &hosts, &text);
        output_print(&text, &ignored);
    }
    return code;
}

static int print_help(const struct command *command, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (command) {
        help_command(command, term_columns(STDOUT_FILENO), &text);
    } else {
        help_overview(term_columns(STDOUT_FILENO), &text);
    }
    return output_print(&text, err);
}

static int run_command(struct cmd_call *call, const struct command *command, int argc, char *const *argv,
                       struct error *err)
{
    if (cmd_parse(call, command, argc, argv, err) != 0) {
        return -1;
    }
    cmd_choose_style(call);
    if (!call->options.help) {
        return command->run(call, err);
    }
    if (call->options.json) {
        error_set(err, &kind_usage, "'--help' has no JSON form");
        return error_hint(err, "leave out --json");
    }
    return print_help(command, err);
}

static int dispatch(struct cmd_call *call, int argc, char *const *argv, struct error *err)
{
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        word = "help";
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        word = "version";
    } else if (word[0] == '-' && has_word(argc - 1, argv + 1, "--help")) {
        return print_help(NULL, err);
    } else if (word[0] == '-') {
        error_set(err, &kind_usage, "'%s' appears where a command is expected", word);
        return error_hint(err, "put options after the command, for example 'mtlaunch status --json'");
    }
    const struct command *command = command_find(word, err);
    return command ? run_command(call, command, argc - 2, argv + 2, err) : -1;
}

int main(int argc, char **argv)
{
    struct cmd_call call = {.argv = argv, .style = REPORT_STYLE_PLAIN};
    struct error err = ERROR_INIT;
    hold_standard_fds();
    keep_inherited_fds_here();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond `ulimit -f` then fails with EFBIG, which can be reported */
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        AUTO_STR struct str text = STR_INIT;
        help_overview(term_columns(STDERR_FILENO), &text);
        fwrite(str_text(&text), 1, text.len, stderr);
        return kind_usage.exit_code;
    }
    /* even an error in the words is reported as JSON */
    call.options.json = has_word(argc - 1, argv + 1, "--json");
    call.style.color_err = term_use_color(STDERR_FILENO, TERM_COLOR_AUTO, getenv("NO_COLOR"));
    int code = dispatch(&call, argc, argv, &err);
    if (code < 0) {
        code = report_failed(&call, &err);
    }
    cmd_call_release(&call);
    return code;
}
