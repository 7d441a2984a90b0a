/*
 * Fetches the contents of a batch of files from a host, and moves those that did not change meanwhile into
 * place.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "pull_internal.h"

#define LARGE (32u << 20) /* a file of at least this size is fetched alone, and can be resumed */

static const struct tree_entry *entry_of(const struct pull_host *host, size_t at)
{
    return &host->tree.items[host->batch[at]];
}

static void close_files(struct pull_host *host)
{
    for (size_t i = 0; host->fds && i < host->batch_len; i++) {
        if (host->fds[i] >= 0) {
            close(host->fds[i]);
        }
    }
    free(host->fds);
    free(host->same);
    host->fds = NULL;
    host->same = NULL;
}

void pull_host_release(struct pull_host *host)
{
    close_files(host);
    copy_call_release(&host->call);
    if (host->store.path) {
        pull_store_release(&host->store);
    }
    tree_release(&host->tree);
    push_source_release(&host->here);
    free(host->differences);
    free(host->keep);
    free(host->removable);
    free(host->batch);
    free(host->sum_queue);
    strlist_release(&host->sums);
    free(host->first_changed);
    host->differences = NULL;
    host->keep = host->removable = NULL;
    host->batch = NULL;
    host->sum_queue = NULL;
    host->first_changed = NULL;
}

/* --- contents --- */

static int open_next(struct pull_host *host, struct error *err)
{
    host->offset = 0;
    if (host->large) {
        host->fds[0] = pull_store_begin_part(&host->store, entry_of(host, 0), &host->began_at, err);
        host->offset = host->began_at;
    } else {
        host->fds[host->at] = pull_store_begin(&host->store, host->at, err);
    }
    return host->fds[host->at] >= 0 ? 0 : -1;
}

/* Skip files that are complete, and empty ones. */
static int pass_whole(struct pull_host *host, struct error *err)
{
    while (host->at < host->batch_len && host->offset == entry_of(host, host->at)->size) {
        host->at++;
        if (host->at < host->batch_len && open_next(host, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int on_contents(void *ctx, const char *bytes, size_t len, struct error *err)
{
    struct pull_host *host = ctx;

    while (len > 0 && host->at < host->batch_len) {
        const uint64_t left = entry_of(host, host->at)->size - host->offset;
        const size_t part = len < left ? len : (size_t)left;
        if (pull_store_write(&host->store, host->fds[host->at], bytes, part, err) != 0) {
            return -1;
        }
        host->offset += part;
        host->pull->progress.bytes_done += part;
        bytes += part;
        len -= part;
        if (pass_whole(host, err) != 0) {
            return -1;
        }
    }
    if (len > 0) { /* a file has grown; the list after the contents shows which one */
        host->at = host->batch_len + 1;
    }
    return 0;
}

/* Take the list of the files as they are after they were read. */
static int on_event(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err)
{
    struct pull_host *host = ctx;

    if (event == NODE_COPY_FRAME && strcmp(call->answer.key, "missing") == 0 && !host->missing) {
        host->missing = true; /* the folder was removed meanwhile, so its contents do not arrive */
    } else if (event == NODE_COPY_FRAME) {
        if (host->finished || strcmp(call->answer.key, "finished") != 0) {
            return copy_call_unexpected(call, err);
        }
        host->finished = true;
    }
    if (event != NODE_COPY_ENTRY) {
        return 0;
    }
    const struct tree_entry *now = &call->answer.entry;
    if (host->entries++ == host->batch_len) {
        return error_set(err, &kind_node_answer, "the node lists more than was asked for");
    }
    for (size_t i = 0; i < host->batch_len; i++) {
        const struct tree_entry *entry = entry_of(host, i);
        if (strcmp(entry->path, now->path) == 0) {
            host->same[i] = tree_compare(entry, now) <= TREE_MODE;
            break;
        }
    }
    return 0;
}

/* --- the end of a batch --- */

static void note_changed(struct pull_host *host, const struct tree_entry *entry)
{
    if (host->changed++ == 0) {
        host->first_changed = xstrdup(entry->path);
    }
}

static int place_files(struct pull_host *host, struct error *err)
{
    const bool whole = host->at == host->batch_len;
    int result = 0;

    for (size_t i = 0; i < host->batch_len && result == 0; i++) {
        const struct tree_entry *entry = entry_of(host, i);
        if (!whole || !host->same[i] || host->fds[i] < 0) {
            note_changed(host, entry);
            if (host->large) {
                pull_store_drop_part(&host->store, entry);
            }
            continue;
        }
        const int fd = host->fds[i];
        host->fds[i] = -1;
        result = host->large ? pull_store_place_part(&host->store, fd, entry, err)
                             : pull_store_place(&host->store, fd, i, entry, err);
        host->end.files_sent++;
        host->end.bytes_sent += entry->size - (host->large ? host->began_at : 0);
    }
    return result;
}

static void on_ended(void *ctx, struct copy_call *call, const struct error *error, bool started)
{
    struct pull_host *host = ctx;
    struct error final = *error;

    (void)started;
    if (!final.kind && !host->finished) {
        error_set(&final, &kind_node_answer, "the files there ended early");
    }
    if (!final.kind) {
        place_files(host, &final);
    }
    close_files(host);
    copy_call_release(call);
    if (final.kind) {
        pull_finish(host, &final);
    } else {
        pull_next(host);
    }
}

/* --- the request --- */

static void feed(struct pull_host *host)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;
    AUTO_FREE const char **paths = xcalloc(host->batch_len, sizeof(*paths));

    for (size_t i = 0; i < host->batch_len; i++) {
        paths[i] = entry_of(host, i)->path;
    }
    node_copy_call(&text, NODE_COPY_CONTENTS, NULL, 0);
    pull_add_open(host, entry_of(host, 0)->source, &text);
    if (host->large) {
        AUTO_FREE char *offset = xasprintf("%llu", (unsigned long long)host->began_at);
        node_copy_call(&text, NODE_COPY_SEND_FROM, (const char *const[]){offset, paths[0]}, 2);
    } else {
        node_copy_calls(&text, NODE_COPY_SEND, NULL, paths, host->batch_len);
    }
    node_copy_call(&text, NODE_COPY_BEGIN_LIST, NULL, 0);
    node_copy_calls(&text, NODE_COPY_LIST, NULL, paths, host->batch_len);
    node_copy_call(&text, NODE_COPY_END_LIST, NULL, 0);
    node_copy_call(&text, NODE_COPY_TELL, (const char *const[]){"finished", "1"}, 2);
    node_copy_add_run(&input, &text);
    copy_call_feed(&host->call, &input);
}

static void on_room(void *ctx, struct copy_call *call)
{
    struct pull_host *host = ctx;

    if (host->fed) {
        copy_call_end_input(call);
        return;
    }
    host->fed = true;
    feed(host);
}

void pull_fetch(struct pull_host *host)
{
    static const struct copy_call_handler handler = {
        .event = on_event, .contents = on_contents, .drained = on_room, .ended = on_ended};
    const size_t index = host->call.host;
    const struct copy_call_place place = copy_hosts_place(&host->pull->hosts, index);
    struct error error = ERROR_INIT;

    host->fds = xcalloc(host->batch_len, sizeof(*host->fds));
    host->same = xcalloc(host->batch_len, sizeof(*host->same));
    for (size_t i = 0; i < host->batch_len; i++) {
        host->fds[i] = -1;
    }
    host->at = 0;
    host->entries = 0;
    host->missing = false;
    host->began_at = 0;
    host->large = host->batch_len == 1 && entry_of(host, 0)->size >= LARGE;
    host->fed = host->finished = false;
    if (open_next(host, &error) != 0 || pass_whole(host, &error) != 0) {
        close_files(host);
        pull_finish(host, &error);
        return;
    }
    copy_call_release(&host->call);
    host->call = (struct copy_call){.fleet = host->pull->hosts.fleet,
                                    .host = index,
                                    .handler = &handler,
                                    .ctx = host,
                                    .expect_contents = true};
    copy_call_begin(&host->call, &place);
}
