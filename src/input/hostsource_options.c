/* The command line: --hosts is always an expression, --hostfile always a file. */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/hostfile.h"
#include "input/hostsource_internal.h"

/* Is the expression one word that can only mean a file: a path, or a name that a file of hosts has? */
static bool is_file_name(const char *text)
{
    static const char *const endings[] = {".txt",  ".hosts", ".list", ".lst",
                                          ".conf", ".cfg",   ".yaml", ".yml"};
    static const char *const names[] = {"hosts", "hostfile", "hostlist", "machines", "machinefile"};
    struct stat status;
    if (strpbrk(text, ", [\t=@") || !*text)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (text_ends(text, endings[i]))
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0 && stat(text, &status) == 0 && S_ISREG(status.st_mode))
            return true;
    }
    return strchr(text, '/') != NULL;
}

static int find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                struct error *err)
{
    if (request->hosts && request->hostfile) {
        error_set(err, &kind_usage, "'--hosts' beside '--hostfile'");
        return error_hint(err, "give one of the two");
    }
    if (request->hosts && is_file_name(request->hosts)) {
        error_set(err, &kind_usage, "'%s' for --hosts is a file, not a list of hosts", request->hosts);
        return error_hint(err, "use --hostfile %s", request->hosts);
    }
    if (request->hosts) {
        if (hostlist_parse(out, request->hosts, strlen(request->hosts), HOSTLIST_COMMAS, "--hosts", 0,
                           warnings, err) < 0)
            return -1;
        return 1;
    }
    if (!request->hostfile)
        return 0;
    return hostfile_read(out, request->hostfile, warnings, err) < 0 ? -1 : 1;
}

const struct hostsource hostsource_options = {"command line", find};
