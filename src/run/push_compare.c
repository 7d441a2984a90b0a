/* Compares the list of a host with the source, and decides what to send. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/skip.h"
#include "push_internal.h"
#include "sync_git_internal.h"

#define SUM_BYTES_A_SECOND (20u << 20) /* assumed speed of a slow disk */

bool push_is_needed(const struct push_state *state)
{
    return state->difference >= TREE_CONTENT;
}

/* --- the list --- */

/* Used with --delete: whether an extra entry is neither skipped nor kept. */
static bool may_be_removed(const struct push *push, const struct tree_entry *entry)
{
    const struct run_copy_request *request = push->request;

    if (skip_covers(request->skip, entry->path, entry->kind == TREE_FOLDER)) {
        return false;
    }
    for (size_t i = 0; request->keep && i < request->keep->len; i++) {
        const char *kept = request->keep->items[i];
        const size_t len = strlen(kept);
        if (strncmp(entry->path, kept, len) == 0 && (entry->path[len] == '\0' || entry->path[len] == '/')) {
            return false;
        }
    }
    return true;
}

static int take_entry(struct push_host *host, const struct tree_entry *there, struct error *err)
{
    const struct push *push = host->push;
    const size_t i = tree_find(&push->source.tree, there->path);

    if (host->entries++ == TREE_ENTRIES_MAX) {
        return error_set(err, &kind_node_answer, "the node lists more than %d files", TREE_ENTRIES_MAX);
    }
    if (i == TREE_NONE) {
        if (push->request->delete_) {
            tree_add(&host->extra, there->path, NULL, there);
        }
        return 0;
    }
    const struct tree_entry *here = &push->source.tree.items[i];
    struct push_state *state = &host->states[i];
    state->difference = (unsigned char)tree_compare(here, there);
    state->there = here->kind == there->kind;
    state->locked = here->kind == TREE_FOLDER && there->kind == TREE_FOLDER && (there->mode & 0700) != 0700;
    state->same_size = here->kind == TREE_FILE && there->kind == TREE_FILE && here->size == there->size;
    state->set_time = state->same_size && here->mtime != there->mtime;
    return 0;
}

/* --- sums --- */

static const char *sum_of(struct push *push, size_t entry)
{
    char sum[65];
    struct error ignored = ERROR_INIT; /* on an error, the file is sent, and its change is noticed then */

    if (!push->sums) {
        push->sums = xcalloc(push->source.tree.len, sizeof(*push->sums));
    }
    if (!push->sums[entry]) {
        push->sums[entry] = xstrdup(push_source_sum(&push->source, entry, sum, &ignored) == 0 ? sum : "");
    }
    return push->sums[entry];
}

static void judge_sum(struct push_host *host, size_t entry, const char *sum)
{
    struct push_state *state = &host->states[entry];

    if (strcmp(sum_of(host->push, entry), sum) == 0) {
        state->difference = state->set_time
                                ? TREE_MODE
                                : (unsigned char)(state->difference == TREE_MODE ? TREE_MODE : TREE_SAME);
    } else {
        state->difference = TREE_CONTENT;
        state->set_time = false;
    }
}

/*
 * A call is over. If a file has no checksum (it was removed, or cannot be read), all files of the call are
 * sent.
 */
static void judge_sums(struct push_host *host, uint64_t count)
{
    for (uint64_t i = 0; i < count && host->sum_at < host->sum_len; i++, host->sum_at++) {
        const bool whole = host->sums.len == count;
        judge_sum(host, host->sum_queue[host->sum_at], whole ? host->sums.items[i] : "?");
    }
    strlist_release(&host->sums);
}

/* Request the checksums. false: there are none to request. */
static bool ask_sums(struct push_host *host)
{
    const struct tree *tree = &host->push->source.tree;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;
    uint64_t bytes = 0;

    host->asked_sums = true;
    host->sum_queue = xcalloc(tree->len, sizeof(*host->sum_queue));
    for (size_t i = 0; i < tree->len; i++) {
        if (host->states[i].same_size) {
            host->sum_queue[host->sum_len++] = i;
            bytes += tree->items[i].size;
        }
    }
    if (host->sum_len == 0) {
        return false;
    }
    AUTO_FREE const char **paths = xcalloc(host->sum_len, sizeof(*paths));
    for (size_t i = 0; i < host->sum_len; i++) {
        paths[i] = tree->items[host->sum_queue[i]].path;
    }
    node_copy_calls(&text, NODE_COPY_SUM, NULL, paths, host->sum_len);
    node_copy_call(&text, NODE_COPY_TELL, (const char *const[]){"all_summed", "1"}, 2);
    node_copy_add_run(&input, &text);
    copy_call_be_patient(&host->call, 120 + (unsigned)(bytes / SUM_BYTES_A_SECOND));
    copy_call_feed(&host->call, &input);
    return true;
}

/* --- the plan --- */

/*
 * Keep what .gitignore names. A source given without a trailing '/' is copied under its own name, which is
 * removed from the paths here.
 */
static void keep_ignored(struct push_host *host, bool *keep)
{
    const struct run_copy_request *request = host->push->request;
    const struct tree *extra = &host->extra;
    const char *root = host->push->source.roots.len > 0 ? host->push->source.roots.items[0] : ".";
    const size_t skip = strcmp(root, ".") == 0 ? 0 : strlen(root) + 1;
    AUTO_STRLIST struct strlist paths = STRLIST_INIT;
    AUTO_FREE bool *ignored = xcalloc(extra->len, sizeof(*ignored));

    for (size_t i = 0; i < extra->len; i++) {
        const char *path = extra->items[i].path;
        strlist_addf(&paths, "%s%s", strlen(path) > skip ? path + skip : path,
                     extra->items[i].kind == TREE_FOLDER ? "/" : "");
    }
    sync_git_check(request->git, (const char *const *)paths.items, paths.len, ignored);
    for (size_t i = 0; i < extra->len; i++) {
        keep[i] |= ignored[i];
    }
}

static void find_removable(struct push_host *host)
{
    struct tree *extra = &host->extra;

    tree_sort(extra);
    AUTO_FREE bool *keep = xcalloc(extra->len, sizeof(*keep));
    host->removable = xcalloc(extra->len, sizeof(*host->removable));
    for (size_t i = 0; i < extra->len; i++) {
        keep[i] = !may_be_removed(host->push, &extra->items[i]);
    }
    if (host->push->request->git) {
        keep_ignored(host, keep);
    }
    host->end.removed = tree_find_removable(extra, keep, host->removable);
}

/* Whether this path of the target, or something in it, is going to be removed. */
static bool is_removed(const struct push_host *host, const char *path)
{
    const struct tree *extra = &host->extra;
    const size_t len = strlen(path);

    for (size_t i = 0; i < extra->len; i++) {
        const char *at = extra->items[i].path;
        if (host->removable[i] && strncmp(at, path, len) == 0 && (at[len] == '\0' || at[len] == '/')) {
            return true;
        }
    }
    return false;
}

/* On the same machine, or on a share, a source may be inside the target. */
static int check_source_stays(const struct push_host *host, struct error *err)
{
    const struct strlist *sources = host->push->request->sources;
    const size_t len = host->folder ? strlen(host->folder) : 0;

    for (size_t i = 0; i < sources->len && host->folder && host->end.removed > 0; i++) {
        AUTO_FREE char *source = realpath(sources->items[i], NULL);
        const bool root = strcmp(host->folder, "/") == 0;
        if (!source || strncmp(source, host->folder, len) != 0 || (!root && source[len] != '/')) {
            continue;
        }
        if (is_removed(host, source + len + (root ? 0 : 1))) {
            error_set(err, &kind_file_failed,
                      "'--delete' would remove '%s' there, which may be the source itself", source);
            return error_hint(
                err, "push to a folder that does not contain the source, or leave it out: --skip '/%s'",
                source + len + (root ? 0 : 1));
        }
    }
    return 0;
}

int push_plan(struct push_host *host, struct error *err)
{
    struct push *push = host->push;
    const struct tree *tree = &push->source.tree;

    find_removable(host);
    if (check_source_stays(host, err) != 0) {
        return -1;
    }
    host->end.files = push->source.files;
    for (size_t i = 0; i < tree->len; i++) {
        if (!push_is_needed(&host->states[i])) {
            continue;
        }
        if (push->request->dry_run) {
            host->end.files_sent += tree->items[i].kind == TREE_FOLDER ? 0 : 1;
            host->end.bytes_sent += tree->items[i].size;
            push->request->observer->path(push->request->observer->ctx, host->call.host, "send",
                                          tree->items[i].path);
        }
        push->progress.bytes_total += tree->items[i].size;
    }
    for (size_t i = 0; push->request->dry_run && i < host->extra.len; i++) {
        if (host->removable[i]) {
            push->request->observer->path(push->request->observer->ctx, host->call.host, "remove",
                                          host->extra.items[i].path);
        }
    }
    return 0;
}

static int begin_sending(struct push_host *host, struct error *err)
{
    host->listed = true;
    copy_call_be_patient(&host->call, 0);
    if (push_plan(host, err) != 0) {
        return -1;
    }
    host->step = host->push->request->dry_run ? PUSH_END : PUSH_PREPARE;
    push_go_on(host);
    return 0;
}

/* "FILES BYTES": the files of a batch are in place. */
static int take_done(struct push_host *host, const char *value, struct error *err)
{
    char *rest = NULL;

    if (host->done_told == host->done_asked) {
        return copy_call_unexpected(&host->call, err);
    }
    host->done_told++;
    host->end.files_sent = strtoull(value, &rest, 10);
    host->end.bytes_sent = strtoull(rest, NULL, 10);
    return 0;
}

static int take_sum(struct push_host *host, const char *key, const char *value, struct error *err)
{
    const size_t left = host->sum_len - host->sum_at;
    uint64_t count = 0;

    if (strcmp(key, "sum") == 0 && host->sums.len < left) {
        strlist_add(&host->sums, value);
        return 0;
    }
    if (strcmp(key, "summed") == 0 && text_to_uint(value, 1, left, &count)) {
        judge_sums(host, count);
        return 0;
    }
    return strcmp(key, "all_summed") == 0 ? begin_sending(host, err) : copy_call_unexpected(&host->call, err);
}

static int take_frame(struct push_host *host, const char *key, const char *value, struct error *err)
{
    if (host->asked_sums && !host->listed) {
        return take_sum(host, key, value, err);
    }
    if (strcmp(key, "missing") == 0 && !host->listed && !host->missing) {
        host->missing = true;
    } else if (strcmp(key, "folder") == 0 && !host->listed && !host->folder) {
        host->folder = xstrdup(value);
    } else if (strcmp(key, "done") == 0) {
        return take_done(host, value, err);
    } else if (strcmp(key, "finished") == 0 && host->step == PUSH_OVER && !host->finished) {
        host->finished = true;
    } else if (strcmp(key, "folders_kept") == 0 && host->listed && !host->folders_kept) {
        host->folders_kept = true;
        AUTO_FREE char *text = xasprintf("%s: modes and times of some folders cannot be set there: %s",
                                         host->push->request->labels->items[host->call.host], value);
        host->push->request->observer->warn(host->push->request->observer->ctx, text);
    } else {
        return push_relay_take_frame(host, key, value, err);
    }
    return 0;
}

int push_take_event(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err)
{
    struct push_host *host = ctx;

    if (event == NODE_COPY_FRAME) {
        return take_frame(host, call->answer.key, call->answer.value, err);
    }
    if (host->listed || host->asked_sums) {
        return error_set(err, &kind_node_answer, "the node lists more than was asked for");
    }
    if (event == NODE_COPY_ENTRY) {
        return take_entry(host, &call->answer.entry, err);
    }
    return host->push->request->checksum && ask_sums(host) ? 0 : begin_sending(host, err);
}
