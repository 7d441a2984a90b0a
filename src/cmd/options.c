/* The options that several commands share, and the parsing of a command's words. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/term.h"
#include "cmd/cmd.h"

#define AT(member) offsetof(struct cmd_options, member)

static const char *const color_choices[] = {"auto", "always", "never", NULL};

static const struct option global_options[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .help = "print the result as one JSON object (not: help, completion)"},
    {.name = "quiet",
     .letter = 'q',
     .type = OPTION_FLAG,
     .offset = AT(quiet),
     .help = "no progress, no notes, no warnings"},
    {.name = "verbose",
     .letter = 'v',
     .type = OPTION_FLAG,
     .offset = AT(verbose),
     .help = "print more detail"},
    {.name = "color",
     .type = OPTION_CHOICE,
     .offset = AT(color),
     .value = "auto|always|never",
     .help = "colour in results and messages; auto: on a terminal, unless NO_COLOR is set",
     .choices = color_choices},
    {.name = "fanout",
     .type = OPTION_UINT,
     .offset = AT(fanout),
     .value = "N",
     .help = "hosts worked on at once (64)",
     .min = 1,
     .max = 65536},
    {.name = "connect-timeout",
     .type = OPTION_DURATION,
     .offset = AT(connect_timeout),
     .value = "DURATION",
     .help = "time limit for connecting and logging in (ssh_config's, else 10s)"},
    {.name = "help", .letter = 'h', .type = OPTION_FLAG, .offset = AT(help), .help = "print this help"},
};

static const struct option host_options[] = {
    {.name = "hosts",
     .letter = 'H',
     .type = OPTION_TEXT,
     .offset = AT(hosts),
     .value = "LIST",
     .help = "the hosts, such as 'g[0033-0036],login1:2222' (never a file)"},
    {.name = "hostfile",
     .type = OPTION_TEXT,
     .offset = AT(hostfile),
     .value = "FILE",
     .help = "read the hosts from a file, one entry per line"},
    {.name = "exclude",
     .type = OPTION_TEXT,
     .offset = AT(exclude),
     .value = "LIST",
     .help = "exclude these hosts"},
    {.name = "nodes",
     .type = OPTION_UINT,
     .offset = AT(nodes),
     .value = "N",
     .help = "use the first N hosts",
     .min = 1,
     .max = 65536},
};

static const struct option job_options[] = {
    {.name = "set",
     .type = OPTION_LIST,
     .offset = AT(set),
     .value = "KEY.PATH=VALUE",
     .help = "override a key of the job file; the value is parsed as YAML"},
    {.name = "env",
     .letter = 'e',
     .type = OPTION_LIST,
     .offset = AT(env),
     .value = "NAME[=VALUE]",
     .help = "set an environment variable of the job; without a value, pass the current one"},
    {.name = "profile",
     .type = OPTION_LIST,
     .offset = AT(profiles),
     .value = "NAME",
     .help = "apply a profile of the job file"},
    {.name = "container",
     .type = OPTION_TEXT,
     .offset = AT(container),
     .value = "NAME",
     .help = "run in this container on each node"},
    {.name = "zero-stage",
     .type = OPTION_TEXT,
     .offset = AT(zero_stage),
     .value = "N",
     .help = "ZeRO stage, 0 to 3"},
    {.name = "nproc-per-node",
     .type = OPTION_TEXT,
     .offset = AT(nproc_per_node),
     .value = "N",
     .help = "processes on each node"},
    {.name = "master-addr",
     .type = OPTION_TEXT,
     .offset = AT(master_addr),
     .value = "A",
     .help = "address at which the other nodes reach node 0"},
    {.name = "master-port",
     .type = OPTION_TEXT,
     .offset = AT(master_port),
     .value = "P",
     .help = "rendezvous port on node 0"},
    {.name = "artifacts",
     .type = OPTION_TEXT,
     .offset = AT(artifacts),
     .value = "DIR",
     .help = "folder for logs and records on the nodes"},
};

const struct option_group cmd_group_global = {"Options of every command", global_options,
                                              ARRAY_LEN(global_options)};
const struct option_group cmd_group_hosts = {"Host options", host_options, ARRAY_LEN(host_options)};
const struct option_group cmd_group_job = {"Job options", job_options, ARRAY_LEN(job_options)};

void command_groups(const struct command *command, const struct option_group *groups[CMD_GROUPS_MAX])
{
    size_t count = 0;
    if (command->own) {
        groups[count++] = command->own;
    }
    if (command->takes_hosts) {
        groups[count++] = &cmd_group_hosts;
    }
    if (command->takes_job) {
        groups[count++] = &cmd_group_job;
    }
    groups[count++] = &cmd_group_global;
    groups[count] = NULL;
}

static const char rest_hint[] =
    "put program arguments after '--', for example: mtlaunch start JOB RUN -- --lr 3";

static int refuse_operand(const struct command *command, const char *word, struct error *err)
{
    if (command->max_operands == 0) {
        error_set(err, &kind_usage, "'%s' takes no argument '%s'", command->name, word);
    } else {
        error_set(err, &kind_usage, "'%s' takes %u argument%s, so '%s' is one too many", command->name,
                  command->max_operands, command->max_operands == 1 ? "" : "s", word);
    }
    if (command->takes_rest) {
        return error_hint(err, "%s", rest_hint);
    }
    return error_hint(err, "usage: mtlaunch %s", command->usage[0]);
}

static int check_operands(const struct cmd_call *call, struct error *err)
{
    const struct command *command = call->command;
    const char *usage = command->usage[0];
    if (call->operands.len < command->min_operands) {
        error_set(err, &kind_usage, "'%s' needs %s", command->name, command->operands);
        return error_hint(err, "usage: mtlaunch %s", usage);
    }
    if (call->operands.len > command->max_operands) {
        return refuse_operand(command, call->operands.items[command->max_operands], err);
    }
    if (call->saw_rest && !command->takes_rest) {
        error_set(err, &kind_usage, "'%s' takes no arguments after '--'", command->name);
        return error_hint(err, "usage: mtlaunch %s", usage);
    }
    if (call->options.json && command->no_json) {
        error_set(err, &kind_usage, "'%s' has no JSON form", command->name);
        return error_hint(err, "leave out --json");
    }
    if (call->options.connect_timeout.given &&
        (call->options.connect_timeout.value < 1 || call->options.connect_timeout.value > 86400)) {
        error_set(err, &kind_usage, "'%lus' for --connect-timeout is not in the range 1s to 1d",
                  call->options.connect_timeout.value);
        return error_hint(err, "write --connect-timeout 10s, or leave it out");
    }
    return 0;
}

int cmd_parse(struct cmd_call *call, const struct command *command, int argc, char *const *argv,
              struct error *err)
{
    const struct option_group *groups[CMD_GROUPS_MAX];
    const bool wants_json = call->options.json; /* for the form of an error in the words */
    call->command = command;
    call->options.json = false;
    command_groups(command, groups);
    struct options_words words = {
        .operands = &call->operands,
        .rest = command->takes_paths ? &call->operands : &call->rest,
        .end_at_operand = command->takes_command,
        .unknown_hint = command->takes_job && command->takes_rest ? rest_hint : NULL,
    };
    int result = options_parse(groups, argc, argv, &call->options, &words, err);
    call->saw_rest = words.saw_rest && !command->takes_paths;
    if (result != 0) {
        call->options.json = wants_json;
        return -1;
    }
    return call->options.help ? 0 : check_operands(call, err);
}

void cmd_call_release(struct cmd_call *call)
{
    strlist_release(&call->options.set);
    strlist_release(&call->options.env);
    strlist_release(&call->options.profiles);
    strlist_release(&call->options.log_nodes);
    strlist_release(&call->options.stack_ranks);
    strlist_release(&call->options.skip);
    strlist_release(&call->operands);
    strlist_release(&call->rest);
    failures_release(&call->failures);
}

unsigned cmd_fanout(const struct cmd_call *call)
{
    return call->options.fanout.given ? (unsigned)call->options.fanout.value : CMD_FANOUT_DEFAULT;
}

unsigned cmd_connect_timeout_ms(const struct cmd_call *call)
{
    return (unsigned)call->options.connect_timeout.value * 1000;
}

void cmd_choose_style(struct cmd_call *call)
{
    const struct cmd_options *options = &call->options;
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    enum term_color choice = TERM_COLOR_AUTO;
    if (options->color && strcmp(options->color, "always") == 0) {
        choice = TERM_COLOR_ALWAYS;
    } else if (options->color && strcmp(options->color, "never") == 0) {
        choice = TERM_COLOR_NEVER;
    }
    call->style = (struct report_style){
        .json = options->json,
        .color = !options->json && term_use_color(STDOUT_FILENO, choice, no_color),
        .color_err = term_use_color(STDERR_FILENO, choice, no_color),
        .bar = !options->quiet && term_is_tty(STDERR_FILENO) && !(no_color && *no_color) &&
               !(terminal && strcmp(terminal, "dumb") == 0),
        .chart = !options->quiet && term_is_tty(STDOUT_FILENO) && !(no_color && *no_color),
        .full = options->full,
        .columns = term_columns(STDOUT_FILENO),
        .now_ms = clock_real_ms(),
    };
    if (options->quiet) {
        msg_set_level(MSG_QUIET);
    } else if (options->verbose) {
        msg_set_level(MSG_VERBOSE);
    }
}
