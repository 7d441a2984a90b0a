/* The command `exec`: runs a command on many hosts. */
#include "run/exec.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "cmd/commands_internal.h"
#include "cmd/setup_internal.h"
#include "report/exec.h"

static int check_words(const struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;

    if (call->rest.len == 0) {
        error_set(err, &kind_usage, "'exec' needs a command to run on the hosts");
        return error_hint(err, "for example: mtlaunch exec --hosts 'g[1-4]' nvidia-smi -L");
    }
    if (call->rest.items[0][0] == '\0') {
        error_set(err, &kind_usage, "the command is empty");
        return error_hint(err, "for example: mtlaunch exec --hosts 'g[1-4]' nvidia-smi -L");
    }
    if (options->label && options->gather) {
        error_set(err, &kind_usage, "'--label' and '--gather' cannot be used together");
        return error_hint(err, "use --label to print lines as they come, or --gather to fold equal outputs");
    }
    if (options->job && options->run) {
        error_set(err, &kind_usage, "'--job' and '--run' cannot be used together");
        return error_hint(err, "use --job for the hosts of a spec, or --run for the nodes of a run");
    }
    if (options->container && job_check_container_name(options->container, err) != 0) {
        return error_at(err, "--container", 0, 0);
    }
    if (options->timeout.given && options->timeout.value == 0) {
        error_set(err, &kind_usage, "'0' for --timeout leaves no time to run");
        return error_hint(err, "give a time such as 30s, or leave out --timeout to wait for the end");
    }
    return options->run ? job_check_run_name(options->run, err) : 0;
}

/*
 * Choose where the command runs: in the container of the job or run, or in the one that --container names.
 * The caller releases place.
 */
static void choose_place(const struct cmd_call *call, const struct setup *setup, struct place *place)
{
    place_init(place);
    if (setup->has_job && setup->job.place.container) {
        place_copy(place, &setup->job.place);
    } else if (setup->has_run && setup->run.place.container) {
        place_copy(place, &setup->run.place);
    }
    if (call->options.container) {
        free(place->container);
        place->container = xstrdup(call->options.container);
    }
    if (!place->engine) {
        place->engine = xstrdup("docker");
    }
}

static enum report_exec_mode choose_mode(const struct cmd_call *call, size_t hosts)
{
    if (call->style.json) {
        return REPORT_EXEC_JSON;
    }
    if (call->options.gather) {
        return REPORT_EXEC_GATHER;
    }
    return call->options.label || hosts > 1 ? REPORT_EXEC_LABEL : REPORT_EXEC_PLAIN;
}

static int run_on_hosts(struct cmd_call *call, const struct setup *setup, struct error *err)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    const struct cmd_options *options = &call->options;
    struct report_exec report;
    struct place place;
    int result, code;

    choose_place(call, setup, &place);
    hostlist_labels(&setup->hosts, &labels);
    report_exec_init(&report, choose_mode(call, setup->hosts.len), &call->style, &labels, &call->failures,
                     options->quiet);
    const struct run_exec_request request = {
        .endpoints = setup->endpoints,
        .count = setup->hosts.len,
        .command = &call->rest,
        .place = place.container ? &place : NULL,
        .input_fd = options->stdin_ ? STDIN_FILENO : -1,
        .timeout_s = options->timeout.given ? options->timeout.value : 0,
        .fanout = cmd_fanout(call),
        .connect_timeout_ms = cmd_connect_timeout_ms(call),
        .observer = &report.observer,
    };
    result = run_exec(&request, err);
    /* hosts have been reported: their results are the answer */
    if (result == 0 || err->kind->exit_code > 128) {
        struct error output = ERROR_INIT;
        code = report_exec_finish(&report, result != 0, &output);
        call->answered = true;
        if (result == 0 && code < 0) {
            *err = output;
        } else if (code < 0) {
            failure_print(&output, NULL, call->style.color_err);
        }
        result = result == 0 ? code : result;
    }
    report_exec_release(&report);
    place_release(&place);
    return result;
}

#define NOT_FOUND 127 /* exit status of a shell that cannot find a command */

/* `exec node1 hostname` runs a command named node1 on this machine: point to the option that names hosts. */
static void hint_hosts(const struct cmd_call *call, const struct setup *setup)
{
    struct error ignored = ERROR_INIT;
    struct hostlist list = HOSTLIST_INIT;
    const char *first = call->rest.items[0];
    if (!setup->alone || call->rest.len < 2 || strchr(first, '/') ||
        hostlist_parse(&list, first, strlen(first), HOSTLIST_COMMAS, "", 0, NULL, &ignored) != 0) {
        return;
    }
    hostlist_release(&list);
    msg_info("no host was named, so '%s' was taken for a command on this machine; to run it on that host: "
             "mtlaunch exec -H %s %s",
             first, first, call->rest.items[1]);
}

static int run_exec_command(struct cmd_call *call, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};

    if (check_words(call, err) != 0 || setup_load_hosts(&setup, call, err) != 0) {
        return -1;
    }
    int code = run_on_hosts(call, &setup, err);
    if (code == NOT_FOUND) {
        hint_hosts(call, &setup);
    }
    return code;
}

static const char *const usage[] = {
    "exec [HOST OPTION]... [--job JOB|--run RUN] [--container NAME] [--label|--gather] [--stdin] "
    "[--timeout DURATION] [--] COMMAND [ARG]...",
    NULL,
};
static const char notes[] =
    "Options end at the first word that is not an option: the command starts there,\n"
    "as with ssh. A command of one word is a line for /bin/sh. Several words are a\n"
    "program and its arguments, passed on byte for byte. The exit code is the largest\n"
    "exit status of a host (128+n for a signal), 3 if a host was not reached or was\n"
    "lost, 5 if one ran out of time. Ctrl-C and --timeout stop the command on its\n"
    "host, with everything it started.\n";
static const struct option own_options[] = {
    {.name = "job",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, job),
     .value = "JOB",
     .help = "use the hosts, users and container of this job"},
    {.name = "run",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, run),
     .value = "RUN",
     .help = "use the nodes, users and container of this run"},
    {.name = "label",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, label),
     .help = "prefix each line with its host (the default for several hosts)"},
    {.name = "gather",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, gather),
     .help = "print at the end, and print equal outputs once"},
    {.name = "stdin",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, stdin_),
     .help = "send standard input to all hosts at once (default: no input)"},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, timeout),
     .value = "DURATION",
     .help = "stop the command on each host that takes longer"},
    {.name = "container",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, container),
     .value = "NAME",
     .help = "run in this container on each host"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_exec = {
    .name = "exec",
    .summary = "run a command on every host",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .takes_rest = true,
    .takes_command = true,
    .run = run_exec_command,
};
