/* Compares what a host lists with the source, and decides what is sent to it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/skip.h"
#include "push_internal.h"
#include "sync_git_internal.h"

#define SUM_BYTES_A_SECOND (20u << 20) /* a slow disk */

bool push_is_needed(const struct push_state *state)
{
    return state->difference >= TREE_CONTENT;
}

/* --- the list --- */

/* Below target, and neither left out nor kept: only --delete asks. */
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

static void take_entry(struct push_host *host, const struct tree_entry *there)
{
    const struct push *push = host->push;
    const size_t i = tree_find(&push->source.tree, there->path);

    if (i == TREE_NONE) {
        if (push->request->delete_) {
            tree_add(&host->extra, there->path, NULL, there);
        }
        return;
    }
    const struct tree_entry *here = &push->source.tree.items[i];
    struct push_state *state = &host->states[i];
    state->difference = (unsigned char)tree_compare(here, there);
    state->there = here->kind == there->kind;
    state->locked = here->kind == TREE_FOLDER && there->kind == TREE_FOLDER && (there->mode & 0700) != 0700;
    state->same_size = here->kind == TREE_FILE && there->kind == TREE_FILE && here->size == there->size;
    state->set_time = state->same_size && here->mtime != there->mtime;
}

/* --- sums --- */

static const char *sum_of(struct push *push, size_t entry)
{
    char sum[65];
    struct error ignored = ERROR_INIT; /* then it is sent, and seen to have changed */

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

/* A call is over. Where not every file had a sum (it went, it cannot be read), all of the call are sent. */
static void judge_sums(struct push_host *host, uint64_t count)
{
    for (uint64_t i = 0; i < count && host->sum_at < host->sum_len; i++, host->sum_at++) {
        const bool whole = host->sums.len == count;
        judge_sum(host, host->sum_queue[host->sum_at], whole ? host->sums.items[i] : "?");
    }
    strlist_release(&host->sums);
}

/* false: there is nothing to ask. */
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

/* What .gitignore names is kept. A source that is named stands under its own name. */
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

void push_plan(struct push_host *host)
{
    struct push *push = host->push;
    const struct tree *tree = &push->source.tree;

    find_removable(host);
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
}

static void begin_sending(struct push_host *host)
{
    host->listed = true;
    copy_call_be_patient(&host->call, 0);
    push_plan(host);
    host->step = host->push->request->dry_run ? PUSH_END : PUSH_PREPARE;
    push_go_on(host);
}

static int take_frame(struct push_host *host, const char *key, const char *value, struct error *err)
{
    uint64_t count = 0;

    if (strcmp(key, "sum") == 0) {
        strlist_add(&host->sums, value);
    } else if (strcmp(key, "summed") == 0) {
        if (!text_to_uint(value, 0, host->push->source.tree.len, &count)) {
            return error_set(err, &kind_node_answer, "the node says that it has summed '%s' files", value);
        }
        judge_sums(host, count);
    } else if (strcmp(key, "all_summed") == 0 && !host->listed) {
        begin_sending(host);
    } else if (strcmp(key, "done") == 0) { /* a batch stands in its places */
        char *rest = NULL;
        host->end.files_sent = strtoull(value, &rest, 10);
        host->end.bytes_sent = strtoull(rest, NULL, 10);
    } else if (strcmp(key, "finished") == 0) {
        host->finished = true;
    } else if (strcmp(key, "folders_kept") == 0) {
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

    if (event == NODE_COPY_ENTRY) {
        take_entry(host, &call->answer.entry);
    } else if (event == NODE_COPY_LISTED) {
        if (!host->push->request->checksum || !ask_sums(host)) {
            begin_sending(host);
        }
    } else if (event == NODE_COPY_FRAME) {
        return take_frame(host, call->answer.key, call->answer.value, err);
    }
    return 0;
}
