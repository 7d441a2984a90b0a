/* Pulls files from many hosts, from each into its own folder on this machine. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/skip.h"
#include "pull_internal.h"
#include "run/push.h"

#define BATCH_BYTES        (32u << 20)
#define BATCH_FILES        500
#define SUM_BYTES_A_SECOND (20u << 20) /* assumed speed of a slow disk */

static const struct run_copy_observer *observer_of(const struct pull_host *host)
{
    return host->pull->request->observer;
}

/* --- sources --- */

/* Split a source on a host into the folder to open and the path to list in it ("." for "DIR/"). */
static void split_source(const char *source, char **folder, char **root)
{
    const size_t len = strlen(source);
    const char *last = strrchr(source, '/');
    const char *name = last ? last + 1 : source;

    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        *folder = xstrndup(source, len);
        *root = xstrdup(".");
        return;
    }
    *folder = last == source ? xstrdup("/") : last ? xstrndup(source, (size_t)(last - source)) : xstrdup(".");
    *root = xstrdup(name);
}

static void add_open(struct str *text, const char *folder)
{
    node_copy_call(text, NODE_COPY_OPEN, (const char *const[]){folder, ""}, 2);
}

static void feed_list(struct pull_host *host)
{
    const struct strlist *sources = host->pull->request->sources;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;

    for (size_t i = 0; i < sources->len; i++) {
        AUTO_FREE char *folder = NULL;
        AUTO_FREE char *root = NULL;
        split_source(sources->items[i], &folder, &root);
        add_open(&text, folder);
        node_copy_call(&text, NODE_COPY_BEGIN_LIST, NULL, 0);
        node_copy_call(&text, NODE_COPY_LIST, (const char *const[]){root}, 1);
        node_copy_call(&text, NODE_COPY_END_LIST, NULL, 0);
    }
    if (!host->pull->request->checksum) {
        node_copy_call(&text, NODE_COPY_TELL, (const char *const[]){"finished", "1"}, 2);
    }
    node_copy_add_run(&input, &text);
    copy_call_feed(&host->call, &input);
}

/* --- local files --- */

/* Read the tree of the host's local folder; empty if there is none. */
static int look_here(struct pull_host *host, struct error *err)
{
    AUTO_STRLIST struct strlist sources = STRLIST_INIT, nothing = STRLIST_INIT;
    AUTO_FREE char *folder =
        path_join(host->pull->request->target, host->pull->request->labels->items[host->call.host]);

    if (!file_exists(folder)) {
        return 0;
    }
    strlist_addf(&sources, "%s/", folder);
    return push_source_open(&host->here, &sources, &nothing, true, err);
}

/* Refuse two sources of one host that contain the same path. A folder may be in both. */
static int check_meetings(struct pull_host *host, struct error *err)
{
    const struct tree *tree = &host->tree;

    for (size_t i = 1; i < tree->len; i++) {
        if (strcmp(tree->items[i - 1].path, tree->items[i].path) == 0 &&
            (tree->items[i].kind != TREE_FOLDER || tree->items[i - 1].kind != TREE_FOLDER)) {
            error_set(err, &kind_usage, "two sources contain '%s'", tree->items[i].path);
            return error_hint(err, "pull them one at a time, into separate folders");
        }
    }
    return 0;
}

static void find_differences(struct pull_host *host)
{
    const struct tree *here = &host->here.tree;

    host->differences = xcalloc(host->tree.len, 1);
    for (size_t i = 0; i < host->tree.len; i++) {
        const struct tree_entry *there = &host->tree.items[i];
        const size_t at = tree_find(here, there->path);
        host->differences[i] =
            (unsigned char)(at == TREE_NONE ? TREE_ABSENT : tree_compare(there, &here->items[at]));
        host->end.files += there->kind == TREE_FOLDER ? 0 : 1;
    }
}

/* --- with --checksum --- */

/* Ask for the checksums of files with the same size on both sides, source by source. */
static void ask_sums(struct pull_host *host)
{
    const struct tree *tree = &host->tree;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;
    AUTO_FREE const char **paths = xcalloc(tree->len, sizeof(*paths));
    uint64_t bytes = 0;

    host->sum_queue = xcalloc(tree->len, sizeof(*host->sum_queue));
    for (size_t source = 0; source < host->pull->request->sources->len; source++) {
        size_t len = 0;
        for (size_t i = 0; i < tree->len; i++) {
            const size_t at = tree_find(&host->here.tree, tree->items[i].path);
            if (tree->items[i].source != source || tree->items[i].kind != TREE_FILE || at == TREE_NONE ||
                host->here.tree.items[at].kind != TREE_FILE ||
                host->here.tree.items[at].size != tree->items[i].size) {
                continue;
            }
            host->sum_queue[host->sum_len++] = i;
            paths[len++] = tree->items[i].path;
            bytes += tree->items[i].size;
        }
        if (len > 0) {
            pull_add_open(host, source, &text);
            node_copy_calls(&text, NODE_COPY_SUM, NULL, paths, len);
        }
    }
    node_copy_call(&text, NODE_COPY_TELL, (const char *const[]){"finished", "1"}, 2);
    node_copy_add_run(&input, &text);
    copy_call_be_patient(&host->call, 120 + (unsigned)(bytes / SUM_BYTES_A_SECOND));
    copy_call_feed(&host->call, &input);
}

static void judge_sum(struct pull_host *host, size_t entry, const char *sum)
{
    const struct tree_entry *there = &host->tree.items[entry];
    const size_t at = tree_find(&host->here.tree, there->path);
    struct error ignored = ERROR_INIT; /* on an error, the file is fetched */
    char own[65];

    if (push_source_sum(&host->here, at, own, &ignored) != 0 || strcmp(own, sum) != 0) {
        host->differences[entry] = TREE_CONTENT;
    } else if (host->differences[entry] == TREE_CONTENT) {
        host->differences[entry] = TREE_MODE;
    }
}

/* If a call did not return a checksum for every file, all its files are fetched. */
static int judge_sums(struct pull_host *host, const char *value, struct error *err)
{
    uint64_t count = 0;

    if (!text_to_uint(value, 1, host->sum_len - host->sum_at, &count)) {
        return error_set(err, &kind_node_answer, "the node reports checksums of '%s' files", value);
    }
    for (uint64_t i = 0; i < count; i++) {
        judge_sum(host, host->sum_queue[host->sum_at++], host->sums.len == count ? host->sums.items[i] : "?");
    }
    strlist_release(&host->sums);
    return 0;
}

/* For --delete: find local files below a source that is a folder on the host and lacks these files. */
static void find_extra(struct pull_host *host)
{
    const struct tree *here = &host->here.tree;
    const struct run_copy_request *request = host->pull->request;

    host->keep = xcalloc(here->len, sizeof(*host->keep));
    host->removable = xcalloc(here->len, sizeof(*host->removable));
    for (size_t i = 0; i < here->len; i++) {
        const char *path = here->items[i].path;
        bool inside = false;
        for (size_t k = 0; k < request->sources->len && !inside; k++) {
            AUTO_FREE char *folder = NULL;
            AUTO_FREE char *root = NULL;
            split_source(request->sources->items[k], &folder, &root);
            const size_t len = strlen(root);
            inside = strcmp(root, ".") == 0 || (strncmp(path, root, len) == 0 && path[len] == '/');
        }
        host->keep[i] = !request->delete_ || !inside || tree_find(&host->tree, path) != TREE_NONE ||
                        skip_covers(request->skip, path, here->items[i].kind == TREE_FOLDER);
    }
    host->end.removed = tree_find_removable(here, host->keep, host->removable);
}

/* The list is complete. */
static int compare(struct pull_host *host, struct error *err)
{
    tree_sort(&host->tree);
    if (check_meetings(host, err) != 0 || look_here(host, err) != 0) {
        return -1;
    }
    find_differences(host);
    find_extra(host);
    if (host->pull->request->checksum) {
        ask_sums(host);
    }
    return 0;
}

/* --- the list of the host --- */

/* Whether the path contains a name that push and pull use for their own files. */
static bool is_own(const char *path)
{
    while (path && !text_starts(path, TREE_OWN_PREFIX)) {
        path = strchr(path, '/');
        path = path ? path + 1 : NULL;
    }
    return path;
}

static int take_entry(struct pull_host *host, const struct tree_entry *there, struct error *err)
{
    const bool is_folder = there->kind == TREE_FOLDER;

    if (host->entries++ == TREE_ENTRIES_MAX) {
        return error_set(err, &kind_node_answer, "the node lists more than %d files", TREE_ENTRIES_MAX);
    }
    if (is_own(there->path)) {
        return 0;
    }
    host->found_any = true;
    if (there->kind == TREE_OTHER) {
        host->others++;
    } else if (!skip_covers(host->pull->request->skip, there->path, is_folder)) {
        struct tree_entry entry = *there;
        entry.source = host->source;
        tree_add(&host->tree, there->path, there->link, &entry);
    }
    return 0;
}

static int end_source(struct pull_host *host, struct error *err)
{
    const struct strlist *sources = host->pull->request->sources;

    if (host->source >= sources->len) {
        return error_set(err, &kind_node_answer, "the node lists more than was asked for");
    }
    const char *source = sources->items[host->source++];
    AUTO_FREE char *folder = NULL;
    AUTO_FREE char *root = NULL;
    split_source(source, &folder, &root);
    if (!host->found_any && (strcmp(root, ".") != 0 || host->missing)) {
        return error_set(err, &kind_file_failed, "there is no '%s'", source);
    }
    host->found_any = host->missing = false;
    if (host->source == sources->len) {
        return compare(host, err);
    }
    return 0;
}

static int on_list_event(void *ctx, struct copy_call *call, enum node_copy_event event, struct error *err)
{
    struct pull_host *host = ctx;

    const char *key = call->answer.key;

    if (event == NODE_COPY_ENTRY) {
        return take_entry(host, &call->answer.entry, err);
    }
    if (event == NODE_COPY_LISTED) {
        return end_source(host, err);
    }
    if (strcmp(key, "missing") == 0 && !host->missing) {
        host->missing = true;
    } else if (strcmp(key, "sum") == 0 && host->sums.len < host->sum_len - host->sum_at) {
        strlist_add(&host->sums, call->answer.value);
    } else if (strcmp(key, "summed") == 0) {
        return judge_sums(host, call->answer.value, err);
    } else if (strcmp(key, "finished") == 0 && !host->finished) {
        host->finished = true;
    } else {
        return copy_call_unexpected(call, err);
    }
    return 0;
}

static void report_dry_run(struct pull_host *host)
{
    const struct run_copy_observer *observer = observer_of(host);

    for (size_t i = 0; i < host->tree.len; i++) {
        if (host->differences[i] >= TREE_CONTENT) {
            observer->path(observer->ctx, host->call.host, "receive", host->tree.items[i].path);
            host->end.files_sent += host->tree.items[i].kind == TREE_FOLDER ? 0 : 1;
            host->end.bytes_sent += host->tree.items[i].size;
        }
    }
    for (size_t i = 0; i < host->here.tree.len; i++) {
        if (host->removable[i]) {
            observer->path(observer->ctx, host->call.host, "remove", host->here.tree.items[i].path);
        }
    }
}

/* --- before and after the contents --- */

static int remove_extra(struct pull_host *host, struct error *err)
{
    int result = 0;

    for (size_t i = host->here.tree.len; i-- > 0 && result == 0;) {
        if (host->removable[i]) {
            result = pull_store_remove(&host->store, &host->here.tree.items[i], err);
        }
    }
    return result;
}

/* Create folders and links, for which nothing more is needed from the host. */
static int make_places(struct pull_host *host, struct error *err)
{
    int result = 0;

    for (size_t i = 0; i < host->tree.len && result == 0; i++) {
        const struct tree_entry *entry = &host->tree.items[i];
        if (entry->kind == TREE_FOLDER) {
            result = pull_store_make_folder(&host->store, entry->path, err);
        } else if (entry->kind == TREE_LINK && host->differences[i] != TREE_SAME) {
            result = pull_store_make_link(&host->store, entry, err);
            host->end.files_sent++;
        } else if (entry->kind == TREE_FILE && host->differences[i] == TREE_MODE) {
            result = pull_store_set_file(&host->store, entry, err);
        }
    }
    return result;
}

static int set_folders(struct pull_host *host, struct error *err)
{
    int result = 0;

    for (size_t i = host->tree.len; i-- > 0 && result == 0;) {
        if (host->tree.items[i].kind == TREE_FOLDER) {
            result = pull_store_set_folder(&host->store, &host->tree.items[i], err);
        }
    }
    return result;
}

/* --- the end of a host --- */

void pull_finish(struct pull_host *host, const struct error *error)
{
    struct pull *pull = host->pull;
    const size_t index = host->call.host;
    struct error final = *error;

    if (!final.kind && host->changed > 0) {
        error_set(&final, &kind_file_failed, "'%s' changed while it was read%s", host->first_changed,
                  host->changed > 1 ? ", as did others" : "");
        error_hint(&final, "repeat the command when nothing writes there, or leave it out with --skip");
    }
    host->end.error = &final;
    host->end.elapsed_ms = (unsigned)clock_mono_ms() - host->end.elapsed_ms;
    observer_of(host)->ended(observer_of(host)->ctx, index, &host->end);
    host->over = true;
    pull_host_release(host);
    pull->progress.hosts_done++;
    pull->progress.compared = pull->progress.hosts_done == pull->progress.hosts_total;
    observer_of(host)->progress(observer_of(host)->ctx, &pull->progress);
    copy_hosts_done(&pull->hosts, index);
}

static void end_well(struct pull_host *host)
{
    struct error error = ERROR_INIT;

    if (set_folders(host, &error) == 0 && host->changed == 0) {
        pull_store_remove_parts(&host->store);
    }
    pull_finish(host, &error);
}

/* --- contents --- */

/* Choose the next files of one source, or one large file. false: there are none. */
static bool choose_batch(struct pull_host *host)
{
    uint64_t bytes = 0;

    host->batch_len = 0;
    for (; host->next < host->tree.len && host->batch_len < BATCH_FILES; host->next++) {
        const struct tree_entry *entry = &host->tree.items[host->next];
        if (entry->kind != TREE_FILE || host->differences[host->next] < TREE_CONTENT) {
            continue;
        }
        const bool other = host->batch_len > 0 && host->tree.items[host->batch[0]].source != entry->source;
        if (other || (host->batch_len > 0 && bytes + entry->size > BATCH_BYTES)) {
            break;
        }
        host->batch[host->batch_len++] = host->next;
        bytes += entry->size;
    }
    return host->batch_len > 0;
}

void pull_next(struct pull_host *host)
{
    if (host->pull->hosts.signals > 0 || !choose_batch(host)) {
        struct error error = ERROR_INIT;
        if (host->pull->hosts.signals > 0) {
            copy_hosts_set_signalled(&host->pull->hosts, "", &error);
            pull_finish(host, &error);
        } else {
            end_well(host);
        }
        return;
    }
    pull_fetch(host);
}

void pull_add_open(const struct pull_host *host, size_t source, struct str *text)
{
    AUTO_FREE char *folder = NULL;
    AUTO_FREE char *root = NULL;

    split_source(host->pull->request->sources->items[source], &folder, &root);
    add_open(text, folder);
}

/* --- one host --- */

static int begin_contents(struct pull_host *host, struct error *err)
{
    char *folder =
        path_join(host->pull->request->target, host->pull->request->labels->items[host->call.host]);

    host->batch = xcalloc(BATCH_FILES, sizeof(*host->batch));
    if (pull_store_open(&host->store, folder, err) != 0) {
        return -1;
    }
    return remove_extra(host, err) == 0 && make_places(host, err) == 0 ? 0 : -1;
}

static void begin_fetching(struct pull_host *host, struct error *err)
{
    for (size_t i = 0; i < host->tree.len; i++) {
        if (host->differences[i] >= TREE_CONTENT) {
            host->pull->progress.bytes_total += host->tree.items[i].size;
        }
    }
    if (host->others > 0) {
        AUTO_FREE char *text = xasprintf("%s: devices, pipes and sockets are not copied: %zu of the source",
                                         host->pull->request->labels->items[host->call.host], host->others);
        observer_of(host)->warn(observer_of(host)->ctx, text);
    }
    if (host->pull->request->dry_run) {
        report_dry_run(host);
    } else {
        begin_contents(host, err);
    }
}

static void on_list_ended(void *ctx, struct copy_call *call, const struct error *error, bool started)
{
    struct pull_host *host = ctx;
    struct error final = *error;

    (void)call;
    (void)started;
    if (!final.kind && !host->finished) {
        error_set(&final, &kind_node_answer, "the list of files there ended early");
    }
    if (!final.kind) {
        begin_fetching(host, &final);
    }
    if (final.kind || host->pull->request->dry_run) {
        pull_finish(host, &final);
    } else {
        pull_next(host);
    }
}

static void on_list_room(void *ctx, struct copy_call *call)
{
    struct pull_host *host = ctx;

    if (!host->asked_list) {
        host->asked_list = true;
        feed_list(host);
    } else if (!host->pull->request->checksum || host->sum_queue) {
        copy_call_end_input(call);
    }
}

static void begin_host(void *ctx, size_t index)
{
    static const struct copy_call_handler handler = {
        .event = on_list_event, .drained = on_list_room, .ended = on_list_ended};
    struct pull *pull = ctx;
    struct pull_host *host = &pull->items[index];
    const struct copy_call_place place = copy_hosts_place(&pull->hosts, index);

    host->end.elapsed_ms = (unsigned)clock_mono_ms();
    host->begun = true;
    host->call =
        (struct copy_call){.fleet = pull->hosts.fleet, .host = index, .handler = &handler, .ctx = host};
    copy_call_begin(&host->call, &place);
}

/* --- all of them --- */

static void stop(void *ctx, const struct error *error)
{
    struct pull *pull = ctx;

    for (size_t i = 0; i < pull->hosts.next; i++) {
        if (!pull->items[i].over) {
            copy_call_stop(&pull->items[i].call, error);
        }
    }
}

static void on_tick(void *ctx)
{
    struct pull *pull = ctx;

    pull->request->observer->progress(pull->request->observer->ctx, &pull->progress);
}

static void report_rest(struct pull *pull)
{
    struct error error = ERROR_INIT;

    for (size_t i = 0; i < pull->request->count; i++) {
        struct pull_host *host = &pull->items[i];
        if (!host->over) {
            copy_hosts_set_signalled(&pull->hosts, "", &error);
            host->end.error = &error;
            host->end.elapsed_ms = 0;
            pull->request->observer->ended(pull->request->observer->ctx, i, &host->end);
        }
    }
}

/* Each host's files go into a separate folder: its label must be a valid name, and unique. */
static int check_labels(const struct run_copy_request *request, struct error *err)
{
    for (size_t i = 0; i < request->count; i++) {
        const char *label = request->labels->items[i];
        if (!tree_path_is_safe(label) || strchr(label, '/')) {
            return error_set(err, &kind_usage, "the name of host '%s' cannot be a folder's name", label);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(label, request->labels->items[k]) == 0) {
                error_set(err, &kind_usage, "two hosts of the list are named '%s'", label);
                return error_hint(err,
                                  "their files would end up in the same folder: pull from one at a time");
            }
        }
    }
    return 0;
}

int run_pull(const struct run_copy_request *request, struct error *err)
{
    struct pull pull = {.request = request,
                        .hosts = {.request = request, .begin = begin_host, .stop = stop, .tick = on_tick},
                        .progress = {.hosts_total = request->count}};

    pull.hosts.ctx = &pull;
    if (check_labels(request, err) != 0 || copy_hosts_open(&pull.hosts, err) != 0) {
        return -1;
    }
    pull.items = xcalloc(request->count, sizeof(*pull.items));
    for (size_t i = 0; i < request->count; i++) {
        pull.items[i].pull = &pull;
        pull.items[i].store.fd = -1;
    }
    const int result = copy_hosts_run(&pull.hosts, err);
    report_rest(&pull);
    copy_hosts_release(&pull.hosts);
    for (size_t i = 0; i < request->count; i++) {
        pull_host_release(&pull.items[i]);
    }
    free(pull.items);
    return result;
}
