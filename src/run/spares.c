/* Replaces hosts that cannot be reached by spares, at a start and before a restart. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "observer_internal.h"
#include "respawn_internal.h"
#include "spares_internal.h"
#include "start_internal.h"

#define SSH_PORT 22

static const char *user_of(const struct run *run, const struct host *host)
{
    const char *user = host->user ? host->user : run->reach.user;
    return user ? user : "";
}

static unsigned port_of(const struct run *run, const struct host *host)
{
    unsigned port = host->port != 0 ? host->port : run->reach.port;
    return port == 0 ? SSH_PORT : port;
}

static bool is_node(const struct run *run, const struct host *host)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct host *node = &run->nodes[i].host;
        if (strcasecmp(node->name, host->name) == 0 && port_of(run, node) == port_of(run, host) &&
            strcmp(user_of(run, node), user_of(run, host)) == 0) {
            return true;
        }
    }
    return false;
}

static int parse_spare(const char *entry, struct host *host, struct error *err)
{
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    int result =
        hostlist_parse(&list, entry, strlen(entry), HOSTLIST_COMMAS, "restart.spares", 0, &warnings, err);
    if (result == 0) {
        host_copy(host, &list.items[0]);
    }
    hostlist_release(&list);
    return result;
}

static void drop_spare(struct run *run, size_t index)
{
    struct strlist *spares = &run->policy.spares;
    free(spares->items[index]);
    spares->len--;
    memmove(spares->items + index, spares->items + index + 1, (spares->len - index) * sizeof(*spares->items));
}

size_t run_count_spares(struct run *run)
{
    for (size_t i = run->policy.spares.len; i-- > 0;) {
        struct host host = {0};
        if (parse_spare(run->policy.spares.items[i], &host, NULL) != 0 || is_node(run, &host)) {
            drop_spare(run, i);
        }
        host_release(&host);
    }
    return run->policy.spares.len;
}

int run_take_spare(struct run_context *context, struct run *run, size_t node, const char *why, bool keep,
                   struct host *host, struct error *err)
{
    const struct run_node *replaced = &run->nodes[node];
    if (run_count_spares(run) == 0) {
        return 0;
    }
    AUTO_FREE char *entry = xstrdup(run->policy.spares.items[0]);
    drop_spare(run, 0);
    if (parse_spare(entry, host, err) != 0 ||
        (keep && run_respawn_replace_host(context, run->name, node, host, err) != 0)) {
        host_release(host);
        return -1;
    }
    AUTO_FREE char *name = host->port != 0 ? host_join_port(host->name, host->port) : xstrdup(host->name);
    run_note_event(context, run, "spare", replaced->label, "'%s' becomes node %u", name, replaced->rank);
    report_warn(context, "%s %s: spare '%s' becomes node %u", replaced->label, why, name, replaced->rank);
    return 1;
}

/* --- at a start --------------------------------------------------------------------------------- */

static size_t count_unreached(const struct start *start)
{
    size_t count = 0;
    for (size_t i = 0; i < start->failures.len; i++) {
        count += start->unreached[i];
    }
    return count;
}

static bool is_named_master(const struct start *start)
{
    return start->unreached[0] && start->request->job->master_addr;
}

static int replace_unreached(struct start *start, struct error *err)
{
    struct hostlist list = HOSTLIST_INIT;
    const struct hostlist *hosts = start->hosts;
    int result = 0;
    list.items = xcalloc(hosts->len, sizeof(*list.items));
    list.len = list.cap = hosts->len;
    list.source = xstrdup(hosts->source);
    for (size_t i = 0; i < hosts->len && result == 0; i++) {
        if (!start->unreached[i]) {
            host_copy(&list.items[i], &hosts->items[i]);
            continue;
        }
        AUTO_FREE char *why = xasprintf("cannot be reached (%s)", start->failures.errors[i].text);
        int taken = run_take_spare(start->context, start->run, i, why, start->request->is_restart,
                                   &list.items[i], err);
        result = taken == 1 ? 0 : -1;
    }
    reached_hosts_release(&start->replaced);
    start->replaced.list = list;
    start->hosts = &start->replaced.list;
    if (result == 0) {
        result = reached_hosts_resolve(&start->replaced, start->request->job, start->context->home, err);
    }
    start->host_facts = start->replaced.facts;
    return result == 0 ? start_make_plan(start, false, err) : -1;
}

int start_take_spares(struct start *start, struct error *err)
{
    size_t needed = count_unreached(start);
    if (needed == 0 || needed != start->failures.count || start->request->job->policy.spares.len == 0) {
        return 0;
    }
    size_t left = run_count_spares(start->run);
    if (left < needed) {
        report_warn(start->context, "%zu host%s cannot be reached and %zu of 'restart.spares' %s left",
                    needed, needed == 1 ? "" : "s", left, left == 1 ? "is" : "are");
        return 0;
    }
    if (is_named_master(start)) {
        report_warn(start->context,
                    "no spare becomes node 0: the master's address is given as '%s'; leave it out to have it "
                    "follow the host",
                    start->request->job->master_addr);
        return 0;
    }
    return replace_unreached(start, err) == 0 ? 1 : -1;
}
