/* Gathers all that is known about a run: its record and samples on this machine, and its nodes' logs. */
#include "run/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "explain_internal.h"
#include "history_internal.h"
#include "lastlines_internal.h"
#include "model/hostlist.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "run/samples.h"

#define EVENTS_MAX 2000
#define LINES_KEPT 40

static void note(struct run_history *history, const char *text)
{
    if (!strlist_has(&history->notes, text)) {
        strlist_add(&history->notes, text);
    }
}

/* --- data on this machine --------------------------------------------------------------------------- */

static void load_samples(const struct run_store *store, struct run_history *history)
{
    struct {
        enum samples_kind kind;
        struct samples *to;
    } files[] = {{SAMPLES_TRAINING, &history->training}, {SAMPLES_GPUS, &history->gpus}};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct error err = ERROR_INIT;
        if (run_samples_load(store, history->run.name, files[i].kind, files[i].to, &err) != 0) {
            note(history, err.text);
        }
    }
}

/* --- data from the nodes ---------------------------------------------------------------------------- */

static void note_failures(struct run_history *history, const struct node_failures *failures)
{
    AUTO_FREE bool *done = xcalloc(failures->len, sizeof(bool));
    for (size_t i = 0; i < failures->len; i++) {
        AUTO_STRLIST struct strlist labels = STRLIST_INIT;
        AUTO_STR struct str text = STR_INIT;
        for (size_t j = i; failures->errors[i].kind && !done[i] && j < failures->len; j++) {
            if (failures->errors[j].kind && !done[j] &&
                strcmp(failures->errors[i].text, failures->errors[j].text) == 0) {
                strlist_add(&labels, failures->labels.items[j]);
                done[j] = j != i;
            }
        }
        if (labels.len > 0) {
            hostlist_fold_names(labels.items, labels.len, &text);
            str_addf(&text, ": %s", failures->errors[i].text);
            note(history, str_text(&text));
        }
    }
}

static void want(bool *wanted, size_t node, size_t *count)
{
    if (!wanted[node] && *count < HISTORY_LOGS_MAX) {
        wanted[node] = true;
        ++*count;
    }
}

/*
 * The nodes of the cause first, then the one that failed first, then the first and the last node, then others
 * while there is room.
 */
static void choose_logs(const struct run_history *history, bool *wanted)
{
    const struct run *run = &history->run;
    const struct diagnosis *diagnosis = &history->explanation.diagnosis;
    const long first = run_first_failure(run);
    size_t count = 0;
    for (size_t i = 0; diagnosis->cause.signature && i < diagnosis->cause.nodes_len; i++) {
        want(wanted, diagnosis->cause.nodes[i], &count);
    }
    if (first >= 0) {
        want(wanted, (size_t)first, &count);
    }
    want(wanted, 0, &count);
    want(wanted, run->nodes_len - 1, &count);
    for (size_t i = 0; i < run->nodes_len; i++) {
        want(wanted, i, &count);
    }
}

/* Drop the first line if its beginning may be missing. */
static char *whole_lines(char *text)
{
    char *end = strlen(text) >= LAST_LINES_BYTES ? strchr(text, '\n') : NULL;
    char *whole = xstrdup(end ? end + 1 : text);
    free(text);
    return whole;
}

static int read_logs(struct node_set *set, struct run_history *history)
{
    const struct run *run = &history->run;
    AUTO_FREE bool *wanted = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE char **texts = xcalloc(run->nodes_len, sizeof(*texts));
    choose_logs(history, wanted);
    int result = run_fetch_lines(set, run, wanted, LINES_KEPT, texts);
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (texts[i]) {
            history->logs[history->logs_len++] =
                (struct run_log_end){.node = i, .text = whole_lines(texts[i])};
        }
    }
    return result;
}

static int ask_nodes(struct node_set *set, struct run_history *history)
{
    struct node_failures failures;
    node_failures_init_run(&failures, &history->run);
    int result = run_explain(set, &history->run, 0, NULL, &failures, &history->explanation);
    history->explanation.forbidden = NULL; /* it borrows from the policy of the run */
    note_failures(history, &failures);
    node_failures_release(&failures);
    if (result == 0) {
        result = read_logs(set, history);
    }
    return result == 0 ? history_read_series(set, history) : result;
}

/* --- gathering -------------------------------------------------------------------------------------- */

int run_history_gather(struct run_context *context, const char *name, struct run_history *out,
                       struct error *err)
{
    struct node_set set;
    *out = (struct run_history){.training = {.kind = SAMPLES_TRAINING}, .gpus = {.kind = SAMPLES_GPUS}};
    run_init(&out->run);
    if (run_status(context, name, &out->run, err) != 0) {
        return -1;
    }
    if (run_store_events(context->store, name, EVENTS_MAX, &out->events, err) != 0) {
        note(out, err->text);
        err->kind = NULL;
    }
    load_samples(context->store, out);
    int result = node_set_open_run(&set, context, &out->run, err);
    if (result == 0 && out->run.nodes_len > 0 && ask_nodes(&set, out) != 0) {
        result = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    return result;
}

void run_history_release(struct run_history *history)
{
    for (size_t i = 0; i < history->logs_len; i++) {
        free(history->logs[i].text);
    }
    explanation_release(&history->explanation);
    samples_release(&history->training);
    samples_release(&history->gpus);
    strlist_release(&history->notes);
    run_events_release(&history->events);
    run_release(&history->run);
    *history = (struct run_history){0};
}
