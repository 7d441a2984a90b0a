/* Pushes the files of a job's sync before an attempt. */
#include <stdlib.h>

#include "base/alloc.h"
#include "observer_internal.h"
#include "run/sync.h"
#include "spares_internal.h"
#include "start_internal.h"

/* A restart has no observer: failures of hosts are reported when the push is over. */
static void ignore_progress(void *ctx, const struct run_copy_progress *progress)
{
    (void)ctx;
    (void)progress;
}

static void ignore_end(void *ctx, size_t host, const struct run_copy_end *end)
{
    (void)ctx;
    (void)host;
    (void)end;
}

static void pass_warning(void *ctx, const char *text)
{
    report_warn(ctx, "%s", text);
}

static void ignore_path(void *ctx, size_t host, const char *what, const char *path)
{
    (void)ctx;
    (void)host;
    (void)what;
    (void)path;
}

/* Take the failures of hosts; spares may replace these hosts. */
static int take_failures(struct start *start, const struct error *failures, struct error *err)
{
    for (size_t i = 0; i < start->hosts->len; i++) {
        if (failures[i].kind) {
            start->unreached[i] = start_is_out_of_reach(failures[i].kind);
            node_failures_set(&start->failures, i, &failures[i]);
        }
    }
    if (start->failures.count == 0) {
        return -1;
    }
    const int taken = start_take_spares(start, err);
    if (taken == 0 && !start->request->sync->begin) {
        node_failures_report(&start->failures, start->context, NULL);
    }
    return taken == 1 ? 1 : -1;
}

void start_note_sync(const struct start *start)
{
    const struct run_synced *synced = &start->run->synced;

    if (!synced->done) {
        return;
    }
    run_note_event(start->context, start->run, "synced", NULL, "%llu files, %llu bytes%s%s%s",
                   (unsigned long long)synced->files, (unsigned long long)synced->bytes,
                   synced->commit ? ", commit " : "", synced->commit ? synced->commit : "",
                   synced->commit && synced->dirty ? " and changes that are in no commit" : "");
}

static int push(const struct start *start, struct run_synced *synced, struct error *failures,
                struct error *err)
{
    const struct run_start_request *request = start->request;
    const struct run_start_sync *sync = request->sync;
    const struct run_copy_observer quiet = {.ctx = start->context,
                                            .progress = ignore_progress,
                                            .ended = ignore_end,
                                            .warn = pass_warning,
                                            .path = ignore_path};
    const struct run_sync_request push_request = {
        .store = start->context->store,
        .job = request->job,
        .hosts = start->hosts,
        .endpoints = start->hosts == &start->replaced.list ? start->replaced.endpoints : request->endpoints,
        .run = start->run,
        .fanout = start->context->fanout,
        .connect_timeout_ms = start->context->connect_timeout_ms,
        .observer = sync->begin ? sync->begin(sync->ctx, start->hosts) : &quiet,
    };
    const int result = run_sync(&push_request, synced, failures, err);
    if (sync->end) {
        sync->end(sync->ctx, result, synced);
    }
    return result;
}

int start_sync(struct start *start, struct error *err)
{
    struct run_synced synced = {0};
    AUTO_FREE struct error *failures = xcalloc(start->hosts->len, sizeof(*failures));

    if (!start->request->sync || !start->request->job->sync.from) {
        run_synced_copy(&start->run->synced, &synced);
        return 0;
    }
    int result = push(start, &synced, failures, err);
    if (result == 0) {
        run_synced_copy(&start->run->synced, &synced);
    } else {
        struct error spare = ERROR_INIT;
        result = take_failures(start, failures, &spare);
        *err = spare.kind ? spare : *err;
    }
    free(synced.commit);
    return result;
}
