/* The part of `start` that pushes the job's files first. */
#include "run/sync.h"

#include <stdlib.h>

#include "base/msg.h"
#include "cmd/sync_internal.h"
#include "report/copy.h"

int cmd_sync(struct cmd_call *call, const struct setup *setup, const struct run_store *store,
             struct run_synced *synced, struct error *err)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    struct report_copy report;

    hostlist_labels(&setup->hosts, &labels);
    report_copy_init(&report, "sent", &call->style, &labels, &call->failures, false, call->options.quiet);
    const struct run_sync_request request = {
        .store = store,
        .job = &setup->job,
        .hosts = &setup->hosts,
        .endpoints = setup->endpoints,
        .fanout = cmd_fanout(call),
        .connect_timeout_ms = cmd_connect_timeout_ms(call),
        .observer = &report.observer,
    };
    const int result = run_sync(&request, synced, err);
    report_copy_print_failures(&report);
    report_copy_release(&report);
    if (result == 0) {
        report_copy_size(synced->bytes, &text);
        msg_info("synced %llu files (%s) in %u.%u s", (unsigned long long)synced->files, str_text(&text),
                 synced->took_ms / 1000, synced->took_ms % 1000 / 100);
    }
    return result;
}
