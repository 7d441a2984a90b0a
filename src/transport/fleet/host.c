/* One host of the fleet: what the pump does for it in each turn. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

void fleet_host_touch(struct fleet_host *host)
{
    if (!list_has(&host->dirty)) {
        list_append(&host->fleet->dirty, &host->dirty);
    }
    fleet_wake(host->fleet);
}

static void on_pause(void *ctx)
{
    fleet_host_touch(ctx);
}

struct fleet_host *fleet_host_new(struct fleet *fleet, const struct endpoint *endpoint,
                                  const struct transport_ops *ops)
{
    struct fleet_host *host = xcalloc(1, sizeof(*host));

    host->fleet = fleet;
    host->index = fleet->hosts_len;
    endpoint_copy(&host->endpoint, endpoint);
    host->pause.fire = on_pause;
    host->pause.ctx = host;
    host->ops = ops;
    for (size_t i = 0; i < transports_all_count; i++) {
        if (transports_all[i] == host->ops) {
            host->shared = fleet->shared[i];
        }
    }
    return host;
}

void fleet_host_free(struct fleet_host *host)
{
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        fleet_exec_free(exec);
    }
    endpoint_release(&host->endpoint);
    free(host->jump_key);
    free(host);
}

static struct fleet_exec *find_unwanted(const struct fleet_host *host)
{
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        if (exec->unwanted) {
            return exec;
        }
    }
    return NULL;
}

/*
 * Cancelling a command may show that its session is lost, which ends other commands. So the list is searched
 * from its start each time.
 */
static void end_unwanted(struct fleet_host *host)
{
    for (struct fleet_exec *exec; (exec = find_unwanted(host));) {
        struct error err = ERROR_INIT;
        if (exec->link) {
            host->ops->cancel(exec->link->link, &exec->job);
        }
        if (exec->timed_out) {
            error_set(&err, &kind_time_limit, "the command did not end within %g s",
                      exec->timeout_ms / 1000.0);
        } else {
            error_set(&err, &kind_interrupted, "the command was cancelled");
        }
        fleet_exec_end(exec, &err);
    }
}

/* When a link could not be opened, all commands that waited for it end with its error. */
static void clear_broken(struct fleet_host *host)
{
    struct error err = ERROR_INIT;

    fleet_pool_clear(host, &err);
    if (!err.kind) {
        return;
    }
    if (host->jump_key) {
        fleet_jump_explain(host, &err);
    }
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        if (!exec->link) {
            fleet_exec_end(exec, &err);
        }
    }
}

/* A link that continues may end commands, so the list is walked from its start after each call. */
static void pass_input(struct fleet_host *host)
{
    struct fleet_exec *exec = LIST_FIRST(&host->execs, struct fleet_exec, item);

    while (exec) {
        if (exec->drained) {
            exec->drained = false;
            if (exec->handler.drained) {
                exec->handler.drained(exec->ctx, host->index);
            }
        }
        if (exec->input_changed && exec->link) {
            exec->input_changed = false;
            host->ops->input(exec->link->link, &exec->job);
            exec = LIST_FIRST(&host->execs, struct fleet_exec, item);
        } else {
            exec = LIST_NEXT(exec, struct fleet_exec, item);
        }
    }
}

/* Does the host need a slot, because it connects, runs a short command, or is about to? */
static bool is_busy(const struct fleet_host *host)
{
    LIST_EACH(&host->links, struct fleet_link, item, link) {
        if (link->state == LINK_OPENING) {
            return true;
        }
    }
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        if (!exec->follow || !exec->started) {
            return true;
        }
    }
    return false;
}

static void put_on_link(struct fleet_exec *exec, struct fleet_link *link)
{
    exec->link = link;
    link->active++;
    exec->ordinal = link->active;
    fleet_jump_asked(exec, true);
    if (!exec->host->ops->connects_late) {
        fleet_exec_start_clock(exec);
    }
    exec->host->ops->run(link->link, &exec->job);
}

static struct fleet_exec *find_queued(const struct fleet_host *host)
{
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        if (!exec->link) {
            return exec;
        }
    }
    return NULL;
}

/* A command that is put on a link may be refused or end at once. A refusal begins a pause. */
static void start_queued(struct fleet_host *host)
{
    for (struct fleet_exec *exec; !deadline_is_set(&host->pause) && (exec = find_queued(host));) {
        bool may_open = false;
        struct fleet_link *link;

        /* for a jump host, the host behind it has the slot */
        if (!host->jump_key && !fleet_window_enter(host)) {
            return;
        }
        link = fleet_pool_find(host, &may_open);
        if (!link) {
            if (may_open) {
                fleet_pool_open(host);
            }
            return;
        }
        put_on_link(exec, link);
    }
}

void fleet_host_attend(struct fleet_host *host)
{
    end_unwanted(host);
    clear_broken(host);
    start_queued(host);
    pass_input(host);
    if (!is_busy(host)) {
        fleet_window_leave(host);
    }
}

void fleet_pause_output(struct fleet *fleet, bool pause)
{
    if (fleet->paused == pause) {
        return;
    }
    fleet->paused = pause;
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        const struct fleet_host *host = fleet->hosts[i];
        LIST_EACH(&host->links, struct fleet_link, item, link) {
            if (link->state == LINK_OPEN) {
                host->ops->pause(link->link);
            }
        }
    }
}

void fleet_host_close(struct fleet_host *host)
{
    deadline_clear(&host->fleet->deadlines, &host->pause);
    LIST_EACH(&host->execs, struct fleet_exec, item, exec) {
        fleet_exec_leave_link(exec);
    }
    fleet_pool_close(host);
}
