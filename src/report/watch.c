/* Shows what the use cases report while they run: progress, messages, failures, logs. */
#include "report/watch.h"

#include <string.h>

#include "base/clock.h"
#include "base/msg.h"
#include "report/output.h"

static void on_progress(void *ctx, const char *what, size_t done, size_t total)
{
    struct report_watch *watch = ctx;
    struct progress *bar = &watch->bar;
    if (total == 0) {
        return;
    }
    if (!bar->enabled || strcmp(bar->what, what) != 0 || bar->total != total) {
        progress_begin(bar, watch->style->bar, what, total);
    }
    progress_update(bar, done);
    if (done >= total) {
        progress_end(bar);
    }
}

static void on_info(void *ctx, const char *text)
{
    (void)ctx;
    msg_info("%s", text);
}

static void on_warn(void *ctx, const char *text)
{
    (void)ctx;
    msg_warn("%s", text);
}

static void on_verbose(void *ctx, const char *text)
{
    (void)ctx;
    msg_verbose("%s", text);
}

/* Show the failure at once, because what follows (a roll-back) may take time. */
static void on_failure(void *ctx, const struct error *error, const struct strlist *hosts)
{
    struct report_watch *watch = ctx;
    failures_add(watch->failures, NULL, error);
    for (size_t i = 0; hosts && i < hosts->len; i++) {
        failures_add(watch->failures, hosts->items[i], error);
    }
    failure_print(error, hosts, watch->style->color_err);
}

static void flush_logs(struct report_watch *watch)
{
    struct str *out = &watch->logs.out;
    if (out->len == 0) {
        return;
    }
    msg_make_room();
    if (!watch->output_error.kind &&
        output_write(watch->log_fd, out->data, out->len, &watch->output_error) != 0 && watch->output_failed) {
        watch->output_failed(watch->output_ctx, &watch->output_error);
    }
    str_reset(out);
}

static void on_log(void *ctx, size_t rank, const char *label, const char *bytes, size_t len)
{
    struct report_watch *watch = ctx;
    if (watch->take_log) {
        watch->take_log(watch->take_log_ctx, bytes, len);
        return;
    }
    logview_feed(&watch->logs, logview_node(&watch->logs, (unsigned)rank, label), bytes, len,
                 clock_mono_ms());
    flush_logs(watch);
}

static void on_log_end(void *ctx, size_t rank, const char *label)
{
    struct report_watch *watch = ctx;
    if (watch->take_log) {
        return;
    }
    logview_end(&watch->logs, logview_node(&watch->logs, (unsigned)rank, label));
    flush_logs(watch);
}

static void on_tick(void *ctx)
{
    struct report_watch *watch = ctx;
    logview_tick(&watch->logs, clock_mono_ms());
    flush_logs(watch);
    if (watch->output_failed && !watch->output_error.kind && output_reader_is_gone(watch->log_fd)) {
        error_set(&watch->output_error, &kind_output_closed, "the reader of the output is gone");
        watch->output_failed(watch->output_ctx, &watch->output_error);
    }
}

void report_watch_init(struct report_watch *watch, const struct report_style *style,
                       struct failures *failures, int log_fd)
{
    *watch = (struct report_watch){.style = style, .failures = failures, .log_fd = log_fd};
    logview_init(&watch->logs);
    watch->observer = (struct run_observer){
        .ctx = watch,
        .progress = on_progress,
        .info = on_info,
        .warn = on_warn,
        .verbose = on_verbose,
        .failure = on_failure,
        .log = on_log,
        .log_end = on_log_end,
        .tick = on_tick,
    };
}

void report_watch_release(struct report_watch *watch)
{
    progress_end(&watch->bar);
    for (size_t i = 0; i < watch->logs.len; i++) {
        logview_end(&watch->logs, i);
    }
    flush_logs(watch);
    logview_release(&watch->logs);
}
