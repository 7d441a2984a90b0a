/* `mtlaunch report`: makes one page about one or several runs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/msg.h"
#include "cmd/choose_internal.h"
#include "cmd/commands_internal.h"
#include "cmd/notify_internal.h"
#include "cmd/session_internal.h"
#include "report/output.h"
#include "report/page.h"
#include "run/supervisor.h"

#define SEVERAL "report.html" /* the file of a page about several runs */

/* The page, and the runs for the comparison. */
struct work {
    struct report_page *page;
    struct run *runs;
    struct comparison_input *inputs;
    size_t len;
};

static void work_release(struct work *work)
{
    report_page_free(work->page);
    for (size_t i = 0; i < work->len; i++) {
        run_release(&work->runs[i]);
    }
    free(work->runs);
    free(work->inputs);
}

/* Keep the run; the rest of the history will be released. */
static void keep_run(struct work *work, struct run_history *history)
{
    struct run *run = &work->runs[work->len];
    *run = history->run;
    run_init(&history->run);
    work->inputs[work->len++] = (struct comparison_input){
        .run = run, .peak_memory = samples_peak_memory(&history->gpus, run->attempt)};
}

/* Gather a run and add it to the page. */
static int add_run(struct cmd_call *call, const char *name, struct work *work, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    struct run_supervisor supervisor = {0};
    struct run_history history = {0};
    if (session_open(&session, call, STDERR_FILENO, err) != 0) {
        return -1;
    }
    session_notify_run(&session, name);
    int result = run_history_gather(&session.context, name, &history, err);
    if (result == 0) {
        run_supervisor_find(&session.store, name, &supervisor);
        const struct report_run view = {.run = &history.run,
                                        .supervisor_host = supervisor.host,
                                        .supervisor_pid = supervisor.pid,
                                        .supervisor_alive = supervisor.alive,
                                        .events = &history.events};
        report_page_add(work->page, &view, &history);
        for (size_t i = 0; i < history.notes.len; i++) {
            msg_warn("%s: %s", name, history.notes.items[i]);
        }
        run_supervisor_release(&supervisor);
        keep_run(work, &history);
    }
    run_history_release(&history);
    return result;
}

static void compare(struct work *work)
{
    const struct comparison_goal none = {0};
    struct comparison comparison;
    if (work->len > 1) {
        comparison_make(&comparison, work->inputs, work->len, &none);
        report_page_compare(work->page, &comparison);
        comparison_release(&comparison);
    }
}

static int choose(struct cmd_call *call, struct strlist *names, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *file = call->options.output;
    if (file && strcmp(file, "-") == 0 && call->style.json) {
        error_set(err, &kind_usage, "'-o -' prints the page, and --json prints an object");
        return error_hint(err, "leave one of them out, or name a file");
    }
    if (file && *file == '\0') {
        error_set(err, &kind_usage, "'' for --output names no file");
        return error_hint(err, "name a file, or '-' to print the page");
    }
    if (choose_check_words(&call->operands, err) != 0 ||
        session_open(&session, call, STDERR_FILENO, err) != 0) {
        return -1;
    }
    return choose_runs(&session.store, &call->operands, names, err);
}

/* Write the file with the usual mode: 0666 without the umask. */
static int write_page(const char *file, const struct str *html, struct error *err)
{
    mode_t mask = umask(0);
    umask(mask);
    return file_write_atomic(file, html->data, html->len, 0666 & ~mask, err);
}

static int answer(struct cmd_call *call, const struct strlist *names, const struct report_page *page,
                  struct error *err)
{
    AUTO_STR struct str html = STR_INIT, text = STR_INIT;
    AUTO_FREE char *own = names->len > 1 ? xstrdup(SEVERAL) : xasprintf("%s.html", names->items[0]);
    const char *file = call->options.output ? call->options.output : own;
    report_page_html(page, clock_real_ms(), &html);
    if (strcmp(file, "-") == 0) {
        return output_print(&html, err);
    }
    if (write_page(file, &html, err) != 0) {
        return -1;
    }
    if (call->style.json) {
        report_page_json(page, file, &text);
    } else {
        str_addf(&text, "%s\n", file);
    }
    return output_print(&text, err);
}

static int run_report(struct cmd_call *call, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    if (choose(call, &names, err) != 0) {
        return -1;
    }
    struct work work = {.page = report_page_new(),
                        .runs = xcalloc(names.len, sizeof(*work.runs)),
                        .inputs = xcalloc(names.len, sizeof(*work.inputs))};
    int result = 0;
    for (size_t i = 0; i < names.len && result == 0; i++) {
        result = add_run(call, names.items[i], &work, err);
    }
    if (result == 0) {
        compare(&work);
        result = answer(call, &names, work.page, err);
    }
    work_release(&work);
    return result;
}

static const char *const usage[] = {"report RUN... [-o FILE.html]", NULL};
static const struct option own_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, output),
     .value = "FILE",
     .help = "write the page there instead of to RUN.html; - prints it"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "The page is self-contained: it loads nothing and can be sent to others. It shows\n"
    "how the run ended and why, plots of the training and of the GPUs, a timeline,\n"
    "the plan, the environment with secrets masked, and the ends of the logs. The\n"
    "plots come from the logs and from the samples that a supervisor keeps. Several\n"
    "runs become one page that compares them, report.html; RUN may contain * and ?.\n"
    "Data of a node that does not answer is left out, and the page says so. With\n"
    "--json, the values of the page are printed too.\n";
const struct command command_report = {
    .name = "report",
    .summary = "write a page about a run, or one that compares several",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .min_operands = 1,
    .max_operands = CMD_RUNS_MAX,
    .operands = "RUN",
    .run = run_report,
};
