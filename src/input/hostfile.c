/* Reads host files. */
#include "input/hostfile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"

static int refuse_file(const char *path, int reason, struct error *err)
{
    if (err) {
        err->kind = &kind_host_list;
    }
    error_prefix(err, "the host list");
    if (reason == ENOENT || reason == ENOTDIR) {
        return error_hint(err, "check the path '%s'; no other list is used instead", path);
    }
    if (reason == EFBIG) {
        return error_hint(err, "write runs of hosts as ranges: g[0033-0036]");
    }
    return error_hint(err, "name a readable text file with one host per line");
}

bool hostfile_is_meant(const char *text)
{
    static const char *const endings[] = {".txt",  ".hosts", ".list", ".lst",
                                          ".conf", ".cfg",   ".yaml", ".yml"};
    static const char *const names[] = {"hosts", "hostfile", "hostlist", "machines", "machinefile"};
    struct stat status;
    if (strpbrk(text, ", [\t=@") || !*text) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (text_ends(text, endings[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0 && stat(text, &status) == 0 && S_ISREG(status.st_mode)) {
            return true;
        }
    }
    return strchr(text, '/');
}

int hostfile_read(struct hostlist *list, const char *path, const struct hostlist_context *context,
                  struct error *err)
{
    AUTO_STR struct str text = STR_INIT;

    if (file_read(path, HOSTLIST_TEXT_MAX, &text, err) < 0) {
        return refuse_file(path, errno, err);
    }
    return hostlist_read(list, str_text(&text), text.len, HOSTLIST_LINES, path, 1, context, err);
}
