/* Finds job files by path or by name. */
#include "input/joblookup.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/strlist.h"
#include "base/text.h"
#include "model/kind.h"

#define NEAREST_MAX 4096 /* names compared for a hint */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

static bool has_suffix(const char *name)
{
    return text_ends(name, ".yaml") || text_ends(name, ".yml");
}

/* The folders to look in, in order, as people know them. */
static void list_folders(const char *jobs_path, const char *home, struct strlist *folders)
{
    strlist_add(folders, "./");
    strlist_add(folders, "./jobs/");
    for (const char *at = jobs_path; at && *at != '\0';) {
        size_t len = strcspn(at, ":");
        if (len > 0) {
            strlist_add_mem(folders, at, len);
        }
        at += at[len] == ':' ? len + 1 : len;
    }
    if (home && home[0] != '\0') {
        strlist_addf(folders, "%s/.config/mtlaunch/jobs/", home);
    }
}

static char *path_in(const char *folder, const char *name)
{
    const char *shown = text_starts(folder, "./") ? folder + 2 : folder;
    return shown[0] == '\0' ? xstrdup(name) : path_join(shown, name);
}

/* Add the folder's job files: their names without .yaml, or whole when they are to be given as paths. */
static void add_candidates(const char *folder, bool whole, struct strlist *names)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) && names->len < NEAREST_MAX) {
        const char *name = entry->d_name;
        AUTO_FREE char *path = path_join(folder, name);
        if (!(whole ? has_suffix(name) : text_ends(name, ".yaml")) || !is_file(path)) {
            continue;
        }
        strlist_add_mem(names, name, strlen(name) - (whole ? 0 : strlen(".yaml")));
    }
    closedir(dir);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The order of a folder's entries is arbitrary, so the names are sorted to give the same hint each time. */
static const char *nearest(const char *word, struct strlist *names)
{
    if (names->len == 0) {
        return NULL;
    }
    qsort(names->items, names->len, sizeof(names->items[0]), compare_texts);
    return text_nearest(word, (const char *const *)names->items, names->len);
}

void joblookup_names(const char *jobs_path, const char *home, struct strlist *names)
{
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    AUTO_STRLIST struct strlist all = STRLIST_INIT;
    list_folders(jobs_path, home, &folders);
    for (size_t i = 0; i < folders.len; i++) {
        add_candidates(folders.items[i], false, &all);
    }
    if (all.len > 0) {
        qsort(all.items, all.len, sizeof(all.items[0]), compare_texts);
    }
    for (size_t i = 0; i < all.len; i++) {
        if (i == 0 || strcmp(all.items[i], all.items[i - 1]) != 0) {
            strlist_add(names, all.items[i]);
        }
    }
}

static char *fail_path(const char *job, struct error *err)
{
    error_set(err, &kind_job_not_found, "no job file '%s'", job);
    AUTO_FREE char *folder = path_folder(job);
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    add_candidates(folder, true, &names);
    const char *slash = strrchr(job, '/');
    const char *near = nearest(slash ? slash + 1 : job, &names);
    if (near) {
        error_hint(err, "did you mean '%.*s%s'?", slash ? (int)(slash + 1 - job) : 0, job, near);
    } else {
        error_hint(err, "check the path; `mtlaunch init` writes a job file");
    }
    return NULL;
}

static char *fail_slash(const char *job, struct error *err)
{
    error_set(err, &kind_job_not_found,
              "'%s' is neither a path that ends in .yaml or .yml nor the name of a job", job);
    AUTO_FREE char *yaml = xasprintf("%s.yaml", job);
    AUTO_FREE char *yml = xasprintf("%s.yml", job);
    if (is_file(yaml) || is_file(yml)) {
        error_hint(err, "did you mean '%s'?", is_file(yaml) ? yaml : yml);
    } else {
        error_hint(err, "give the path of a job file, such as jobs/train.yaml");
    }
    return NULL;
}

static char *fail_name(const char *job, const struct strlist *folders, struct error *err)
{
    AUTO_FREE char *looked = strlist_join(folders, ", ");
    error_set(err, &kind_job_not_found, "no job '%s': looked for %s.yaml in %s", job, job, looked);
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; i < folders->len; i++) {
        add_candidates(folders->items[i], false, &names);
    }
    const char *near = nearest(job, &names);
    AUTO_FREE char *yml = xasprintf("%s.yml", job);
    if (is_file(yml)) {
        error_hint(err, "did you mean '%s'? a name matches only files that end in .yaml", yml);
    } else if (near) {
        error_hint(err, "did you mean '%s'?", near);
    } else {
        error_hint(err, "give the path of a job file, or put its folder into MTLAUNCH_JOBS");
    }
    return NULL;
}

char *joblookup_find(const char *job, const char *jobs_path, const char *home, struct error *err)
{
    if (job[0] == '\0') {
        error_set(err, &kind_job_not_found, "the name of the job is empty");
        error_hint(err, "give the path or the name of a job file");
        return NULL;
    }
    if (has_suffix(job)) {
        return is_file(job) ? xstrdup(job) : fail_path(job, err);
    }
    if (strchr(job, '/')) {
        return fail_slash(job, err);
    }
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    list_folders(jobs_path, home, &folders);
    AUTO_FREE char *file = xasprintf("%s.yaml", job);
    for (size_t i = 0; i < folders.len; i++) {
        char *path = path_in(folders.items[i], file);
        if (is_file(path)) {
            return path;
        }
        free(path);
    }
    return fail_name(job, &folders, err);
}
