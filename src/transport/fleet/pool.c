/* The pool: the links of a host, opened when its commands need them and shared by as many as each link takes.
 */
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "transport/fleet/fleet_internal.h"

void fleet_pool_open(struct fleet_host *host)
{
    struct fleet_link *link = xcalloc(1, sizeof(*link));
    size_t files = fleet_host_files(host);

    fleet_make_room(host->fleet, files);
    host->fleet->files_used += files;
    link->host = host;
    link->room = UINT_MAX;
    list_append(&host->links, &link->item);
    link->link = host->ops->open(host->shared, &host->endpoint, &fleet_events, link);
}

static void drop_link(struct fleet_link *link)
{
    struct fleet_host *host = link->host;

    list_remove(&link->item);
    host->fleet->files_used -= fleet_host_files(host);
    host->ops->close(link->link);
    free(link);
}

void fleet_pool_clear(struct fleet_host *host, struct error *err)
{
    LIST_EACH(&host->links, struct fleet_link, item, link) {
        if (link->state != LINK_BROKEN) {
            continue;
        }
        if (!link->was_open) {
            *err = link->error;
        }
        drop_link(link);
    }
}

void fleet_pool_close(struct fleet_host *host)
{
    LIST_EACH(&host->links, struct fleet_link, item, link) {
        drop_link(link);
    }
}

struct fleet_link *fleet_pool_find(const struct fleet_host *host, bool *may_open)
{
    unsigned most = host->jump_key ? FLEET_PASSAGES : UINT_MAX;
    size_t count = 0, links = host->jump_key ? FLEET_JUMP_LINKS : FLEET_LINKS;
    bool room_comes = false; /* a link is being opened, or a short command will make room soon */

    LIST_EACH(&host->links, struct fleet_link, item, link) {
        count++;
        if (link->state == LINK_OPEN && link->active < link->room && link->active < most) {
            return link;
        }
        room_comes |= link->state != LINK_OPEN;
    }
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        room_comes |= exec->link && !exec->follow;
    }
    *may_open = count == 0 || (!room_comes && count < links);
    return NULL;
}
