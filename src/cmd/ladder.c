/*
 * `mtlaunch ladder`: runs a job on one node, on all nodes, and at several ZeRO levels, one run after the
 * other.
 */
#include "report/ladder.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/signals.h"
#include "cmd/commands_internal.h"
#include "cmd/compare_internal.h"
#include "cmd/ladder_internal.h"
#include "cmd/ladder_run_internal.h"
#include "model/kind.h"
#include "report/output.h"

#define LIMIT_S 600 /* of a step, unless --limit is given */

/* --- the plan ------------------------------------------------------------------------------------------ */

static int add_item(struct ladder *ladder, const struct ladder_step *step, struct error *err)
{
    struct ladder_item *item = &ladder->items[ladder->len++];
    *item = (struct ladder_item){.step = step, .run = xasprintf("%s-%s", ladder->prefix, step->name)};
    if (job_check_run_name(item->run, err) != 0) {
        return error_hint(err, "choose a shorter PREFIX, or another name for it");
    }
    return ladder_check_item(ladder, item, err);
}

/*
 * Make the steps, from --steps or the defaults for the job. All steps are planned before the first one runs.
 */
static int make_plan(struct ladder *ladder, const char *prefix, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT, containers = STRLIST_INIT;
    const char *list = ladder->call->options.steps;
    if (setup_load(&setup, ladder->call, ladder->call->operands.items[0], err) != 0) {
        return -1;
    }
    jobfile_names(setup.job.file, &profiles, &containers);
    ladder->prefix = xstrdup(prefix ? prefix : setup.job.name);
    if (!list) {
        list = ladder_default_steps(&profiles, setup.hosts.len);
        if (!strlist_has(&profiles, LADDER_SMOKE)) {
            msg_info("'%s' has no profile '" LADDER_SMOKE "': the first steps run it as it is",
                     setup.job.name);
        }
    }
    if (ladder_read_steps(list, &profiles, setup.job.name, &ladder->steps, err) != 0) {
        return -1;
    }
    ladder->items = xcalloc(ladder->steps.len, sizeof(ladder->items[0]));
    for (size_t i = 0; i < ladder->steps.len; i++) {
        if (add_item(ladder, &ladder->steps.items[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* --- the end -------------------------------------------------------------------------------------------- */

/* Compare the runs that measured something. */
static int compare_done(struct ladder *ladder, struct comparison *out, char **recommendation,
                        struct error *err)
{
    static const struct comparison_goal no_goal = {0};
    AUTO_SESSION struct session session = {0};
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_FREE bool *trial = xcalloc(ladder->len, sizeof(bool));
    for (size_t i = 0; i < ladder->len; i++) {
        if (ladder->items[i].done) {
            trial[names.len] = strlist_has(&ladder->items[i].step->profiles, LADDER_SMOKE);
            strlist_add(&names, ladder->items[i].run);
        }
    }
    if (names.len == 0) {
        return 0;
    }
    if (session_open(&session, ladder->call, STDOUT_FILENO, err) != 0 ||
        compare_load(&session, &names, &ladder->compared, err) != 0) {
        return -1;
    }
    comparison_make(out, ladder->compared.inputs, ladder->compared.len, &no_goal);
    *recommendation = comparison_recommend(out, trial);
    return 1;
}

static void show(const struct ladder *ladder, const struct comparison *comparison, const char *recommendation,
                 struct str *text)
{
    const struct cmd_call *call = ladder->call;
    AUTO_FREE struct report_ladder_step *steps = xcalloc(ladder->len, sizeof(steps[0]));
    for (size_t i = 0; i < ladder->len; i++) {
        const struct ladder_item *item = &ladder->items[i];
        steps[i] = (struct report_ladder_step){.step = item->step->name,
                                               .run = item->run,
                                               .profiles = item->profiles,
                                               .zero_stage = item->step->zero_stage,
                                               .nodes = item->nodes,
                                               .record = item->has_record ? &item->record : NULL,
                                               .done = item->done,
                                               .changed = &item->changed,
                                               .explanation = item->explained ? &item->explanation : NULL,
                                               .reason = item->reason};
    }
    const struct report_ladder view = {.steps = steps,
                                       .len = ladder->len,
                                       .limit_s = ladder->limit_s,
                                       .comparison = comparison,
                                       .recommendation = recommendation};
    if (call->style.json) {
        report_ladder_json(&view, text);
    } else if (call->options.dry_run) {
        report_ladder_plan(&view, &call->style, text);
    } else {
        report_ladder_text(&view, &call->style, text);
    }
}

/* Show the results of the steps, however the last one ended. */
static int finish(struct ladder *ladder, int result, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_FREE char *recommendation = NULL;
    struct comparison comparison = {0};
    struct error one = ERROR_INIT;
    int compared = compare_done(ladder, &comparison, &recommendation, &one);
    if (compared < 0 && result == 0) {
        *err = one;
        result = -1;
    }
    bool all = result == 0; /* no recommendation unless all steps are done */
    show(ladder, compared > 0 ? &comparison : NULL, all ? recommendation : NULL, &text);
    comparison_release(&comparison);
    ladder->call->answered = ladder->call->style.json;
    msg_make_room();
    return output_print_last(&text, result, err);
}

/* --- the command ---------------------------------------------------------------------------------------- */

static int climb(struct ladder *ladder, struct error *err)
{
    for (size_t i = 0; i < ladder->len; i++) {
        struct ladder_item *item = &ladder->items[i];
        if (item->done) {
            msg_info("step %zu of %zu: %s is done, by run '%s'", i + 1, ladder->len, item->step->name,
                     item->run);
            continue;
        }
        msg_info("step %zu of %zu: %s on %zu node%s, as run '%s'", i + 1, ladder->len, item->step->name,
                 item->nodes, item->nodes == 1 ? "" : "s", item->run);
        if (ladder_run_item(ladder, item, err) != 0) {
            return error_prefix(err, "step '%s'", item->step->name);
        }
    }
    return 0;
}

static int run_ladder(struct cmd_call *call, struct error *err)
{
    const char *prefix = call->operands.len > 1 ? call->operands.items[1] : NULL;
    struct ladder ladder = {.call = call,
                            .limit_s = call->options.limit.given ? call->options.limit.value : LIMIT_S};
    if (prefix && job_check_run_name(prefix, err) != 0) {
        return -1;
    }
    if (!call->options.dry_run) {
        session_oversee(call);
    }
    int result = make_plan(&ladder, prefix, err);
    if (result == 0 && call->options.dry_run) {
        AUTO_STR struct str text = STR_INIT;
        show(&ladder, NULL, NULL, &text);
        result = output_print(&text, err);
    } else if (result == 0) {
        if (!signal_is_ignored(SIGHUP)) {
            signal_block(SIGHUP); /* handled while waiting for a step */
        }
        result = finish(&ladder, climb(&ladder, err), err);
    }
    ladder_release(&ladder);
    return result;
}

static const char *const usage[] = {
    "ladder JOB [PREFIX] [--steps LIST] [--limit DURATION] [HOST OPTION]... [JOB OPTION]... [--dry-run] [-- "
    "ARG...]",
    NULL,
};
static const struct option own_options[] = {
    {.name = "steps",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, steps),
     .value = "LIST",
     .help = "the steps, such as 1+smoke,all+smoke,z0,z1,z2 (see below)"},
    {.name = "limit",
     .type = OPTION_DURATION,
     .offset = offsetof(struct cmd_options, limit),
     .value = "DURATION",
     .min = 1,
     .help = "stop each step after this time (10m)"},
    {.name = "dry-run",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, dry_run),
     .help = "print the steps and which of them are done, without contacting any node"},
    CMD_OPTIONS_WITHOUT,
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "Each step is a run named PREFIX-STEP; PREFIX is the job's name unless given. The\n"
    "steps run one after the other. The first that fails ends the ladder, with its\n"
    "diagnosis; repeat the command to continue from there. At the end the runs are\n"
    "compared, and one of them is recommended.\n"
    "\n"
    "LIST contains steps, separated by commas. The parts of a step are joined by '+':\n"
    "a number of nodes (that many hosts from the start of the list) or 'all'; a\n"
    "profile of the job; a ZeRO level z0 to z3, unless a profile has that name.\n"
    "Everything else is taken from the job. The default is 1+smoke,all+smoke,z0,z1,z2\n"
    "if the job has a profile 'smoke', else 1,all,z0,z1,z2. A step is done when its\n"
    "run has finished, or has trained until its limit passed; a warning tells whether\n"
    "the job has changed since. Ctrl-C stops the step that is running.\n";
const struct command command_ladder = {
    .name = "ladder",
    .summary = "run a job on one node, on all and at ZeRO levels, and compare the runs",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .takes_job = true,
    .min_operands = 1,
    .max_operands = 2,
    .operands = "JOB",
    .takes_rest = true,
    .run = run_ladder,
};
