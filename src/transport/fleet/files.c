/* Open files: raises the limit as far as the hosts need it, or closes idle sessions to make room for others.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

#define FILES_SPARE    12 /* keys, known_hosts, look-ups, a session that is being closed */
#define FILES_GENEROUS 3  /* per host, if the limit can be raised: jumps, followers, local pipes */

/*
 * The lowest free descriptor number serves as the count, because this process leaves no gaps. 0 when none is
 * free: the next code that needs a file reports that.
 */
static size_t count_open_files(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return 0;
    }
    close(fd);
    return (size_t)fd;
}

static size_t raise_limit(size_t wanted)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return wanted; /* the limit is not known */
    }
    if (files.rlim_cur < wanted) {
        struct rlimit raised = {.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max,
                                .rlim_max = files.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            files = raised;
        }
    }
    return files.rlim_cur < SIZE_MAX ? (size_t)files.rlim_cur : SIZE_MAX;
}

/* Raise the limit to allow this many files beside the open ones. Returns the new limit. */
static size_t claim(struct fleet *fleet, size_t open, size_t wanted)
{
    size_t limit = raise_limit(open + FILES_SPARE + wanted);

    fleet->files_max = limit > open + FILES_SPARE ? limit - open - FILES_SPARE : 1;
    return limit;
}

void fleet_claim_files(struct fleet *fleet, size_t hosts)
{
    claim(fleet, count_open_files(), hosts * FILES_GENEROUS);
}

size_t fleet_host_files(const struct fleet_host *host)
{
    return host->ops->files ? host->ops->files(&host->endpoint) : 1;
}

int fleet_hold(struct fleet *fleet, struct error *err)
{
    size_t open = count_open_files(), wanted = 0, limit;

    for (size_t i = 0; i < fleet->hosts_len; i++) {
        wanted += fleet_host_files(fleet->hosts[i]);
    }
    limit = claim(fleet, open, wanted);
    if (limit >= open + FILES_SPARE + wanted) {
        return 0;
    }
    error_set(err, &kind_local, "%zu hosts at once need %zu open files, and %zu are allowed",
              fleet->hosts_len, open + FILES_SPARE + wanted, limit);
    return error_hint(err, "raise the limit (ulimit -Hn, nofile in limits.conf), or use fewer hosts");
}

/* An idle session can be closed, and opened again when it is needed. */
static bool is_idle(const struct fleet_host *host)
{
    const struct fleet_link *link = LIST_FIRST(&host->links, struct fleet_link, item);

    return link && list_is_empty(&host->execs) && link->state == LINK_OPEN;
}

void fleet_close_idle(struct fleet *fleet, size_t host)
{
    if (is_idle(fleet->hosts[host])) {
        fleet_host_close(fleet->hosts[host]);
    }
}

bool fleet_make_room(struct fleet *fleet, size_t files)
{
    for (size_t i = 0; i < fleet->hosts_len && fleet->files_used + files > fleet->files_max; i++) {
        struct fleet_host *host = fleet->hosts[fleet->next_idle++ % fleet->hosts_len];
        if (is_idle(host)) {
            fleet_host_close(host);
        }
    }
    LIST_EACH(&fleet->jumps, struct fleet_host, jump, host) {
        if (fleet->files_used + files > fleet->files_max && is_idle(host)) {
            fleet_host_close(host);
        }
    }
    return fleet->files_used + files <= fleet->files_max;
}
