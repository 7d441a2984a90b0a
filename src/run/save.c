/* `logs --save`: writes the whole logs of a run's nodes to files on this machine, several nodes at once. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "save_internal.h"
#include "tails_internal.h"

#define TICK_MS 500

struct save {
    struct run_context *context;
    const struct run *run;
    struct save_file *files; /* one per node of the run; path NULL: not selected */
    char *folder;            /* absolute, for the record */
    json_t *record;
    const char *identity; /* RUN_ID.ATTEMPT */
};

static char *file_name(const struct run *run, size_t node)
{
    AUTO_STR struct str name = STR_INIT;
    str_addf(&name, "%s_node%u.log", run->name, run->nodes[node].rank);
    return xstrdup(str_text(&name));
}

static void note(struct save *save, size_t node)
{
    AUTO_FREE char *name = file_name(save->run, node);
    AUTO_FREE char *path = path_join(save->folder, name);
    json_object_set_new(save->record, path, json_string(save->identity));
}

/* --- callbacks of the tails --------------------------------------------------------------------- */

static uint64_t on_offset(void *ctx, size_t node)
{
    const struct save *save = ctx;
    return save_file_offset(&save->files[node]);
}

static int on_begin(void *ctx, size_t node, uint64_t size, struct error *err)
{
    struct save *save = ctx;
    struct save_file *file = &save->files[node];
    const bool moves = file->reason != SAVE_CONTINUED && !file->older;
    const int result = save_file_begin(file, size, err);
    if (result == 0 && moves) {
        note(save, node);
        return save_record_write(save->context->store, save->run->name, save->record, err);
    }
    return result;
}

static int on_body(void *ctx, size_t node, const char *bytes, size_t len, struct error *err)
{
    struct save *save = ctx;
    return save_file_feed(&save->files[node], bytes, len, err);
}

static int on_end(void *ctx, size_t node, struct error *err)
{
    struct save *save = ctx;
    save->files[node].ended = true;
    return save_file_end(&save->files[node], err);
}

/* --- saving ------------------------------------------------------------------------------------- */

static int open_folder(struct save *save, const char *folder, struct error *err)
{
    if (file_make_dirs(folder, 0777, err) != 0) {
        return -1;
    }
    char *absolute = realpath(folder, NULL);
    if (!absolute || access(absolute, W_OK | X_OK) != 0) {
        error_set_errno(err, &kind_local, errno, "cannot write to '%s'", folder);
        free(absolute);
        return error_hint(err, "name a folder for --save that you can write to");
    }
    save->folder = absolute;
    return 0;
}

/* New files are recorded before they are created, so that they are known even if this process dies. */
static int prepare_files(struct save *save, const char *folder, const bool *selected, struct error *err)
{
    const struct run *run = save->run;
    bool changed = false;
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (!selected[i]) {
            continue;
        }
        AUTO_FREE char *name = file_name(run, i);
        AUTO_FREE char *absolute = path_join(save->folder, name);
        const char *known = save_record_get(save->record, absolute);
        struct save_file *file = &save->files[i];
        save_file_init(file, path_join(folder, name), known, save->identity);
        if (file->reason == SAVE_CONTINUED && (!known || strcmp(known, save->identity) != 0)) {
            note(save, i);
            changed = true;
        }
    }
    return changed ? save_record_write(save->context->store, run->name, save->record, err) : 0;
}

static void report_reasons(const struct save *save)
{
    static const char *const reasons[SAVE_REASONS] = {
        [SAVE_UNKNOWN] = "the file that was there was not saved from this run",
        [SAVE_ATTEMPT] = "the file that was there contains another attempt",
        [SAVE_SHORTER] = "the log became shorter than the file that was there",
        [SAVE_CHANGED] = "the file that was there differs from the log",
    };
    const struct run *run = save->run;
    for (size_t reason = SAVE_UNKNOWN; reason < SAVE_REASONS; reason++) {
        AUTO_STRLIST struct strlist labels = STRLIST_INIT;
        AUTO_STR struct str names = STR_INIT;
        const char *older = NULL;
        for (size_t i = 0; i < run->nodes_len; i++) {
            if (save->files[i].older && save->files[i].reason == reason) {
                strlist_add(&labels, run->nodes[i].label);
                older = save->files[i].older;
            }
        }
        if (labels.len == 0) {
            continue;
        }
        hostlist_fold_names(labels.items, labels.len, &names);
        report_warn(save->context, "%s: %s; the log is saved to a new file, and the old one is kept%s '%s'",
                    str_text(&names), reasons[reason], labels.len > 1 ? ", as in" : " as", older);
    }
}

static void fill_result(struct save *save, const struct tails *tails, struct run_saved *saved)
{
    const struct run *run = save->run;
    const struct node_failures *failures = tails_failures(tails);
    const struct strlist *missing = tails_missing(tails);
    saved->items = xcalloc(run->nodes_len, sizeof(*saved->items));
    for (size_t i = 0; i < run->nodes_len; i++) {
        struct save_file *file = &save->files[i];
        if (!file->path) {
            continue;
        }
        struct run_saved_log *log = &saved->items[saved->len++];
        const bool is_missing = strlist_has(missing, run->nodes[i].label);
        *log = (struct run_saved_log){
            .host = xstrdup(run->nodes[i].label),
            .rank = run->nodes[i].rank,
            .path = xstrdup(file->path),
            .older = file->older ? xstrdup(file->older) : NULL,
            .bytes = file->had + file->added,
            .added = file->added,
            .error = failures->errors[i],
            .complete = file->ended && !is_missing && !failures->errors[i].kind,
        };
    }
}

static int outcome(const struct save *save, const struct node_set *set, const struct tails *tails,
                   struct error *err)
{
    const struct node_failures *failures = tails_failures(tails);
    const struct strlist *missing = tails_missing(tails);
    struct error worst = ERROR_INIT;
    report_reasons(save);
    if (missing->len > 0) {
        AUTO_STR struct str names = STR_INIT;
        hostlist_fold_names(missing->items, missing->len, &names);
        report_warn(set->context, "%s: no log of this attempt", str_text(&names));
    }
    if (node_set_is_interrupted(set)) {
        return node_set_interrupted_error(set, err);
    }
    node_failures_report(failures, set->context, &worst);
    if (failures->count == 0) {
        return 0;
    }
    error_set(err, worst.kind, "could not save %zu of %zu logs of run '%s' to the end", failures->count,
              save->run->nodes_len, save->run->name);
    return error_hint(err, "repeat the command: it resumes where it stopped");
}

static int save_from_nodes(struct save *save, const struct run_logs_request *request, const bool *selected,
                           struct run_saved *saved, struct error *err)
{
    const struct tails_sink sink = {
        .ctx = save, .offset = on_offset, .begin = on_begin, .body = on_body, .end = on_end};
    const struct node_tail_options options = {.attempt = request->attempt, .from = NODE_TAIL_ALL};
    struct node_set set;
    int result = node_set_open_run(&set, save->context, save->run, err);
    if (result == 0) {
        struct tails *tails = tails_open(&set, save->run, selected, &options, &sink);
        while (tails_left(tails) > 0 && !node_set_is_interrupted(&set)) {
            node_set_pause(&set, TICK_MS);
        }
        result = outcome(save, &set, tails, err);
        fill_result(save, tails, saved);
        node_set_close(&set);
        tails_free(tails);
    } else {
        node_set_close(&set);
    }
    return result;
}

static int save_run(struct save *save, const struct run_logs_request *request, const char *folder,
                    struct run_saved *saved, struct error *err)
{
    const struct run *run = save->run;
    AUTO_FREE bool *selected = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_STR struct str identity = STR_INIT;
    if (run_logs_select(run, request, selected, err) != 0 || open_folder(save, folder, err) != 0) {
        return -1;
    }
    saved->attempt = request->attempt ? request->attempt : run->attempt;
    str_addf(&identity, "%s.%u", run->id, saved->attempt);
    save->identity = str_text(&identity);
    save->record = save_record_load(save->context->store, run->name);
    save->files = xcalloc(run->nodes_len, sizeof(*save->files));
    for (size_t i = 0; i < run->nodes_len; i++) {
        save->files[i].fd = -1;
    }
    int result = prepare_files(save, folder, selected, err);
    if (result == 0) {
        result = save_from_nodes(save, request, selected, saved, err);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        save_file_release(&save->files[i]);
    }
    free(save->files);
    json_decref(save->record);
    return result;
}

int run_logs_save(struct run_context *context, const char *name, const struct run_logs_request *request,
                  const char *folder, struct run_saved *saved, struct error *err)
{
    struct run run;
    *saved = (struct run_saved){0};
    if (run_store_load(context->store, name, &run, err) != 0) {
        return -1;
    }
    struct save save = {.context = context, .run = &run};
    const int result = save_run(&save, request, folder, saved, err);
    free(save.folder);
    run_release(&run);
    return result;
}

void run_saved_release(struct run_saved *saved)
{
    for (size_t i = 0; i < saved->len; i++) {
        free(saved->items[i].host);
        free(saved->items[i].path);
        free(saved->items[i].older);
    }
    free(saved->items);
    *saved = (struct run_saved){0};
}
