/* Prints what a use case reports while it runs: progress, messages, failures, and the lines of logs. */
#include "report/console.h"

#include <string.h>

#include "base/clock.h"
#include "base/msg.h"
#include "report/output.h"

static void on_progress(void *ctx, const char *what, size_t done, size_t total)
{
    struct console *console = ctx;
    struct progress *bar = &console->bar;
    if (total == 0) {
        return;
    }
    if (!bar->enabled || strcmp(bar->what, what) != 0 || bar->total != total) {
        progress_begin(bar, console->style->bar, what, total);
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
    struct console *console = ctx;
    failures_add(console->failures, NULL, error);
    for (size_t i = 0; hosts && i < hosts->len; i++) {
        failures_add(console->failures, hosts->items[i], error);
    }
    failure_print(error, hosts, console->style->color_err);
}

static void flush_logs(struct console *console)
{
    struct str *out = &console->logs.out;
    if (out->len == 0) {
        return;
    }
    msg_make_room();
    if (!console->output_error.kind &&
        output_write(console->log_fd, out->data, out->len, &console->output_error) != 0 &&
        console->output_failed) {
        console->output_failed(console->output_ctx, &console->output_error);
    }
    str_reset(out);
}

static void on_log(void *ctx, size_t rank, const char *label, const char *bytes, size_t len)
{
    struct console *console = ctx;
    if (console->take_log) {
        console->take_log(console->take_log_ctx, bytes, len);
        return;
    }
    logview_feed(&console->logs, logview_node(&console->logs, (unsigned)rank, label), bytes, len,
                 clock_mono_ms());
    flush_logs(console);
}

static void on_log_end(void *ctx, size_t rank, const char *label)
{
    struct console *console = ctx;
    if (console->take_log) {
        return;
    }
    logview_end(&console->logs, logview_node(&console->logs, (unsigned)rank, label));
    flush_logs(console);
}

static void on_tick(void *ctx)
{
    struct console *console = ctx;
    logview_tick(&console->logs, clock_mono_ms());
    flush_logs(console);
    if (console->output_failed && !console->output_error.kind && output_reader_is_gone(console->log_fd)) {
        error_set(&console->output_error, &kind_output_closed, "the reader of the output is gone");
        console->output_failed(console->output_ctx, &console->output_error);
    }
}

void console_init(struct console *console, const struct report_style *style, struct failures *failures,
                  int log_fd)
{
    *console = (struct console){.style = style, .failures = failures, .log_fd = log_fd};
    logview_init(&console->logs);
    console->observer = (struct run_observer){
        .ctx = console,
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

void console_release(struct console *console)
{
    progress_end(&console->bar);
    for (size_t i = 0; i < console->logs.len; i++) {
        logview_end(&console->logs, i);
    }
    flush_logs(console);
    logview_release(&console->logs);
}
