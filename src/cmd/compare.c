/* `mtlaunch compare`: compares the figures of runs. */
#include "report/compare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/text.h"
#include "cmd/choose_internal.h"
#include "cmd/commands_internal.h"
#include "cmd/compare_internal.h"
#include "model/kind.h"
#include "report/output.h"
#include "run/samples.h"
#include "run/supervisor.h"

/* A supervisor keeps the record of a live run up to date. Without a supervisor, the nodes are asked. */
static int load(struct session *session, const char *name, struct run *run, struct error *err)
{
    if (run_store_load(&session->store, name, run, err) != 0) {
        return -1;
    }
    struct run_supervisor supervisor;
    run_supervisor_find(&session->store, name, &supervisor);
    bool ask = run_state_is_live(run->state) && !supervisor.alive;
    run_supervisor_release(&supervisor);
    if (!ask) {
        return 0;
    }
    run_release(run);
    run_init(run);
    return run_status(&session->context, name, run, err);
}

int compare_load(struct session *session, const struct strlist *names, struct compared_runs *out,
                 struct error *err)
{
    *out = (struct compared_runs){.runs = xcalloc(names->len + 1, sizeof(out->runs[0])),
                                  .inputs = xcalloc(names->len + 1, sizeof(out->inputs[0]))};
    for (size_t i = 0; i < names->len; i++) {
        struct run *run = &out->runs[out->len++];
        run_init(run);
        out->inputs[i] = (struct comparison_input){.run = run, .peak_memory = -1};
        if (load(session, names->items[i], run, err) != 0) {
            return -1;
        }
        out->inputs[i].peak_memory = run_samples_peak_memory(&session->store, run->name, run->attempt);
    }
    return 0;
}

void compared_runs_release(struct compared_runs *compared)
{
    for (size_t i = 0; i < compared->len; i++) {
        run_release(&compared->runs[i]);
    }
    free(compared->runs);
    free(compared->inputs);
    *compared = (struct compared_runs){0};
}

#define WORK_MAX UINT64_C(1000000000000000) /* tokens or samples, before their unit */

static void show(const struct cmd_call *call, const struct comparison *comparison, struct str *text)
{
    if (call->style.json) {
        report_compare_json(comparison, text);
    } else if (call->options.csv) {
        report_compare_csv(comparison, text);
    } else {
        report_compare_text(comparison, &call->style, text);
    }
}

/*
 * Read a whole number, in thousands (K), millions (M), billions (B) or trillions (T) if one of these follows
 * it.
 */
static int read_amount(const char *text, const char *option, double *out, struct error *err)
{
    static const char units[] = "KMBT";
    AUTO_FREE char *digits = xstrdup(text ? text : "");
    size_t len = strlen(digits);
    const char *unit = len > 0 ? strchr(units, digits[len - 1]) : NULL;
    uint64_t number = 0;
    *out = 0;
    if (!text) {
        return 0;
    }
    if (unit) {
        digits[len - 1] = '\0';
    }
    if (!text_to_uint(digits, 0, UINT64_MAX, &number)) {
        error_set(err, &kind_usage, "'%s' for %s is not a whole number, with or without K, M, B or T", text,
                  option);
        return error_hint(err, "write %s 34B for 34 billion, or %s 34000000000", option, option);
    }
    if (number == 0 || number > WORK_MAX) {
        error_set(err, &kind_usage, "'%s' for %s is out of range", text, option);
        return error_hint(err, "the number must be from 1 to %llu before its unit",
                          (unsigned long long)WORK_MAX);
    }
    *out = (double)number;
    for (const char *at = units; unit && at <= unit; at++) {
        *out *= 1000;
    }
    return 0;
}

static int check_options(const struct cmd_options *options, struct error *err)
{
    if (options->csv && options->json) {
        error_set(err, &kind_usage, "'--csv' and '--json' cannot be used together");
        return error_hint(err, "leave out one of the two");
    }
    if (options->tokens && options->samples) {
        error_set(err, &kind_usage, "'--tokens' and '--samples' cannot be used together");
        return error_hint(err, "give the amount of work with one of the two");
    }
    return 0;
}

/* Say why runs have no hours although they were asked for. */
static void tell_missing_hours(const struct comparison *comparison, const struct comparison_goal *goal)
{
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if ((goal->tokens <= 0 && goal->samples <= 0) || row->hours >= 0) {
            continue;
        }
        if (goal->tokens > 0 && row->samples_per_second > 0) {
            msg_warn("the hours of '%s' are unknown: neither its logs nor its arguments tell how many tokens "
                     "a sample has (--samples needs no tokens)",
                     row->run->name);
        } else {
            msg_warn("the hours of '%s' are unknown: its logs tell no %s per second", row->run->name,
                     goal->tokens > 0 ? "tokens" : "samples");
        }
    }
}

static int run_compare(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    struct comparison_goal goal = {0};
    struct compared_runs compared = {0};
    if (check_options(&call->options, err) != 0 ||
        read_amount(call->options.tokens, "--tokens", &goal.tokens, err) != 0 ||
        read_amount(call->options.samples, "--samples", &goal.samples, err) != 0 ||
        choose_check_words(&call->operands, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0 ||
        choose_runs(&session.store, &call->operands, &names, err) != 0) {
        return -1;
    }
    int result = compare_load(&session, &names, &compared, err);
    if (result == 0) {
        struct comparison comparison;
        comparison_make(&comparison, compared.inputs, compared.len, &goal);
        tell_missing_hours(&comparison, &goal);
        show(call, &comparison, &text);
        comparison_release(&comparison);
        result = output_print(&text, err);
    }
    compared_runs_release(&compared);
    return result;
}

static const char *const usage[] = {"compare RUN... [--tokens N|--samples N] [--csv]", NULL};
static const struct option own_options[] = {
    {.name = "tokens",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, tokens),
     .value = "N",
     .help = "also print the hours that training on this many tokens takes; 34B is 34 billion"},
    {.name = "samples",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, samples),
     .value = "N",
     .help = "the same for this many samples"},
    {.name = "csv",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, csv),
     .help = "print the figures as CSV, one line per run"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "RUN may contain * and ?, which match live and ended runs. The figures come from\n"
    "the records; only the nodes of a live run without a supervisor are contacted.\n"
    "Speed-up and efficiency are relative to the run on the fewest GPUs, and are\n"
    "always computed from samples per second. MFU is the reported TFLOP/s as a\n"
    "fraction of the GPU's dense BF16 peak rate. The network is the one that NCCL\n"
    "reports with NCCL_DEBUG=INFO.\n";
const struct command command_compare = {
    .name = "compare",
    .summary = "compare runs: speed, efficiency, what differs, and a verdict",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_RUNS,
    .run = run_compare,
};
