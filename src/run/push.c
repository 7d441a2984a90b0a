/* Pushes files from this machine to the same place on many hosts. */
#include "run/push.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "push_internal.h"
#include "push_libarchive_internal.h"

static void report_progress(struct push *push)
{
    const struct run_copy_observer *observer = push->request->observer;

    observer->progress(observer->ctx, &push->progress);
}

static void release_host(struct push_host *host)
{
    copy_call_release(&host->call);
    push_archive_release(&host->archive);
    push_relay_release_link(host);
    tree_release(&host->extra);
    strlist_release(&host->sums);
    free(host->folder);
    free(host->states);
    free(host->removable);
    free(host->sum_queue);
    free(host->batch);
    free(host->batch_torn);
    host->folder = NULL;
    host->states = NULL;
    host->removable = NULL;
    host->sum_queue = NULL;
    host->batch = NULL;
    host->batch_torn = NULL;
}

/* --- one host --- */

void push_go_on(struct push_host *host)
{
    struct copy_call *call = &host->call;
    AUTO_STR struct str input = STR_INIT;

    if (!host->listed || call->closing || call->error.kind || call->input.len > 0 || call->waiting.len > 0) {
        return; /* not compared yet, or the last piece is still being sent */
    }
    push_fill(host, &input);
    if (input.len > 0) {
        copy_call_feed(call, &input);
    } else if (host->step == PUSH_OVER) {
        copy_call_end_input(call);
    } else if (host->step != PUSH_JOIN && host->step != PUSH_FETCH) {
        copy_call_rest(call); /* the host is not the one that is waited for */
    }
}

static void on_wake(void *ctx)
{
    struct push_host *host = ctx;

    host->wake_timer = 0;
    push_go_on(host);
}

void push_wake(struct push_host *host)
{
    if (host->wake_timer == 0) {
        host->wake_timer = fleet_timer(host->push->hosts.fleet, 0, on_wake, host);
    }
}

void push_decide(struct push_host *host)
{
    if (!host->decided) {
        host->decided = true;
        host->push->undecided--;
    }
}

static void set_torn(const struct push_host *host, struct error *err)
{
    if (host->torn == 1) {
        error_set(err, &kind_local, "'%s' changed while it was read: it was not sent", host->first_torn);
    } else {
        error_set(err, &kind_local,
                  "%zu files changed while they were read, '%s' among them: they were not sent", host->torn,
                  host->first_torn);
    }
    error_hint(err, "repeat the command when nothing writes there, or leave them out with --skip");
}

static void on_ended(void *ctx, struct copy_call *call, const struct error *error, bool started)
{
    struct push_host *host = ctx;
    struct push *push = host->push;
    struct error final = *error;

    (void)started;
    if (!final.kind && !host->finished) {
        error_set(&final, &kind_node_answer, "the copy there ended before everything was sent");
    } else if (!final.kind && host->torn > 0) {
        set_torn(host, &final);
    }
    if (final.kind && !push->request->dry_run) {
        host->end.removed = 0;
    }
    fleet_timer_cancel(push->hosts.fleet, host->wake_timer);
    host->wake_timer = 0;
    host->step = PUSH_OVER;
    host->waits = false;
    push_decide(host);
    push_relay_leave(host);
    host->end.not_relayed = push_relay_why(host);
    host->end.error = &final;
    host->end.elapsed_ms = (unsigned)clock_mono_ms() - host->end.elapsed_ms;
    push->request->observer->ended(push->request->observer->ctx, call->host, &host->end);
    host->end.error = NULL;
    host->end.not_relayed = NULL;
    push->progress.hosts_done++;
    push->progress.compared = push->progress.hosts_done == push->progress.hosts_total;
    report_progress(push);
    const size_t index = call->host;
    release_host(host);
    copy_hosts_done(&push->hosts, index);
}

static void feed_list(struct push_host *host)
{
    const struct push *push = host->push;
    const struct strlist *roots = &push->source.roots;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;

    node_copy_call(&text, NODE_COPY_OPEN, (const char *const[]){push->request->target, ""}, 2);
    if (push->request->delete_ && strlist_has(roots, ".")) {
        node_copy_call(&text, NODE_COPY_CHECK_DELETE, NULL, 0);
    }
    node_copy_call(&text, NODE_COPY_BEGIN_LIST, NULL, 0);
    node_copy_calls(&text, NODE_COPY_LIST, NULL, (const char *const *)roots->items, roots->len);
    node_copy_call(&text, NODE_COPY_END_LIST, NULL, 0);
    node_copy_add_run(&input, &text);
    copy_call_feed(&host->call, &input);
}

/* Input is accepted: request the list first. */
static void on_room(void *ctx, struct copy_call *call)
{
    struct push_host *host = ctx;

    if (!host->asked_list) {
        host->asked_list = true;
        feed_list(host);
        return;
    }
    (void)call;
    push_go_on(host);
}

static void begin_host(void *ctx, size_t index)
{
    static const struct copy_call_handler handler = {
        .event = push_take_event, .drained = on_room, .ended = on_ended};
    struct push *push = ctx;
    struct push_host *host = &push->items[index];
    const struct copy_call_place place = copy_hosts_place(&push->hosts, index);

    host->states = xcalloc(push->source.tree.len, sizeof(*host->states));
    for (size_t i = 0; i < push->source.tree.len; i++) {
        host->states[i].difference = TREE_ABSENT;
    }
    push->undecided++;
    host->end.elapsed_ms = (unsigned)clock_mono_ms();
    host->call =
        (struct copy_call){.fleet = push->hosts.fleet, .host = index, .handler = &handler, .ctx = host};
    copy_call_begin(&host->call, &place);
}

/* --- all of them --- */

static void stop(void *ctx, const struct error *error)
{
    struct push *push = ctx;

    for (size_t i = 0; i < push->hosts.next; i++) {
        copy_call_stop(&push->items[i].call, error);
    }
}

static void on_tick(void *ctx)
{
    push_relay_tick(ctx);
    report_progress(ctx);
}

/* Report the hosts that a second signal abandoned, or whose turn did not come before the first. */
static void report_rest(struct push *push, size_t told)
{
    const struct run_copy_observer *observer = push->request->observer;
    struct error error = ERROR_INIT;

    for (size_t i = 0; i < push->request->count && told < push->request->count; i++) {
        struct push_host *host = &push->items[i];
        if (i < push->hosts.next && !host->states) {
            continue;
        }
        copy_hosts_set_signalled(&push->hosts, host->states ? "; the copy there may still be ending" : "",
                                 &error);
        host->end.error = &error;
        host->end.elapsed_ms = 0;
        host->end.removed = 0;
        observer->ended(observer->ctx, i, &host->end);
    }
}

/*
 * A file that was modified in the current second may change again without a change of its time in seconds.
 * Reading it in the next second includes everything written in this one.
 */
static void wait_for_second(const struct push_source *source)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = 0; i < source->tree.len; i++) {
        if (source->tree.items[i].kind == TREE_FILE && source->tree.items[i].mtime == now.tv_sec) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000000 - now.tv_nsec}, NULL);
            return;
        }
    }
}

static int push_all(struct push *push, struct error *err)
{
    const struct run_copy_observer *observer = push->request->observer;

    for (size_t i = 0; i < push->source.warnings.len; i++) {
        observer->warn(observer->ctx, push->source.warnings.items[i]);
    }
    if (!push->request->dry_run) {
        wait_for_second(&push->source);
    }
    if (copy_hosts_open(&push->hosts, err) != 0) {
        return -1;
    }
    push->items = xcalloc(push->request->count, sizeof(*push->items));
    for (size_t i = 0; i < push->request->count; i++) {
        push->items[i].push = push;
    }
    const int result = copy_hosts_run(&push->hosts, err);
    report_rest(push, push->progress.hosts_done);
    copy_hosts_release(&push->hosts);
    for (size_t i = 0; i < push->request->count; i++) {
        release_host(&push->items[i]);
    }
    push_relay_release(push);
    free(push->items);
    return result;
}

int run_push(const struct run_copy_request *request, struct error *err)
{
    struct push push = {.request = request,
                        .hosts = {.request = request, .begin = begin_host, .stop = stop, .tick = on_tick},
                        .progress = {.hosts_total = request->count}};

    push.hosts.ctx = &push;
    if (archive_load(err) != 0) {
        return -1;
    }
    int result = push_source_open(&push.source, request->sources, request->skip, request->delete_, err);
    if (result == 0) {
        result = push_all(&push, err);
    }
    for (size_t i = 0; push.sums && i < push.source.tree.len; i++) {
        free(push.sums[i]);
    }
    free(push.sums);
    push_source_release(&push.source);
    return result;
}
