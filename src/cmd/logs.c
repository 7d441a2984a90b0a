/* The command `logs`: shows, follows and saves the logs of a run. */
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "insight/prefilter.h"
#include "model/kind.h"
#include "report/output.h"
#include "report/saved.h"

#define LINES_DEFAULT 100
#define LINES_MAX     1000000000

#define PIPE_BYTES (1 << 20)

#define OUTCOME_TRIES    10
#define OUTCOME_PAUSE_MS 500

/* The output has no reader any more, or cannot be written, so following is useless. */
static void end_without_output(void *ctx, const struct error *err)
{
    const struct cmd_call *call = ctx;
    if (err->kind != &kind_output_closed) {
        failure_print(err, NULL, call->style.color_err);
    }
    _exit(err->kind->exit_code);
}

static int make_request(const struct cmd_options *options, struct run_logs_request *request,
                        struct error *err)
{
    uint64_t lines = LINES_DEFAULT;
    bool all = options->lines && strcmp(options->lines, "all") == 0;
    if (options->lines && !all && !text_to_uint(options->lines, 0, LINES_MAX, &lines)) {
        error_set(err, &kind_usage, "'%s' for -n is neither a number of lines nor 'all'", options->lines);
        return error_hint(err, "use -n 100, or -n all");
    }
    if (options->raw && (options->json || options->grep)) {
        error_set(err, &kind_usage, "'--raw' cannot be used with --json or --grep");
        return error_hint(err, "leave out --raw, or filter its output with grep");
    }
    if (options->save && (options->follow || options->lines || options->raw || options->grep)) {
        error_set(err, &kind_usage,
                  "'--save' saves whole logs: it cannot be used with -f, -n, --raw or --grep");
        return error_hint(err, "leave them out; repeat the command to save what was written since");
    }
    if (options->save && !*options->save) {
        error_set(err, &kind_usage, "the folder for '--save' is empty");
        return error_hint(err, "use --save DIR; the folder is created if it does not exist");
    }
    *request = (struct run_logs_request){
        .nodes = &options->log_nodes,
        .follow = options->follow,
        .all = all,
        .lines = (unsigned long)lines,
        .attempt = (unsigned)options->attempt.value,
        .raw = options->raw,
    };
    return 0;
}

/*
 * --rank R: select the node whose processes include the one with this global rank, counted as torchrun does.
 */
static int add_node_of_rank(struct session *session, const char *name, struct cmd_options *options,
                            struct error *err)
{
    struct run run;
    int result = 0;
    run_init(&run);
    if (run_store_load(&session->store, name, &run, err) != 0) {
        return -1;
    }
    unsigned long rank = options->rank.value;
    unsigned long world = (unsigned long)run.nproc_per_node * run.nodes_len;
    if (world == 0) {
        error_set(err, &kind_usage, "'%s' has no fixed number of processes per node to count ranks by", name);
        result = error_hint(err, "use --node with a node's number or host");
    } else if (rank >= world) {
        error_set(err, &kind_usage,
                  "'%lu' for --rank is not in the range 0 to %lu (%zu nodes x %u processes)", rank, world - 1,
                  run.nodes_len, run.nproc_per_node);
        result = error_hint(err, "give a rank as torch counts them, or a node's number with --node");
    } else {
        const unsigned long node = rank / run.nproc_per_node;
        strlist_addf(&options->log_nodes, "%lu", node);
        if (run.nproc_per_node > 1) {
            msg_info("rank %lu is on %s (node %lu); its log contains the output of all %u ranks of the node",
                     rank, run.nodes[node].label, node, run.nproc_per_node);
        }
    }
    run_release(&run);
    return result;
}

/*
 * After following, print the outcome of the run and the first cause. The end of the last log is seen a moment
 * before the supervisor has recorded the end of the run.
 */
static void print_outcome(struct session *session, const char *name)
{
    const struct timespec pause = {.tv_nsec = OUTCOME_PAUSE_MS * 1000000L};
    struct error err = ERROR_INIT;
    struct run run;
    for (unsigned i = 0; i < OUTCOME_TRIES; i++) {
        run_init(&run);
        if (run_status(&session->context, name, &run, &err) != 0 || !run_state_is_live(run.state) ||
            run_derive_state(&run) == RUN_RUNNING) {
            break;
        }
        if (i + 1 < OUTCOME_TRIES) {
            run_release(&run);
        }
        nanosleep(&pause, NULL);
    }
    if (err.kind) {
        failure_print(&err, NULL, session->call->style.color_err);
    } else {
        AUTO_STR struct str reason = STR_INIT;
        AUTO_STR struct str safe = STR_INIT;
        run_add_reason(&run, &reason);
        text_add_lines(&safe, str_text(&reason), reason.len);
        msg_info("%s: %s%s%s", name, run_state_name(run.state), safe.len > 0 ? ": " : "", str_text(&safe));
        if (run.cause.hint) {
            str_reset(&safe);
            text_add_line(&safe, run.cause.hint, strlen(run.cause.hint));
            msg_info("  hint: %s", str_text(&safe));
        }
    }
    run_release(&run);
}

/*
 * Show only lines that match, and let the nodes leave out lines that cannot match. The lines that a node
 * finds come in blocks, which may end anywhere, so a line that is not complete yet is not judged alone.
 */
static int filter_lines(struct logview *view, const char *expression, struct str *filter,
                        struct run_logs_request *request, struct error *err)
{
    AUTO_STRLIST struct strlist alternatives = STRLIST_INIT;
    if (logview_grep(view, expression, err) != 0) {
        return -1;
    }
    view->patient = !request->follow;
    /* Only in these encodings is no ASCII character part of another character. */
    bool known = MB_CUR_MAX == 1 || strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (known && prefilter_find(expression, &alternatives)) {
        prefilter_add_patterns(&alternatives, &request->filter_fixed, filter);
        request->filter = str_text(filter);
    }
    return 0;
}

static int save_logs(struct session *session, const char *name, const struct run_logs_request *request,
                     struct error *err)
{
    struct cmd_call *call = session->call;
    AUTO_STR struct str text = STR_INIT;
    struct run_saved saved;
    const int result = run_logs_save(&session->context, name, request, call->options.save, &saved, err);
    if (saved.len > 0 && call->style.json) {
        report_saved_json(name, &saved, result == 0 ? NULL : err, &text);
        call->answered = true;
    } else if (saved.len > 0) {
        report_saved_text(&saved, &text);
    }
    run_saved_release(&saved);
    return output_print_last(&text, result, err);
}

static int run_logs_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    struct run_logs_request request = {0};
    if (job_check_run_name(name, err) != 0 || make_request(&call->options, &request, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    if (call->options.rank.given && add_node_of_rank(&session, name, &call->options, err) != 0) {
        return -1;
    }
    if (call->options.save) {
        return save_logs(&session, name, &request, err);
    }
    fcntl(STDOUT_FILENO, F_SETPIPE_SZ,
          PIPE_BYTES); /* may fail; with it, a reader that pauses does not hold up the nodes */
    session.console.output_failed = end_without_output;
    session.console.output_ctx = call;
    session.console.logs.raw = call->options.raw;
    AUTO_STR struct str filter = STR_INIT;
    if (call->options.grep &&
        filter_lines(&session.console.logs, call->options.grep, &filter, &request, err) != 0) {
        return -1;
    }
    int result = run_logs(&session.context, name, &request, err);
    if (result == 0 && call->options.follow && !call->options.attempt.given) {
        print_outcome(&session, name);
    }
    if (result != 0 && error_is_interruption(err)) {
        call->answered = true; /* Ctrl-C is the normal end of following: the lines are the whole answer */
    }
    return result;
}

static const char *const usage[] = {
    "logs RUN [--node N|HOST]... [-f] [-n LINES|all] [--attempt N] [--rank R] [--grep REGEX]",
    "logs RUN --node N|HOST --raw [-n LINES|all] [--attempt N]",
    "logs RUN --save DIR [--node N|HOST]... [--rank R] [--attempt N]",
    NULL,
};
static const char notes[] =
    "Each line is prefixed with its host, or with host:port if names repeat. Of a\n"
    "line with carriage returns only the text after the last one is shown. --rank\n"
    "takes torch's global rank. --node takes the number of a node, which --json calls\n"
    "\"rank\" too. -f prints the run's outcome to standard error and exits with 0.\n"
    "--save writes complete logs to DIR/RUN_node<N>.log. Repeat it to add new lines.\n"
    "A file with other content (another attempt, a log that became shorter) is\n"
    "renamed, for example to RUN_node0.log.1.\n";
static const struct option own_options[] = {
    {.name = "node",
     .type = OPTION_LIST,
     .offset = offsetof(struct cmd_options, log_nodes),
     .value = "N|HOST",
     .help = "only this node, by its number (NODE in status) or its host"},
    {.name = "follow",
     .letter = 'f',
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, follow),
     .help = "keep printing until the run has ended; Ctrl-C does not affect the run"},
    {.name = "lines",
     .letter = 'n',
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, lines),
     .value = "LINES|all",
     .help = "start this many lines before the end of each node's log (100)"},
    {.name = "attempt",
     .type = OPTION_UINT,
     .offset = offsetof(struct cmd_options, attempt),
     .value = "N",
     .help = "the log of an earlier attempt",
     .min = 1,
     .max = 1000000},
    {.name = "rank",
     .type = OPTION_UINT,
     .offset = offsetof(struct cmd_options, rank),
     .value = "R",
     .help = "only the node that runs this global rank",
     .max = 100000000},
    {.name = "grep",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, grep),
     .value = "REGEX",
     .help = "only lines that match this POSIX extended expression"},
    {.name = "raw",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, raw),
     .help = "the exact bytes of one node's log"},
    {.name = "save",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, save),
     .value = "DIR",
     .help = "save complete logs to this folder; repeat to add new lines"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_logs = {
    .name = "logs",
    .summary = "print the output of a run's nodes, each line prefixed with its host",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUN,
    .run = run_logs_command,
};
