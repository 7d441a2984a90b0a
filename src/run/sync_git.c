/* Asks git about a folder to push. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/str.h"
#include "sync_git_internal.h"

#define SAID_MAX ((size_t)256 << 20)

/*
 * Read the standard output of `git -C FOLDER words`. Returns the wait status of git as pclose(3) does, or -1
 * when it could not run.
 */
static int ask(const char *folder, const char *words, struct str *out)
{
    AUTO_STR struct str line = STR_INIT;
    char bytes[65536];
    size_t len;

    str_add(&line, "exec git -C ");
    quote_sh(&line, folder);
    str_addf(&line, " %s 2>/dev/null", words);
    FILE *git = popen(str_text(&line), "re"); /* NOLINT(cert-env33-c): every word is quoted */
    if (!git) {
        return -1;
    }
    while ((len = fread(bytes, 1, sizeof(bytes), git)) > 0 && out->len < SAID_MAX) {
        str_add_mem(out, bytes, len);
    }
    return pclose(git);
}

char *sync_git_commit(const char *folder, bool *dirty)
{
    AUTO_STR struct str commit = STR_INIT;
    AUTO_STR struct str changes = STR_INIT;

    *dirty = false;
    if (ask(folder, "rev-parse --verify HEAD", &commit) != 0 || commit.len < 2) {
        return NULL;
    }
    *dirty = ask(folder, "status --porcelain -z -- .", &changes) != 0 || changes.len > 0;
    return xstrndup(commit.data, commit.len - 1);
}

static void add_pattern(struct strlist *patterns, const char *prefix, const char *path)
{
    AUTO_STR struct str pattern = STR_INIT;

    str_addf(&pattern, "%s/", prefix);
    for (; *path != '\0'; path++) {
        if (strchr("*?[\\", *path)) {
            str_add_char(&pattern, '\\');
        }
        str_add_char(&pattern, *path);
    }
    strlist_add(patterns, str_text(&pattern));
}

int sync_git_ignored(const char *folder, const char *prefix, struct strlist *patterns, struct error *err)
{
    AUTO_STR struct str out = STR_INIT;

    if (ask(folder, "ls-files -z --others --ignored --exclude-standard --directory", &out) != 0) {
        error_set(err, &kind_usage, "'sync.git' is true, and '%s' is not a git work tree", folder);
        return error_hint(err, "leave out sync.git, or install git here and name a folder of a work tree");
    }
    str_add_char(&out, '\0');
    for (const char *at = out.data; *at != '\0'; at += strlen(at) + 1) {
        add_pattern(patterns, prefix, at);
    }
    return 0;
}

void sync_git_check(const char *folder, const char *const *paths, size_t count, bool *ignored)
{
    AUTO_STR struct str out = STR_INIT;
    AUTO_STR struct str words = STR_INIT;
    char name[] = "/tmp/mtlaunch-XXXXXX";
    AUTO_STR struct str list = STR_INIT;
    struct error error = ERROR_INIT;
    const int fd = mkstemp(name);

    memset(ignored, 1, count * sizeof(*ignored)); /* if git cannot be asked, nothing is removed */
    if (count == 0 || fd < 0) {
        return;
    }
    close(fd);
    for (size_t i = 0; i < count; i++) {
        str_add_mem(&list, paths[i], strlen(paths[i]) + 1);
    }
    if (file_write_atomic(name, list.data, list.len, 0600, &error) != 0) {
        unlink(name);
        return;
    }
    str_addf(&words, "check-ignore -z --no-index --stdin <%s", name);
    const int status = ask(folder, str_text(&words), &out);
    unlink(name);
    if (status != 0 && status != 256) { /* exit status 1: none of the paths is ignored */
        return;
    }
    memset(ignored, 0, count * sizeof(*ignored));
    str_add_char(&out, '\0');
    size_t i = 0;
    /* git keeps the order of the paths */
    for (const char *at = out.data; *at != '\0'; at += strlen(at) + 1) {
        while (i < count && strcmp(paths[i], at) != 0) {
            i++;
        }
        if (i < count) {
            ignored[i] = true;
        }
    }
}
