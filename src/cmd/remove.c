/* `mtlaunch remove`: forgets runs that have ended. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/commands_internal.h"
#include "cmd/each_internal.h"
#include "cmd/session_internal.h"
#include "report/answer.h"
#include "report/output.h"

static int remove_one(struct cmd_call *call, const char *name, struct report_many *many, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    const struct run_remove_request request = {
        .artifacts = call->options.remove_artifacts,
        .force = call->options.force,
    };
    if (session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    int result = run_remove(&session.context, name, &request, err);
    if (many && call->style.json) {
        failures_hosts(&call->failures, &hosts);
        report_many_add_removed(many, name, result == 0 ? NULL : err, &hosts);
        return result;
    }
    if (result != 0) {
        return -1;
    }
    if (call->style.json) {
        report_removed_json(name, &text);
    } else {
        str_addf(&text, "%s: removed\n", name);
    }
    return output_print(&text, err);
}

static int check_words(const struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;
    if (options->ended && call->operands.len > 0) {
        error_set(err, &kind_usage, "'--ended' selects every run that has ended, but '%s' is named too",
                  call->operands.items[0]);
        return error_hint(err, "give either --ended or the names of runs");
    }
    if (options->older_than.given && !options->ended) {
        error_set(err, &kind_usage, "'--older-than' needs --ended");
        return error_hint(err, "for example: 'mtlaunch remove --ended --older-than 7d'");
    }
    if (!options->ended && call->operands.len == 0) {
        error_set(err, &kind_usage, "'remove' needs RUN");
        return error_hint(err, "name runs, or give --ended for every run that has ended");
    }
    return 0;
}

static int run_remove_command(struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;
    struct each_work work = {.all = options->ended, .one = remove_one};
    if (check_words(call, err) != 0) {
        return -1;
    }
    if (options->older_than.given) {
        work.until = clock_real_ms() - (int64_t)options->older_than.value * 1000;
    }
    return each_run(call, &work, err);
}

static const char *const usage[] = {
    "remove RUN... [--artifacts] [--force]",
    "remove --ended [--older-than DURATION] [--artifacts] [--force]",
    NULL,
};
static const struct option own_options[] = {
    {.name = "artifacts",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, remove_artifacts),
     .help = "first delete its logs and state files on the nodes"},
    {.name = "ended",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, ended),
     .help = "every run that has ended"},
    {.name = "older-than",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, older_than),
     .value = "DURATION",
     .help = "with --ended: only runs that ended at least this long ago"},
    {.name = "force",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, force),
     .help = "remove it even if its hosts or container cannot be reached"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] = "RUN may contain * and ?, which match runs that have ended. Quote them for the\n"
                            "shell. Every run is processed, even if another one fails.\n";
const struct command command_remove = {
    .name = "remove",
    .summary = "remove the records of runs that have ended",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .min_operands = 0,
    .max_operands = CMD_RUNS_MAX,
    .operands = "RUN",
    .run = run_remove_command,
};
