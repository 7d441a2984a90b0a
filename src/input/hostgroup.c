/* Finds and reads the host file of a group. */
#include "input/hostgroup.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strlist.h"
#include "base/text.h"
#include "model/kind.h"

#define NEAREST_MAX 1024 /* names compared for a hint */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* "" is the current folder. */
static void list_folders(const char *home, struct strlist *folders)
{
    strlist_add(folders, "hosts/");
    strlist_add(folders, "");
    if (home && home[0] != '\0') {
        strlist_addf(folders, "%s/.config/mtlaunch/hosts/", home);
    }
}

static void add_names(const char *folder, struct strlist *names)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) && names->len < NEAREST_MAX) {
        size_t len = strlen(entry->d_name) - (text_ends(entry->d_name, ".txt") ? 4 : 0);
        strlist_add_mem(names, entry->d_name, len);
    }
    if (dir) {
        closedir(dir);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int fail_missing(const char *name, const struct strlist *folders, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_STR struct str looked = STR_INIT;
    for (size_t i = 0; i < folders->len; i++) {
        const char *folder = folders->items[i];
        str_addf(&looked, "%s%s", i > 0 ? ", " : "", folder[0] == '/' ? folder : "./");
        str_add(&looked, folder[0] == '/' ? "" : folder);
        if (folder[0] != '\0') {
            add_names(folder, &names);
        }
    }
    error_set(err, &kind_host_list, "no group '@%s': looked for %s and %s.txt in %s", name, name, name,
              str_text(&looked));
    if (names.len > 0) {
        qsort(names.items, names.len, sizeof(names.items[0]), compare_texts);
        const char *near = text_nearest(name, (const char *const *)names.items, names.len);
        if (near) {
            return error_hint(err, "did you mean '@%s'?", near);
        }
    }
    return error_hint(err, "write its hosts into hosts/%s.txt, one entry per line", name);
}

static int read_group(const struct hostlist_groups *groups, const char *name, char **path, struct str *text,
                      struct error *err)
{
    static const char *const suffixes[] = {"", ".txt"};
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    list_folders(groups->home, &folders);
    for (size_t i = 0; i < folders.len * ARRAY_LEN(suffixes); i++) {
        char *found = xasprintf("%s%s%s", folders.items[i / 2], name, suffixes[i % 2]);
        if (!is_file(found)) {
            free(found);
            continue;
        }
        *path = found;
        if (file_read(found, HOSTLIST_TEXT_MAX, text, err) == 0) {
            return 0;
        }
        err->kind = &kind_host_list;
        error_prefix(err, "the group '@%s'", name);
        return error_hint(err, "name a readable text file with one host per line");
    }
    return fail_missing(name, &folders, err);
}

struct hostlist_groups hostgroup_files(const char *home)
{
    return (struct hostlist_groups){.read = read_group, .home = home};
}
