/* Makes the input for a host step by step: preparation, archives, moves, modes, removals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/str.h"
#include "push_internal.h"

#define BATCH_BYTES (32u << 20) /* a lost connection costs at most this much */
#define BATCH_FILES 2000

static const struct tree *tree_of(const struct push_host *host)
{
    return &host->push->source.tree;
}

static void touch_parent(struct push_host *host, size_t entry)
{
    const size_t parent = host->push->source.parents[entry];

    if (parent != TREE_NONE) {
        host->states[parent].touched = true;
    }
}

/* --- before and after the files --- */

/* Remove extra paths: first files, then folders in an order in which each is empty by then. */
static void add_removals(struct push_host *host, struct str *text, const char *below)
{
    const struct tree *extra = &host->extra;
    AUTO_FREE const char **files = xcalloc(extra->len, sizeof(*files));
    AUTO_FREE const char **folders = xcalloc(extra->len, sizeof(*folders));
    size_t files_len = 0, folders_len = 0;
    const size_t len = below ? strlen(below) : 0;

    for (size_t i = extra->len; i-- > 0;) {
        const struct tree_entry *entry = &extra->items[i];
        if (!host->removable[i] ||
            (below && (strncmp(entry->path, below, len) != 0 || entry->path[len] != '/'))) {
            continue;
        }
        if (entry->kind == TREE_FOLDER) {
            folders[folders_len++] = entry->path;
        } else {
            files[files_len++] = entry->path;
        }
        if (below) {
            host->removable[i] = false; /* already removed by then */
        }
    }
    node_copy_calls(text, NODE_COPY_REMOVE, NULL, files, files_len);
    node_copy_calls(text, NODE_COPY_REMOVE_FOLDERS, NULL, folders, folders_len);
}

/* Mark the folders whose content will change. */
static void find_touched(struct push_host *host)
{
    const struct tree *tree = tree_of(host), *extra = &host->extra;

    for (size_t i = 0; i < tree->len; i++) {
        if (push_is_needed(&host->states[i])) {
            touch_parent(host, i);
        }
    }
    for (size_t i = 0; i < extra->len; i++) {
        const char *path = extra->items[i].path, *last = strrchr(path, '/');
        if (!host->removable[i] || !last) {
            continue;
        }
        AUTO_FREE char *above = xstrndup(path, (size_t)(last - path));
        const size_t parent = tree_find(tree, above);
        if (parent != TREE_NONE) {
            host->states[parent].touched = true;
        }
    }
}

/* Make those of them writable whose modes do not allow it. A folder comes before its content. */
static void add_make_writable(struct push_host *host, struct str *text)
{
    const struct tree *tree = tree_of(host), *extra = &host->extra;
    AUTO_FREE const char **locked = xcalloc(tree->len + extra->len, sizeof(*locked));
    size_t len = 0;

    for (size_t i = 0; i < tree->len; i++) {
        if (host->states[i].locked && host->states[i].touched) {
            locked[len++] = tree->items[i].path;
        }
    }
    for (size_t i = 0; i < extra->len; i++) {
        const struct tree_entry *entry = &extra->items[i];
        if (host->removable[i] && entry->kind == TREE_FOLDER && (entry->mode & 0700) != 0700) {
            locked[len++] = entry->path;
        }
    }
    node_copy_calls(text, NODE_COPY_MAKE_WRITABLE, NULL, locked, len);
}

static void prepare(struct push_host *host, struct str *out)
{
    const struct tree *tree = tree_of(host);
    AUTO_STR struct str text = STR_INIT;

    find_touched(host);
    node_copy_call(&text, NODE_COPY_OPEN, (const char *const[]){host->push->request->target, "1"}, 2);
    add_make_writable(host, &text);
    for (size_t i = 0; i < tree->len; i++) {
        if (host->states[i].difference == TREE_KIND) {
            add_removals(host, &text, tree->items[i].path);
            node_copy_call(&text, NODE_COPY_CLEAR, (const char *const[]){tree->items[i].path}, 1);
        }
    }
    const bool joins = push_relay_is_wanted(host);
    if (joins) {
        push_relay_add_open(host, &text);
    } else {
        push_decide(host);
    }
    node_copy_add_run(out, &text);
    host->step = joins ? PUSH_JOIN : PUSH_BATCH;
}

void push_stamp(const struct tree_entry *entry, char stamp[64])
{
    struct tm parts;
    const time_t seconds = (time_t)entry->mtime;

    if (!gmtime_r(&seconds, &parts) || strftime(stamp, 64, "%Y%m%d%H%M.%S", &parts) == 0) {
        snprintf(stamp, 64, "197001010000.00");
    }
}

static void set_modes(struct push_host *host, struct str *out)
{
    const struct tree *tree = tree_of(host);
    AUTO_STR struct str text = STR_INIT;

    for (size_t i = 0; i < tree->len; i++) {
        const struct tree_entry *entry = &tree->items[i];
        if (host->states[i].difference != TREE_MODE || entry->kind != TREE_FILE) {
            continue;
        }
        char mode[16];
        snprintf(mode, sizeof(mode), "%04o", entry->mode);
        node_copy_call(&text, NODE_COPY_SET_MODE, (const char *const[]){mode, entry->path}, 2);
        if (host->states[i].set_time) {
            char stamp[64];
            push_stamp(entry, stamp);
            node_copy_call(&text, NODE_COPY_SET_TIME, (const char *const[]){stamp, entry->path}, 2);
        }
    }
    node_copy_add_run(out, &text);
    host->step = PUSH_REMOVE;
}

static void remove_extra(struct push_host *host, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;

    add_removals(host, &text, NULL);
    node_copy_add_run(out, &text);
    host->step = PUSH_FOLDERS;
}

/* busybox's tar keeps the write permission of the owner on folders, so it is removed here. */
static void close_folders(struct push_host *host, const size_t *folders, size_t len, struct str *out)
{
    const struct tree *tree = tree_of(host);
    AUTO_STR struct str text = STR_INIT;
    char mode[16];

    for (size_t i = len; i-- > 0;) {
        const struct tree_entry *entry = &tree->items[folders[i]];
        if ((entry->mode & 0200) == 0) {
            snprintf(mode, sizeof(mode), "%04o", entry->mode);
            node_copy_call(&text, NODE_COPY_CLOSE_FOLDER, (const char *const[]){mode, entry->path}, 2);
        }
    }
    node_copy_add_run(out, &text);
}

/*
 * Set modes and times of folders: writing into them changed their times, and new ones were created writable.
 */
static void set_folders(struct push_host *host, struct str *out)
{
    const struct tree *tree = tree_of(host);
    AUTO_FREE size_t *folders = xcalloc(tree->len, sizeof(*folders));
    size_t len = 0;

    for (size_t i = 0; i < tree->len; i++) {
        const struct push_state *state = &host->states[i];
        if (tree->items[i].kind == TREE_FOLDER && (state->difference != TREE_SAME || state->touched)) {
            folders[len++] = i;
        }
    }
    host->step = PUSH_STAY;
    if (len == 0) {
        return;
    }
    struct push_tar *tar = push_tar_new();
    node_copy_add_folders(out, push_tar_size(tree, folders, len));
    /* inner folders first: the outer one may be closed by its mode afterwards */
    for (size_t i = len; i-- > 0;) {
        push_tar_header(tar, &tree->items[folders[i]], tree->items[folders[i]].mode, out);
    }
    push_tar_end(tar, out);
    push_tar_free(tar);
    close_folders(host, folders, len, out);
}

static void finish(struct push_host *host, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;

    node_copy_call(&text, NODE_COPY_TELL, (const char *const[]){"finished", "1"}, 2);
    node_copy_add_run(out, &text);
    host->step = PUSH_OVER;
}

/* --- the files --- */

static void begin_batch(struct push_host *host, struct str *out)
{
    const struct tree *tree = tree_of(host);
    uint64_t bytes = 0;

    if (!host->batch) {
        host->batch = xcalloc(BATCH_FILES, sizeof(*host->batch));
        host->batch_torn = xcalloc(BATCH_FILES, sizeof(*host->batch_torn));
    }
    host->batch_len = 0;
    for (; host->next < tree->len && host->batch_len < BATCH_FILES && bytes < BATCH_BYTES; host->next++) {
        if (push_is_needed(&host->states[host->next])) {
            host->batch_torn[host->batch_len] = false;
            host->batch[host->batch_len++] = host->next;
            bytes += tree->items[host->next].size;
        }
    }
    if (host->batch_len == 0) {
        host->step = PUSH_MODES;
        return;
    }
    node_copy_add_tar(out, push_tar_size(tree, host->batch, host->batch_len));
    push_archive_begin(&host->archive, &host->push->source, host->batch, host->batch_len, host->batch_torn);
    host->step = PUSH_FILES;
}

static void add_files(struct push_host *host, struct str *out)
{
    const uint64_t before = host->archive.contents;
    const bool more = push_archive_fill(&host->archive, out);

    host->push->progress.bytes_done += host->archive.contents - before;
    if (!more) {
        push_archive_release(&host->archive);
        host->step = PUSH_MOVE;
    }
}

struct move {
    size_t folder, entry;
};

static int compare_moves(const void *a, const void *b)
{
    const struct move *left = a, *right = b;
    const size_t one = left->folder + 1, two = right->folder + 1; /* TREE_NONE, the top, comes first */

    if (one != two) {
        return one < two ? -1 : 1;
    }
    return left->entry < right->entry ? -1 : 1;
}

static void add_move_calls(struct push_host *host, const struct move *moves, size_t len, struct str *text)
{
    const struct tree *tree = tree_of(host);
    AUTO_FREE const char **paths = xcalloc(len, sizeof(*paths));

    for (size_t i = 0; i < len;) {
        const size_t folder = moves[i].folder;
        size_t count = 0;
        for (; i < len && moves[i].folder == folder; i++) {
            paths[count++] = tree->items[moves[i].entry].path;
        }
        node_copy_calls(text, NODE_COPY_MOVE, folder == TREE_NONE ? "." : tree->items[folder].path, paths,
                        count);
    }
}

/* Entries whose folder exists on the host are moved; the others move with their folder. */
void push_add_moves(struct push_host *host, const size_t *entries, size_t count, struct str *text)
{
    const struct push_source *source = &host->push->source;
    const struct tree *tree = tree_of(host);
    AUTO_FREE struct move *moves = xcalloc(count, sizeof(*moves));
    size_t len = 0;
    char done[64];

    for (size_t i = 0; i < count; i++) {
        const size_t entry = entries[i], parent = source->parents[entry];
        if (host->states[entry].torn) {
            node_copy_call(text, NODE_COPY_DROP, (const char *const[]){tree->items[entry].path}, 1);
            if (host->torn++ == 0) {
                host->first_torn = tree->items[entry].path;
            }
            continue;
        }
        if (parent == TREE_NONE || host->states[parent].there) {
            moves[len++] = (struct move){parent, entry};
        }
        host->sent_files += tree->items[entry].kind == TREE_FOLDER ? 0 : 1;
        host->sent_bytes += tree->items[entry].size;
    }
    qsort(moves, len, sizeof(*moves), compare_moves);
    add_move_calls(host, moves, len, text);
    for (size_t i = 0; i < count; i++) {
        host->states[entries[i]].there = !host->states[entries[i]].torn;
    }
    snprintf(done, sizeof(done), "%zu %llu", host->sent_files, (unsigned long long)host->sent_bytes);
    host->done_asked++;
    node_copy_call(text, NODE_COPY_EMPTY_ROOM, NULL, 0);
    node_copy_call(text, NODE_COPY_TELL, (const char *const[]){"done", done}, 2);
}

static void move_batch(struct push_host *host, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;

    for (size_t i = 0; i < host->batch_len; i++) {
        host->states[host->batch[i]].torn = host->batch_torn[i];
    }
    push_add_moves(host, host->batch, host->batch_len, &text);
    node_copy_add_run(out, &text);
    host->step = PUSH_BATCH;
}

void push_fill(struct push_host *host, struct str *out)
{
    static void (*const steps[])(struct push_host *, struct str *) = {
        [PUSH_PREPARE] = prepare,      [PUSH_BATCH] = begin_batch,
        [PUSH_FILES] = add_files,      [PUSH_MOVE] = move_batch,
        [PUSH_JOIN] = push_relay_wait, [PUSH_PIECE] = push_relay_choose,
        [PUSH_SEND] = push_relay_send, [PUSH_FETCH] = push_relay_wait,
        [PUSH_TAKE] = push_relay_take, [PUSH_MODES] = set_modes,
        [PUSH_REMOVE] = remove_extra,  [PUSH_FOLDERS] = set_folders,
        [PUSH_STAY] = push_relay_stay, [PUSH_END] = finish,
    };

    host->waits = false;
    if (host->step != PUSH_SEND) {
        push_relay_add_control(host, out);
    }
    while (host->step != PUSH_OVER && !host->waits && out->len < PUSH_FEED) {
        steps[host->step](host, out);
    }
}
