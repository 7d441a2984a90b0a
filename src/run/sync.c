/* Pushes the files of a job to its nodes before a start. */
#include "run/sync.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/kind.h"
#include "run/workdir.h"
#include "sync_git_internal.h"

/* --- check whether the folder is in use --- */

static bool has_host(const struct run *run, const struct hostlist *hosts)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        for (size_t k = 0; k < hosts->len; k++) {
            if (strcmp(run->nodes[i].host.name, hosts->items[k].name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool works_in(const struct run *run, const struct run_sync_request *request,
                     const struct strlist *targets)
{
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    struct hostlist hosts = HOSTLIST_INIT;
    struct error ignored = ERROR_INIT;
    bool found = false;

    if (!has_host(run, request->hosts)) {
        return false;
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        hosts.items = xgrow(hosts.items, hosts.len, &hosts.cap, sizeof(hosts.items[0]));
        host_copy(&hosts.items[hosts.len++], &run->nodes[i].host);
    }
    if (workdir_of_run(run, &hosts, &folders, &ignored) == 0) {
        for (size_t i = 0; i < folders.len && !found; i++) {
            for (size_t k = 0; k < targets->len && !found; k++) {
                const size_t len = strlen(targets->items[k]);
                found = strncmp(folders.items[i], targets->items[k], len) == 0 &&
                        (folders.items[i][len] == '\0' || folders.items[i][len] == '/' || len == 0);
            }
        }
    }
    hostlist_release(&hosts);
    return found;
}

/* Refuse the push if the folder of a live run on one of the hosts is the target or is inside it. */
static int check_at_rest(const struct run_sync_request *request, const struct strlist *targets,
                         struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;

    if (run_store_names(request->store, &names, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < names.len; i++) {
        struct run run;
        /* a record that cannot be read is reported by the command that needs it */
        struct error ignored = ERROR_INIT;
        if (request->run && strcmp(names.items[i], request->run->name) == 0) {
            continue;
        }
        if (run_store_load(request->store, names.items[i], &run, &ignored) != 0) {
            continue;
        }
        const bool live = run_state_is_live(run.state) && works_in(&run, request, targets);
        run_release(&run);
        if (live) {
            error_set(err, &kind_run_live, "the live run '%s' uses the folder of 'sync'", names.items[i]);
            return error_hint(err, "stop it: mtlaunch stop %s; or start without a sync: --no-sync",
                              names.items[i]);
        }
    }
    return 0;
}

/* --- paths that are never removed --- */

/*
 * Keep the artifacts folder, as a path below the target. Both paths may begin at a home folder that only the
 * node knows, so every way in which they may overlap is covered: it is better to keep too much than too
 * little.
 */
static void add_kept(const char *artifacts, const char *target, struct strlist *keep)
{
    const size_t target_len = strlen(target);
    const char *open = strstr(artifacts, "${{");
    AUTO_FREE char *path = open ? xstrndup(artifacts, (size_t)(open - artifacts)) : xstrdup(artifacts);
    const char *below = text_starts(path, "~/") ? path + 2 : path;

    for (size_t len = strlen(path); len > 0 && path[len - 1] == '/'; len--) {
        path[len - 1] = '\0';
    }
    if (strncmp(path, target, target_len) == 0 && path[target_len] == '/') {
        strlist_add(keep, path + target_len + 1);
    }
    if (below[0] == '/' || below[0] == '\0') {
        return;
    }
    strlist_add(keep, below);
    for (const char *at = strchr(below, '/'); at; at = strchr(at + 1, '/')) {
        AUTO_FREE char *head = xstrndup(below, (size_t)(at - below));
        if (text_ends(target, head)) {
            strlist_add(keep, at + 1);
        }
    }
}

/* --- the push --- */

/* Passes the reports of the push on, and adds up its results. */
struct sums {
    const struct run_copy_observer *next;
    struct run_synced *synced;
    struct error *failures; /* one per host; NULL: not wanted */
    struct error worst;
    size_t failed;
};

static void on_progress(void *ctx, const struct run_copy_progress *progress)
{
    const struct sums *sums = ctx;

    sums->next->progress(sums->next->ctx, progress);
}

static void on_ended(void *ctx, size_t host, const struct run_copy_end *end)
{
    struct sums *sums = ctx;

    sums->synced->files += end->files_sent;
    sums->synced->bytes += end->bytes_sent;
    if (end->error->kind) {
        sums->failed++;
        if (sums->failures) {
            sums->failures[host] = *end->error;
        }
        if (!sums->worst.kind || kind_worse_code(sums->worst.kind->exit_code, end->error->kind->exit_code) !=
                                     sums->worst.kind->exit_code) {
            sums->worst = *end->error;
        }
    }
    sums->next->ended(sums->next->ctx, host, end);
}

static void on_warn(void *ctx, const char *text)
{
    const struct sums *sums = ctx;

    sums->next->warn(sums->next->ctx, text);
}

static void on_path(void *ctx, size_t host, const char *what, const char *path)
{
    const struct sums *sums = ctx;

    sums->next->path(sums->next->ctx, host, what, path);
}

static int push(const struct run_sync_request *request, const struct run_copy_request *copy,
                struct run_synced *out, struct error *failures, struct error *err)
{
    struct sums sums = {.next = request->observer, .synced = out, .failures = failures};
    const struct run_copy_observer observer = {
        .ctx = &sums, .progress = on_progress, .ended = on_ended, .warn = on_warn, .path = on_path};
    struct run_copy_request own = *copy;
    const int64_t began_ms = clock_mono_ms();

    own.observer = &observer;
    if (run_push(&own, err) != 0) {
        return -1;
    }
    out->done = true;
    out->took_ms = (unsigned)(clock_mono_ms() - began_ms);
    if (sums.failed > 0) {
        error_set(err, sums.worst.kind, "could not push the files of 'sync' to %zu of %zu hosts", sums.failed,
                  copy->count);
        return error_hint(err,
                          "look at the messages above; 'mtlaunch start --no-sync' starts without a push");
    }
    return 0;
}

/* Find the folder to ask git about, and the prefix of its paths in the copy. */
static void split_from(const char *from, char **folder, char **prefix)
{
    const size_t len = strlen(from);
    const char *last = strrchr(from, '/');
    struct stat what;

    if (from[len - 1] == '/' || strcmp(last ? last + 1 : from, ".") == 0) {
        *folder = xstrdup(from);
        *prefix = xstrdup("");
    } else if (stat(from, &what) == 0 && S_ISDIR(what.st_mode)) {
        *folder = xstrdup(from);
        *prefix = xasprintf("/%s", last ? last + 1 : from);
    } else { /* one file */
        *folder = last ? xstrndup(from, (size_t)(last - from) + 1) : xstrdup(".");
        *prefix = xstrdup("");
    }
}

int run_sync(const struct run_sync_request *request, struct run_synced *out, struct error *failures,
             struct error *err)
{
    const struct job *job = request->job;
    const struct job_sync *sync = &job->sync;
    AUTO_STRLIST struct strlist folders = STRLIST_INIT, targets = STRLIST_INIT, labels = STRLIST_INIT;
    AUTO_STRLIST struct strlist sources = STRLIST_INIT, skip = STRLIST_INIT, keep = STRLIST_INIT;
    AUTO_FREE char *git = NULL;
    AUTO_FREE char *prefix = NULL;

    if (workdir_of_job(job, request->hosts, request->run, &folders, err) != 0) {
        return -1;
    }
    strlist_add(&keep, ".mtlaunch");
    for (size_t i = 0; i < folders.len; i++) {
        const bool joined = sync->to && sync->to[0] != '/' && sync->to[0] != '~';
        AUTO_FREE char *target = joined ? xasprintf("%s/%s", folders.items[i], sync->to)
                                        : xstrdup(sync->to ? sync->to : folders.items[i]);
        strlist_add(&targets, target);
        if (job->artifacts) {
            add_kept(job->artifacts, target, &keep);
        }
    }
    split_from(sync->from, &git, &prefix);
    strlist_copy(&skip, &sync->exclude);
    if (check_at_rest(request, &targets, err) != 0 ||
        (sync->git && sync_git_ignored(git, prefix, &skip, err) != 0)) {
        return -1;
    }
    hostlist_labels(request->hosts, &labels);
    strlist_add(&sources, sync->from);
    const struct run_copy_request copy = {
        .endpoints = request->endpoints,
        .labels = &labels,
        .count = request->hosts->len,
        .sources = &sources,
        .target = sync->to ? sync->to : ".",
        .bases = (const char *const *)folders.items,
        .container = job->place.container ? &job->place : NULL,
        .skip = &skip,
        .keep = &keep,
        .git = sync->git ? git : NULL,
        .delete_ = sync->delete_,
        .fanout = request->fanout,
        .connect_timeout_ms = request->connect_timeout_ms,
    };
    const int result = push(request, &copy, out, failures, err);
    out->commit = result == 0 ? sync_git_commit(git, &out->dirty) : NULL;
    return result;
}
