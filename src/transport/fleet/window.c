/* The window: as many hosts as the fan-out allows connect or run short commands at the same time. */
#include "transport/fleet/fleet_internal.h"

static struct fleet_host *first_waiting(const struct fleet *fleet)
{
    return LIST_FIRST(&fleet->waiting, struct fleet_host, waiting);
}

static void touch_first_waiting(const struct fleet *fleet)
{
    if (!list_is_empty(&fleet->waiting)) {
        fleet_host_touch(first_waiting(fleet));
    }
}

/*
 * A new session needs open files. When none is left the host waits, as for a slot, until other hosts have
 * finished; but not when no other host is active, because waiting would not help.
 */
static bool has_files(struct fleet_host *host)
{
    return !list_is_empty(&host->links) || fleet_make_room(host->fleet, fleet_host_files(host)) ||
           host->fleet->slots_used == 0;
}

bool fleet_window_enter(struct fleet_host *host)
{
    struct fleet *fleet = host->fleet;
    bool is_next = list_is_empty(&fleet->waiting) || first_waiting(fleet) == host;

    if (host->has_slot) {
        return true;
    }
    if (fleet->slots_used < fleet->fanout && is_next && has_files(host)) {
        list_remove(&host->waiting);
        host->has_slot = true;
        fleet->slots_used++;
        if (fleet->slots_used < fleet->fanout) {
            touch_first_waiting(fleet);
        }
        return true;
    }
    if (!list_has(&host->waiting)) {
        list_append(&fleet->waiting, &host->waiting);
    }
    return false;
}

void fleet_window_leave(struct fleet_host *host)
{
    struct fleet *fleet = host->fleet;

    if (list_has(&host->waiting)) {
        list_remove(&host->waiting);
        touch_first_waiting(fleet);
    }
    if (host->has_slot) {
        host->has_slot = false;
        fleet->slots_used--;
        touch_first_waiting(fleet);
    }
}
