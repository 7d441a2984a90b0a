#include "input/hostfile.h"

#include <errno.h>

#include "base/file.h"
#include "base/str.h"
#include "model/kind.h"

static int refuse_file(const char *path, int reason, struct error *err)
{
    if (err)
        err->kind = &kind_host_list;
    error_prefix(err, "the host list");
    if (reason == ENOENT || reason == ENOTDIR)
        return error_hint(err, "check the path '%s'; no other list is used in its place", path);
    if (reason == EFBIG)
        return error_hint(err, "write runs of hosts as ranges: g[0033-0036]");
    return error_hint(err, "name a readable text file with one host a line");
}

int hostfile_read(struct hostlist *list, const char *path, struct strlist *warnings, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;

    if (file_read(path, HOSTLIST_TEXT_MAX, &text, err) < 0)
        return refuse_file(path, errno, err);
    return hostlist_parse(list, str_text(&text), text.len, HOSTLIST_LINES, path, 1, warnings, err);
}
