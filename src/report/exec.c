/* Shows the output and the failures of a command that runs on many hosts. */
#include "report/exec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "report/json_internal.h"
#include "report/output.h"

#define WAITING_MAX (256 * 1024) /* bytes to be written; above that, nothing more is read from the hosts */
#define PATIENCE_MS 60000        /* then check again whether the reader is still there */
#define HURRY_MS    1000         /* time for a slow reader after an interrupt */
#define GAP_MS      2500         /* a longer gap between two ticks: this process itself was stopped */
#define UNTOLD_MS   15000        /* by then, as a rule, all hosts that share a failure have reported it */

static const int fds[2] = {STDOUT_FILENO, STDERR_FILENO};

static bool keeps(const struct report_exec *report)
{
    return report->mode == REPORT_EXEC_GATHER || report->mode == REPORT_EXEC_JSON;
}

/* --- writing --- */

/* The rest of a line that has been written partly comes before anything of the other stream. */
static bool write_stream(struct report_exec *report, int stream, int wait_ms)
{
    struct str *out = &report->views[stream].out;
    char last = '\n';

    if (report->output_error.kind || out->len == 0) {
        return true;
    }
    if (report->bar.enabled) {
        msg_make_room();
    }
    if (output_write_some(fds[stream], out, wait_ms, &last, &report->output_error) > 0) {
        report->torn = out->len > 0 && last != '\n' ? stream : -1;
    }
    return out->len == 0;
}

static bool write_within(struct report_exec *report, int wait_ms)
{
    int first = report->shared && report->torn > 0 ? report->torn : 0;

    if (write_stream(report, first, wait_ms) || !report->shared || report->torn != first) {
        write_stream(report, 1 - first, wait_ms);
    }
    return !report->output_error.kind;
}

static bool write_some(struct report_exec *report)
{
    return write_within(report, 0);
}

static bool has_unwritten(const struct report_exec *report)
{
    return !report->output_error.kind && (report->views[0].out.len > 0 || report->views[1].out.len > 0);
}

static void write_all(struct report_exec *report)
{
    do {
        write_within(report, report->hurry ? HURRY_MS : PATIENCE_MS);
    } while (!report->hurry && has_unwritten(report));
    if (has_unwritten(report)) {
        error_set(&report->output_error, &kind_local,
                  "the output could not be written: its reader has stopped reading");
    }
    str_reset(&report->views[0].out);
    str_reset(&report->views[1].out);
}

static int on_full(void *ctx)
{
    const struct report_exec *report = ctx;

    for (int i = 0; i < 2; i++) {
        if (report->views[i].out.len > WAITING_MAX) {
            return fds[i];
        }
    }
    return -1;
}

static bool on_writable(void *ctx)
{
    return write_some(ctx);
}

/* --- events ------- */

static void keep(struct report_exec_host *host, int stream, const char *bytes, size_t len)
{
    struct str *kept = &host->kept[stream - 1];
    size_t room = REPORT_EXEC_KEEP - kept->len;

    if (len > room) {
        host->truncated[stream - 1] = true;
        len = room;
    }
    str_add_mem(kept, bytes, len);
}

static bool on_output(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct report_exec *report = ctx;

    if (keeps(report)) {
        keep(&report->hosts[host], stream, bytes, len);
        return true;
    }
    struct logview *view = &report->views[stream - 1];
    size_t node = logview_node(view, (unsigned)host, report->labels->items[host]);
    logview_feed(view, node, bytes, len, clock_mono_ms());
    return write_some(report);
}

/* Append failures after the output on stderr, never inside a line of it. */
static void add_failures(struct report_exec *report, const struct failures *failures)
{
    for (size_t i = 0; i < failures->len; i++) {
        failure_text(&failures->items[i].error, &failures->items[i].hosts, report->style->color_err,
                     &report->views[1].out);
    }
}

/* When the reader is gone, do not report that the commands were ended because of it. */
static bool reader_is_gone(const struct report_exec *report)
{
    return report->output_error.kind == &kind_output_closed;
}

/* Print failures in the order of the host list. */
static void print_failures(struct report_exec *report)
{
    AUTO_FAILURES struct failures failures = FAILURES_INIT;

    for (size_t i = 0; i < report->labels->len; i++) {
        struct report_exec_host *host = &report->hosts[i];
        if (!host->error || host->told ||
            (reader_is_gone(report) && host->error->kind == &kind_interrupted)) {
            continue;
        }
        failures_add(&failures, report->labels->items[i], host->error);
        host->told = true;
    }
    add_failures(report, &failures);
    report->untold_since_ms = 0;
}

static void print_statuses(struct report_exec *report)
{
    AUTO_FAILURES struct failures statuses = FAILURES_INIT;

    for (size_t i = 0; i < report->labels->len; i++) {
        const struct report_exec_host *host = &report->hosts[i];
        struct error status = ERROR_INIT;
        if (host->error || host->exit_status == 0) {
            continue;
        }
        if (host->signal[0] != '\0') {
            error_set(&status, NULL, "ended by signal %s", host->signal);
        } else {
            error_set(&status, NULL, "exit status %d", host->exit_status);
        }
        failures_add(&statuses, report->labels->items[i], &status);
    }
    add_failures(report, &statuses);
}

static bool on_tick(void *ctx)
{
    struct report_exec *report = ctx;
    int64_t now = clock_mono_ms();

    /*
     * While output could not be written, or this process was stopped, nothing was read: lines do not count as
     * waiting.
     */
    bool paused = on_full(report) >= 0 || (report->ticked_ms != 0 && now - report->ticked_ms > GAP_MS);
    report->ticked_ms = now;
    for (int i = 0; i < 2; i++) {
        if (paused) {
            logview_restart(&report->views[i], now);
        } else {
            logview_tick(&report->views[i], now);
        }
    }
    if (report->untold_since_ms != 0 && now - report->untold_since_ms >= UNTOLD_MS) {
        print_failures(report);
    }
    if (!report->output_error.kind && output_reader_is_gone(STDOUT_FILENO)) {
        error_set(&report->output_error, &kind_output_closed, "the reader of the output is gone");
    }
    return write_some(report);
}

/* A host's stream is compared once it is complete, so that equal ones are kept once. */
static void gather(struct report_exec *report, size_t index, int stream)
{
    struct report_exec_host *host = &report->hosts[index];
    struct str *text = &host->kept[stream - 1];
    struct report_exec_group *group = NULL;

    if (text->len == 0) {
        return;
    }
    for (size_t i = 0; i < report->groups[stream - 1].len && !group; i++) {
        struct report_exec_group *one = &report->groups[stream - 1].items[i];
        if (one->text.len == text->len && memcmp(one->text.data, text->data, text->len) == 0) {
            group = one;
        }
    }
    if (!group) {
        size_t len = report->groups[stream - 1].len++;
        report->groups[stream - 1].items =
            xgrow(report->groups[stream - 1].items, len, &report->groups[stream - 1].cap, sizeof(*group));
        group = &report->groups[stream - 1].items[len];
        *group = (struct report_exec_group){.text = *text};
        *text = (struct str)STR_INIT;
    }
    str_release(text);
    group->truncated |= host->truncated[stream - 1];
    group->hosts = xgrow(group->hosts, group->len, &group->cap, sizeof(*group->hosts));
    group->hosts[group->len++] = index;
}

static void on_ended(void *ctx, size_t index, const struct run_exec_end *end)
{
    struct report_exec *report = ctx;
    struct report_exec_host *host = &report->hosts[index];
    const char *label = report->labels->items[index];

    host->exit_status = end->exit_status;
    host->elapsed_ms = end->elapsed_ms;
    strncpy(host->signal, end->signal, sizeof(host->signal) - 1);
    if (end->error->kind) {
        host->error = xcalloc(1, sizeof(*host->error));
        *host->error = *end->error;
        failures_add(report->failures, label, end->error);
        if (report->untold_since_ms == 0) {
            report->untold_since_ms = clock_mono_ms();
        }
    } else if (end->exit_status > report->worst_status) {
        report->worst_status = end->exit_status;
    }
    for (int stream = 1; stream <= 2; stream++) {
        struct logview *view = &report->views[stream - 1];
        if (report->mode == REPORT_EXEC_GATHER) {
            gather(report, index, stream);
        } else if (!keeps(report)) {
            logview_end(view, logview_node(view, (unsigned)index, label));
        }
    }
    progress_update(&report->bar, ++report->ended);
    write_some(report); /* an error shows up again at the next write */
}

/* --- the end --- */

static int compare_indices(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return left < right ? -1 : left > right;
}

static int compare_groups(const void *a, const void *b)
{
    const struct report_exec_group *left = a, *right = b;

    return compare_indices(&left->hosts[0], &right->hosts[0]);
}

static void add_group(const struct report_exec *report, const struct report_exec_group *group,
                      struct str *out)
{
    static const char rule[] = "---------------\n";
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    struct logview text;

    for (size_t i = 0; i < group->len; i++) {
        strlist_add(&names, report->labels->items[group->hosts[i]]);
    }
    str_add(out, rule);
    hostlist_fold_names(names.items, names.len, out);
    if (group->len > 1) {
        str_addf(out, " (%zu)", group->len);
    }
    if (group->truncated) {
        str_add(out, " the first 1 MiB");
    }
    str_add_char(out, '\n');
    str_add(out, rule);
    logview_init(&text);
    text.bare = true;
    logview_feed(&text, logview_node(&text, 0, ""), group->text.data, group->text.len, 0);
    logview_end(&text, 0);
    str_add_mem(out, str_text(&text.out), text.out.len);
    if (out->data[out->len - 1] != '\n') {
        str_add_char(out, '\n');
    }
    logview_release(&text);
}

void report_exec_gathered(struct report_exec *report, int stream, struct str *out)
{
    struct report_exec_group *groups = report->groups[stream - 1].items;
    size_t len = report->groups[stream - 1].len;

    for (size_t i = 0; i < len; i++) {
        qsort(groups[i].hosts, groups[i].len, sizeof(*groups[i].hosts), compare_indices);
    }
    if (len > 0) {
        qsort(groups, len, sizeof(*groups), compare_groups);
    }
    for (size_t i = 0; i < len; i++) {
        add_group(report, &groups[i], out);
    }
}

static json_t *js_bytes(const struct str *bytes)
{
    AUTO_STR struct str clean = STR_INIT;

    text_add_utf8(&clean, str_text(bytes), bytes->len);
    return json_stringn(str_text(&clean), clean.len);
}

static json_t *js_host_error(const struct error *error)
{
    json_t *object;

    if (!error) {
        return json_null();
    }
    object = json_object();
    json_object_set_new(object, "kind", js_text(error->kind->name));
    json_object_set_new(object, "code", json_integer(error->kind->exit_code));
    json_object_set_new(object, "message", js_text(error->text));
    json_object_set_new(object, "hint", js_text_or_null(error->hint));
    return object;
}

void report_exec_host_json(const struct report_exec *report, size_t index, struct str *out)
{
    const struct report_exec_host *host = &report->hosts[index];
    bool never = host->error && host->elapsed_ms == 0;
    json_t *object = json_object();

    json_object_set_new(object, "host", js_text(report->labels->items[index]));
    json_object_set_new(object, "exit_status", js_integer(host->exit_status, -1));
    json_object_set_new(object, "signal", js_text_or_null(host->signal));
    json_object_set_new(object, "error", js_host_error(host->error));
    json_object_set_new(object, "stdout", js_bytes(&host->kept[0]));
    json_object_set_new(object, "stderr", js_bytes(&host->kept[1]));
    json_object_set_new(object, "truncated", json_boolean(host->truncated[0] || host->truncated[1]));
    json_object_set_new(object, "seconds", never ? json_null() : json_real(host->elapsed_ms / 1000.0));
    js_add_line(out, object);
    str_truncate(out, out->len - 1);
}

/* Print one object on one line, host by host: all hosts at once would be held in memory twice. */
static void print_json(struct report_exec *report)
{
    struct str *out = &report->views[0].out;

    js_add_line(out, js_answer());
    str_truncate(out, out->len - strlen("}\n"));
    str_add(out, ",\"hosts\":[");
    for (size_t i = 0; i < report->labels->len; i++) {
        if (i > 0) {
            str_add_char(out, ',');
        }
        report_exec_host_json(report, i, out);
        str_release(&report->hosts[i].kept[0]);
        str_release(&report->hosts[i].kept[1]);
        write_all(report);
    }
    str_add(out, "]}\n");
}

int report_exec_finish(struct report_exec *report, bool hurry, struct error *err)
{
    progress_end(&report->bar);
    report->hurry = hurry;
    for (int stream = 1; stream <= 2 && report->mode == REPORT_EXEC_GATHER; stream++) {
        report_exec_gathered(report, stream, &report->views[stream - 1].out);
    }
    if (report->mode == REPORT_EXEC_JSON) {
        print_json(report);
    }
    print_failures(report);
    if ((report->mode == REPORT_EXEC_LABEL || report->mode == REPORT_EXEC_GATHER) && !report->quiet &&
        !reader_is_gone(report)) {
        print_statuses(report);
    }
    write_all(report);
    if (report->output_error.kind) {
        *err = report->output_error;
        return -1;
    }
    return report->failures->len > 0 ? failures_code(report->failures) : report->worst_status;
}

void report_exec_init(struct report_exec *report, enum report_exec_mode mode,
                      const struct report_style *style, const struct strlist *labels,
                      struct failures *failures, bool quiet)
{
    *report = (struct report_exec){
        .mode = mode, .style = style, .labels = labels, .failures = failures, .quiet = quiet, .torn = -1};
    report->shared = output_is_shared(STDOUT_FILENO, STDERR_FILENO);
    progress_begin(&report->bar, keeps(report) && style->bar && !quiet, "running", labels->len);
    report->hosts = xcalloc(labels->len, sizeof(*report->hosts));
    for (int i = 0; i < 2; i++) {
        logview_init(&report->views[i]);
        report->views[i].bare = mode == REPORT_EXEC_PLAIN;
        report->views[i].color = i == 0 ? style->color : style->color_err;
    }
    report->observer = (struct run_exec_observer){
        .ctx = report,
        .output = on_output,
        .ended = on_ended,
        .full = on_full,
        .writable = on_writable,
        .tick = on_tick,
    };
}

void report_exec_release(struct report_exec *report)
{
    for (size_t i = 0; report->hosts && i < report->labels->len; i++) {
        str_release(&report->hosts[i].kept[0]);
        str_release(&report->hosts[i].kept[1]);
        free(report->hosts[i].error);
    }
    free(report->hosts);
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < report->groups[i].len; j++) {
            str_release(&report->groups[i].items[j].text);
            free(report->groups[i].items[j].hosts);
        }
        free(report->groups[i].items);
        logview_release(&report->views[i]);
    }
    *report = (struct report_exec){0};
}
