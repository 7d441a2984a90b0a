/* Shows the progress of the push before a start. */
#include <stdlib.h>

#include "base/msg.h"
#include "cmd/sync_internal.h"

static const struct run_copy_observer *begin(void *ctx, const struct hostlist *hosts)
{
    struct sync_display *display = ctx;
    struct cmd_call *call = display->call;

    hostlist_labels(hosts, &display->labels);
    report_copy_init(&display->report, "sent", &call->style, &display->labels, &call->failures, false,
                     call->options.quiet);
    return &display->report.observer;
}

static void end(void *ctx, int result, const struct run_synced *synced)
{
    struct sync_display *display = ctx;
    AUTO_STR struct str text = STR_INIT;

    report_copy_print_failures(&display->report);
    report_copy_release(&display->report);
    strlist_release(&display->labels);
    if (result == 0) {
        report_copy_size(synced->bytes, &text);
        msg_info("synced %llu files (%s) in %u.%u s", (unsigned long long)synced->files, str_text(&text),
                 synced->took_ms / 1000, synced->took_ms % 1000 / 100);
    }
}

struct run_start_sync sync_show(struct sync_display *display)
{
    return (struct run_start_sync){.ctx = display, .begin = begin, .end = end};
}
