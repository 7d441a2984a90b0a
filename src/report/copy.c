/* Shows the progress and the result of a copy to or from many hosts. */
#include "report/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/text.h"
#include "model/fold.h"
#include "model/hostlist.h"
#include "report/json_internal.h"

#define UNTOLD_MS 2000 /* wait this long, as other hosts may report the same */
#define PATHS_MAX 1000 /* paths shown of a dry run */
#define CELLS     20

void report_copy_size(uint64_t bytes, struct str *out)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        str_addf(out, "%llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s");
        return;
    }
    while (value >= 1023.95 && unit + 1 < ARRAY_LEN(units)) {
        value /= 1024;
        unit++;
    }
    str_addf(out, "%.1f %s", value, units[unit]);
}

static void add_duration(uint64_t seconds, struct str *out)
{
    if (seconds >= 3600) {
        str_addf(out, "%lluh%02llum", (unsigned long long)(seconds / 3600),
                 (unsigned long long)(seconds % 3600 / 60));
    } else if (seconds >= 60) {
        str_addf(out, "%llum%02llus", (unsigned long long)(seconds / 60), (unsigned long long)(seconds % 60));
    } else {
        str_addf(out, "%llus", (unsigned long long)seconds);
    }
}

void report_copy_bar(const struct run_copy_progress *progress, int64_t elapsed_ms, struct str *out)
{
    const uint64_t done = progress->bytes_done, total = progress->bytes_total;
    const size_t full = total > 0 && done < total ? (size_t)((double)done / (double)total * CELLS) : 0;

    str_add(out, "copying [");
    for (size_t i = 0; i < CELLS; i++) {
        str_add_char(out, i < full || (total > 0 && done >= total) ? '#' : '.');
    }
    str_addf(out, "] %zu/%zu hosts, ", progress->hosts_done, progress->hosts_total);
    report_copy_size(done, out);
    str_add(out, " of ");
    report_copy_size(total, out);
    if (elapsed_ms < 1000 || done == 0) {
        return;
    }
    const double rate = (double)done * 1000 / (double)elapsed_ms;
    str_add(out, ", ");
    report_copy_size((uint64_t)rate, out);
    str_add(out, "/s");
    if (done < total) {
        str_add(out, ", ");
        add_duration((uint64_t)((double)(total - done) / rate) + 1, out);
        str_add(out, " left");
    }
}

/* --- while it runs --- */

static void print_failures(struct report_copy *report)
{
    AUTO_FAILURES struct failures failures = FAILURES_INIT;

    for (size_t i = 0; i < report->labels->len; i++) {
        struct report_copy_host *host = &report->hosts[i];
        if (host->error.kind && !host->told) {
            failures_add(&failures, report->labels->items[i], &host->error);
            host->told = true;
        }
    }
    for (size_t i = 0; i < failures.len; i++) {
        failure_print(&failures.items[i].error, &failures.items[i].hosts, report->style->color_err);
    }
    report->untold_since_ms = 0;
}

static void on_progress(void *ctx, const struct run_copy_progress *progress)
{
    struct report_copy *report = ctx;
    AUTO_STR struct str line = STR_INIT;
    const int64_t now = clock_mono_ms();

    if (report->untold_since_ms != 0 && now - report->untold_since_ms >= UNTOLD_MS && !report->style->json) {
        print_failures(report);
    }
    report_copy_bar(progress, now - report->began_ms, &line);
    progress_show(&report->bar, str_text(&line));
}

static void on_ended(void *ctx, size_t index, const struct run_copy_end *end)
{
    struct report_copy *report = ctx;
    struct report_copy_host *host = &report->hosts[index];

    host->ended = true;
    host->end = *end;
    host->end.error = NULL;
    host->end.not_relayed = NULL;
    host->not_relayed = xstrdup(end->not_relayed);
    if (end->error->kind) {
        host->error = *end->error;
        failures_add(report->failures, report->labels->items[index], end->error);
        report->untold_since_ms = report->untold_since_ms != 0 ? report->untold_since_ms : clock_mono_ms();
    }
}

static void on_warn(void *ctx, const char *text)
{
    (void)ctx;
    msg_warn("%s", text);
}

/* Adds the host to the entry of its path, or makes a new one. */
static void on_path(void *ctx, size_t host, const char *what, const char *path)
{
    struct report_copy *report = ctx;
    struct report_copy_path *found = NULL;

    for (size_t i = 0; i < report->paths_len && !found; i++) {
        struct report_copy_path *one = &report->paths[i];
        if (strcmp(one->path, path) == 0 && strcmp(one->what, what) == 0) {
            found = one;
        }
    }
    if (!found && report->paths_len == PATHS_MAX) {
        report->paths_more++;
        return;
    }
    if (!found) {
        report->paths = xgrow(report->paths, report->paths_len, &report->paths_cap, sizeof(*report->paths));
        found = &report->paths[report->paths_len++];
        *found = (struct report_copy_path){.what = what, .path = xstrdup(path)};
    }
    found->hosts = xgrow(found->hosts, found->len, &found->cap, sizeof(*found->hosts));
    found->hosts[found->len++] = host;
}

void report_copy_init(struct report_copy *report, const char *verb, const struct report_style *style,
                      const struct strlist *labels, struct failures *failures, bool dry_run, bool quiet)
{
    *report = (struct report_copy){.verb = verb,
                                   .style = style,
                                   .labels = labels,
                                   .failures = failures,
                                   .dry_run = dry_run,
                                   .quiet = quiet,
                                   .began_ms = clock_mono_ms()};
    report->hosts = xcalloc(labels->len, sizeof(*report->hosts));
    report->observer = (struct run_copy_observer){
        .ctx = report, .progress = on_progress, .ended = on_ended, .warn = on_warn, .path = on_path};
    progress_begin(&report->bar, style->bar && !style->json, "comparing", labels->len);
}

void report_copy_release(struct report_copy *report)
{
    progress_end(&report->bar);
    for (size_t i = 0; i < report->paths_len; i++) {
        free(report->paths[i].path);
        free(report->paths[i].hosts);
    }
    free(report->paths);
    for (size_t i = 0; i < report->labels->len; i++) {
        free(report->hosts[i].not_relayed);
    }
    free(report->hosts);
    *report = (struct report_copy){0};
}

/* --- the result --- */

static void add_hosts(const struct report_copy *report, const struct strlist *hosts, struct str *out)
{
    AUTO_STR struct str folded = STR_INIT;

    (void)report;
    hostlist_fold_names(hosts->items, hosts->len, &folded);
    text_add_line(out, str_text(&folded), folded.len);
}

static void add_paths(const struct report_copy *report, struct str *out)
{
    for (size_t i = 0; i < report->paths_len; i++) {
        const struct report_copy_path *path = &report->paths[i];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        for (size_t k = 0; k < path->len; k++) {
            strlist_add(&hosts, report->labels->items[path->hosts[k]]);
        }
        str_addf(out, "%s ", path->what);
        text_add_line(out, path->path, strlen(path->path));
        if (path->len < report->labels->len) {
            str_add(out, " (");
            add_hosts(report, &hosts, out);
            str_add_char(out, ')');
        }
        str_add_char(out, '\n');
    }
    if (report->paths_more > 0) {
        str_addf(out, "… %zu more\n", report->paths_more);
    }
}

static bool is_alike(const struct run_copy_end *a, const struct run_copy_end *b)
{
    return a->files == b->files && a->files_sent == b->files_sent && a->bytes_sent == b->bytes_sent &&
           a->removed == b->removed;
}

static void add_line(const struct report_copy *report, const struct strlist *hosts,
                     const struct run_copy_end *end, unsigned longest_ms, struct str *out)
{
    add_hosts(report, hosts, out);
    str_add(out, ": ");
    if (end->files_sent == 0 && end->removed == 0) {
        str_addf(out, "nothing to do, %zu file%s unchanged", end->files, end->files == 1 ? "" : "s");
    } else {
        str_addf(out, "%zu of %zu file%s %s%s, ", end->files_sent, end->files, end->files == 1 ? "" : "s",
                 report->dry_run ? "to be " : "", report->verb);
        report_copy_size(end->bytes_sent, out);
    }
    if (end->removed > 0) {
        str_addf(out, ", %zu %sremoved", end->removed, report->dry_run ? "to be " : "");
    }
    str_addf(out, ", %u.%u s\n", longest_ms / 1000, longest_ms % 1000 / 100);
}

/* Hosts that got the same share one line, at the position of the first. */
static void add_lines(const struct report_copy *report, struct str *out)
{
    AUTO_FREE bool *shown = xcalloc(report->labels->len, sizeof(*shown));

    for (size_t i = 0; i < report->labels->len; i++) {
        const struct report_copy_host *host = &report->hosts[i];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        unsigned longest_ms = 0;
        if (shown[i] || !host->ended || host->error.kind) {
            continue;
        }
        for (size_t k = i; k < report->labels->len; k++) {
            const struct report_copy_host *other = &report->hosts[k];
            if (!shown[k] && other->ended && !other->error.kind && is_alike(&other->end, &host->end)) {
                shown[k] = true;
                strlist_add(&hosts, report->labels->items[k]);
                longest_ms = other->end.elapsed_ms > longest_ms ? other->end.elapsed_ms : longest_ms;
            }
        }
        add_line(report, &hosts, &host->end, longest_ms, out);
    }
}

static bool has_same_reason(const void *ctx, size_t a, size_t b)
{
    const struct report_copy *report = ctx;
    const char *one = report->hosts[a].not_relayed, *other = report->hosts[b].not_relayed;

    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Append the hosts that got nothing through a relay, grouped by reason. */
static void add_not_relayed(const struct report_copy *report, struct str *out)
{
    struct fold fold;

    fold_make(&fold, report->labels->len, has_same_reason, report);
    for (size_t i = 0; i < fold.len; i++) {
        const struct fold_group *group = &fold.groups[i];
        const char *reason = report->hosts[group->items[0]].not_relayed;
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        if (!reason) {
            continue;
        }
        for (size_t k = 0; k < group->len; k++) {
            strlist_add(&hosts, report->labels->items[group->items[k]]);
        }
        add_hosts(report, &hosts, out);
        str_add(out, " got everything from here: ");
        text_add_line(out, reason, strlen(reason));
        str_add_char(out, '\n');
    }
    fold_release(&fold);
}

static void add_relayed(const struct report_copy *report, struct str *out)
{
    uint64_t sent = 0, relayed = 0;

    for (size_t i = 0; i < report->labels->len; i++) {
        sent += report->hosts[i].end.bytes_sent;
        relayed += report->hosts[i].end.bytes_relayed;
    }
    if (relayed > 0) {
        report_copy_size(sent > relayed ? sent - relayed : 0, out);
        str_add(out, " sent from here, ");
        report_copy_size(relayed, out);
        str_add(out, " passed on by hosts\n");
    }
    add_not_relayed(report, out);
}

static void add_json(const struct report_copy *report, struct str *out)
{
    json_t *answer = js_answer();
    json_t *hosts = json_array();

    for (size_t i = 0; i < report->labels->len; i++) {
        const struct report_copy_host *host = &report->hosts[i];
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(report->labels->items[i]));
        json_object_set_new(object, "files", json_integer((json_int_t)host->end.files));
        json_object_set_new(object, "files_sent", json_integer((json_int_t)host->end.files_sent));
        json_object_set_new(object, "bytes_sent", json_integer((json_int_t)host->end.bytes_sent));
        json_object_set_new(object, "bytes_relayed", json_integer((json_int_t)host->end.bytes_relayed));
        json_object_set_new(object, "not_relayed", js_text(host->not_relayed));
        json_object_set_new(object, "removed", json_integer((json_int_t)host->end.removed));
        json_object_set_new(object, "seconds", json_real((double)host->end.elapsed_ms / 1000));
        json_object_set_new(object, "error", host->error.kind ? js_error(&host->error, NULL) : json_null());
        json_array_append_new(hosts, object);
    }
    json_object_set_new(answer, "hosts", hosts);
    js_add_line(out, answer);
}

void report_copy_print_failures(struct report_copy *report)
{
    progress_end(&report->bar);
    print_failures(report);
}

void report_copy_finish(struct report_copy *report, struct str *out)
{
    progress_end(&report->bar);
    if (report->style->json) {
        add_json(report, out);
        return;
    }
    if (!report->quiet) {
        add_paths(report, out);
        add_lines(report, out);
        add_relayed(report, out);
    }
    print_failures(report);
}
