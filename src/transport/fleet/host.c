/* One host of the fleet: its links, whose turn it is, and what becomes of commands when a link breaks. */
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

#define FIRST_PAUSE_MS                                                                                       \
    50                 /* after a refusal with nothing running: the server still counts one that has ended */
#define MAX_REFUSALS 6 /* doubling: 3 s in all */

static void touch(struct fleet_host *host)
{
    struct fleet_host **at = &host->fleet->dirty;

    if (!host->dirty) {
        host->dirty = true;
        host->next_dirty = NULL;
        while (*at) {
            at = &(*at)->next_dirty;
        }
        *at = host;
    }
    fleet_wake(host->fleet);
}

struct fleet_exec *fleet_find_exec(struct fleet *fleet, uint64_t id)
{
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        for (struct fleet_exec *at = fleet->hosts[i]->execs; at; at = at->next) {
            if (at->id == id) {
                return at;
            }
        }
    }
    return NULL;
}

static void on_pause(void *ctx)
{
    touch(ctx);
}

struct fleet_host *fleet_host_new(struct fleet *fleet, const struct endpoint *endpoint)
{
    struct fleet_host *host = xcalloc(1, sizeof(*host));

    host->fleet = fleet;
    host->index = fleet->hosts_len;
    endpoint_copy(&host->endpoint, endpoint);
    host->pause.fire = on_pause;
    host->pause.ctx = host;
    host->ops = transport_find(&host->endpoint);
    for (size_t i = 0; i < transports_all_count; i++) {
        if (transports_all[i] == host->ops) {
            host->shared = fleet->shared[i];
        }
    }
    return host;
}

void fleet_host_add_exec(struct fleet_exec *exec)
{
    struct fleet_exec **at = &exec->host->execs;

    while (*at) {
        at = &(*at)->next;
    }
    *at = exec;
    touch(exec->host);
}

void fleet_exec_end_wanted(struct fleet_exec *exec)
{
    exec->unwanted = true;
    touch(exec->host);
}

/* Off its link, if it is on one. */
static void leave_link(struct fleet_exec *exec)
{
    deadline_clear(&exec->host->fleet->deadlines, &exec->timeout);
    if (exec->link) {
        exec->link->active--;
    }
    exec->link = NULL;
}

/* From the host's list to the end of the fleet's; its handler is told in the next turn. */
static void end_exec(struct fleet_exec *exec)
{
    struct fleet *fleet = exec->host->fleet;
    struct fleet_exec **from = &exec->host->execs, **to = &fleet->ended;

    leave_link(exec);
    while (*from != exec) {
        from = &(*from)->next;
    }
    *from = exec->next;
    while (*to) {
        to = &(*to)->next;
    }
    *to = exec;
    exec->next = NULL;
    exec->result.started = exec->started;
    if (exec->began_ms != 0) {
        exec->result.elapsed_ms = (unsigned)(clock_mono_ms() - exec->began_ms);
    }
    fleet_wake(fleet);
}

static void end_with(struct fleet_exec *exec, const struct error *err)
{
    exec->result = (struct exec_result){.error = *err, .exit_status = -1};
    end_exec(exec);
}

static void requeue(struct fleet_exec *exec)
{
    leave_link(exec);
    touch(exec->host);
}

static struct fleet_exec *exec_of(struct transport_job *job)
{
    return (struct fleet_exec *)(void *)((char *)job - offsetof(struct fleet_exec, job));
}

static void start_clock(struct fleet_exec *exec)
{
    if (exec->began_ms == 0) {
        exec->began_ms = clock_mono_ms();
    }
    if (exec->timeout_ms != 0 && !deadline_is_set(&exec->timeout)) {
        deadline_set(&exec->host->fleet->deadlines, &exec->timeout, exec->timeout_ms);
    }
}

/* --- what a transport tells --- */

static void on_opened(void *owner)
{
    struct fleet_link *link = owner;

    link->state = LINK_OPEN;
    link->was_open = true;
    touch(link->host);
}

static void on_broken(void *owner, const struct error *err)
{
    struct fleet_link *link = owner;

    link->state = LINK_BROKEN;
    link->error = *err;
    touch(link->host);
}

static void on_started(void *owner, struct transport_job *job)
{
    struct fleet_link *link = owner;
    struct fleet_exec *exec = exec_of(job);

    exec->started = true;
    if (link->host->ops->connects_late) {
        start_clock(exec);
    }
    if (exec->handler.started) {
        exec->handler.started(exec->ctx, exec->host->index);
    }
    if (exec->follow) { /* may free the host's slot */
        touch(link->host);
    }
}

static unsigned count_started(const struct fleet_link *link)
{
    unsigned count = 0;

    for (const struct fleet_exec *exec = link->host->execs; exec; exec = exec->next) {
        count += exec->link == link && exec->started;
    }
    return count;
}

/*
 * Refused beyond the room known: that is how many run now, wait for one to end. Refused within it: the server
 * still counts one that has ended, come back shortly.
 */
static void on_refused(void *owner, struct transport_job *job)
{
    struct fleet_link *link = owner;
    struct fleet_exec *exec = exec_of(job);
    struct error err = ERROR_INIT;
    unsigned running = count_started(link);
    bool within = exec->ordinal <= link->room && link->room != UINT_MAX;

    requeue(exec);
    if (!within) {
        link->room = running > 0 ? running : 1;
    }
    if (!within && running > 0) {
        return;
    }
    if (++exec->refusals > MAX_REFUSALS) {
        error_set(&err, &kind_node_unsupported, "the ssh server opens no session for a command");
        error_hint(&err, "look at MaxSessions in its sshd_config");
        end_with(exec, &err);
        return;
    }
    deadline_set(&link->host->fleet->deadlines, &link->host->pause,
                 (uint64_t)FIRST_PAUSE_MS << (exec->refusals - 1));
}

static void on_data(void *owner, struct transport_job *job, int stream, const char *bytes, size_t len)
{
    struct fleet_exec *exec = exec_of(job);

    (void)owner;
    if (!exec->unwanted && exec->handler.data) {
        exec->handler.data(exec->ctx, exec->host->index, stream, bytes, len);
    }
}

static void on_drained(void *owner, struct transport_job *job)
{
    struct fleet_exec *exec = exec_of(job);

    (void)owner;
    exec->drained = true;
    touch(exec->host);
}

/* A session that stood idle may be dead without our knowing: what surely never ran there is asked for once
 * more. */
static void on_ended(void *owner, struct transport_job *job, const struct exec_result *result)
{
    struct fleet_exec *exec = exec_of(job);

    (void)owner;
    if (result->error.kind == &kind_connection_lost && !exec->started && !exec->retried) {
        exec->retried = true;
        requeue(exec);
        return;
    }
    exec->result = *result;
    if (exec->unwanted && !result->error.kind) {
        exec->unwanted = false; /* it came to its end before it could be ended */
    }
    end_exec(exec);
    touch(exec->host);
}

static const struct transport_events events = {
    .opened = on_opened,
    .broken = on_broken,
    .started = on_started,
    .refused = on_refused,
    .data = on_data,
    .drained = on_drained,
    .ended = on_ended,
};

/* --- what is done in the pump --- */

static void drop_link(struct fleet_link *link)
{
    struct fleet_link **at = &link->host->links;

    while (*at != link) {
        at = &(*at)->next;
    }
    *at = link->next;
    link->host->fleet->files_used -= fleet_host_files(link->host);
    link->host->ops->close(link->link);
    free(link);
}

static struct fleet_exec *find_unwanted(const struct fleet_host *host)
{
    for (struct fleet_exec *exec = host->execs; exec; exec = exec->next) {
        if (exec->unwanted) {
            return exec;
        }
    }
    return NULL;
}

/* To cancel one may show that its session is lost, which ends others: the list is looked at anew each time.
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
        end_with(exec, &err);
    }
}

static void end_queued(struct fleet_host *host, const struct error *err)
{
    struct fleet_exec *next;

    for (struct fleet_exec *exec = host->execs; exec; exec = next) {
        next = exec->next;
        if (!exec->link) {
            end_with(exec, err);
        }
    }
}

/* Links that broke are closed; where one could not be opened, those who waited for it share the reason. */
static void clear_broken(struct fleet_host *host)
{
    struct fleet_link *next;
    struct error err = ERROR_INIT;

    for (struct fleet_link *link = host->links; link; link = next) {
        next = link->next;
        if (link->state != LINK_BROKEN) {
            continue;
        }
        if (!link->was_open) {
            err = link->error;
        }
        drop_link(link);
    }
    if (err.kind) {
        end_queued(host, &err);
    }
}

/* A link that goes on may end commands: the list is looked at anew after each. */
static void pass_input(struct fleet_host *host)
{
    struct fleet_exec *exec = host->execs;

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
            exec = host->execs;
        } else {
            exec = exec->next;
        }
    }
}

/* Does the host count against the fan-out: does it connect, or run something short, or want to? */
static bool is_busy(const struct fleet_host *host)
{
    for (const struct fleet_link *link = host->links; link; link = link->next) {
        if (link->state == LINK_OPENING) {
            return true;
        }
    }
    for (const struct fleet_exec *exec = host->execs; exec; exec = exec->next) {
        if (!exec->follow || !exec->started) {
            return true;
        }
    }
    return false;
}

static void give_slot_back(struct fleet_host *host)
{
    struct fleet *fleet = host->fleet;

    host->has_slot = false;
    fleet->slots_used--;
    if (fleet->waiting) {
        touch(fleet->waiting);
    }
}

/* A further session needs open files. Where none is left the host waits, like for a slot, until others are
 * done with theirs; when nobody else is at work nothing would come of that. */
static bool has_files(struct fleet_host *host)
{
    return host->links || fleet_make_room(host->fleet, fleet_host_files(host)) ||
           host->fleet->slots_used == 0;
}

/* First come, first served: who waits is attended to when a slot is given back. */
static bool take_slot(struct fleet_host *host)
{
    struct fleet *fleet = host->fleet;
    struct fleet_host **at = &fleet->waiting;

    if (host->has_slot) {
        return true;
    }
    if (fleet->slots_used < fleet->fanout && (host->waits_for_slot ? *at == host : !fleet->waiting) &&
        has_files(host)) {
        if (host->waits_for_slot) {
            fleet->waiting = host->next_waiting;
        }
        host->waits_for_slot = false;
        host->has_slot = true;
        fleet->slots_used++;
        if (fleet->waiting && fleet->slots_used < fleet->fanout) {
            touch(fleet->waiting);
        }
        return true;
    }
    if (!host->waits_for_slot) {
        host->waits_for_slot = true;
        host->next_waiting = NULL;
        while (*at) {
            at = &(*at)->next_waiting;
        }
        *at = host;
    }
    return false;
}

static void leave_queue(struct fleet_host *host)
{
    struct fleet_host **at = &host->fleet->waiting;

    if (!host->waits_for_slot) {
        return;
    }
    while (*at != host) {
        at = &(*at)->next_waiting;
    }
    *at = host->next_waiting;
    host->waits_for_slot = false;
    if (host->fleet->waiting) {
        touch(host->fleet->waiting);
    }
}

static void open_link(struct fleet_host *host)
{
    struct fleet_link *link = xcalloc(1, sizeof(*link)), **at = &host->links;
    size_t files = fleet_host_files(host);

    fleet_make_room(host->fleet, files);
    host->fleet->files_used += files;
    link->host = host;
    link->room = UINT_MAX;
    while (*at) {
        at = &(*at)->next;
    }
    *at = link;
    link->link = host->ops->open(host->shared, &host->endpoint, &events, link);
}

/* A link that takes a further command, or NULL; *may_open: another link would help. */
static struct fleet_link *find_link(const struct fleet_host *host, bool *may_open)
{
    size_t count = 0;
    bool short_runs = false;

    for (struct fleet_link *link = host->links; link; link = link->next) {
        count++;
        if (link->state == LINK_OPEN && link->active < link->room) {
            return link;
        }
        if (link->state != LINK_OPEN) {
            short_runs = true; /* one is on its way already */
        }
    }
    for (const struct fleet_exec *exec = host->execs; exec; exec = exec->next) {
        if (exec->link && !exec->follow) {
            short_runs = true; /* it will make room soon */
        }
    }
    *may_open = count == 0 || (!short_runs && count < FLEET_LINKS);
    return NULL;
}

static void put_on_link(struct fleet_exec *exec, struct fleet_link *link)
{
    exec->link = link;
    link->active++;
    exec->ordinal = link->active;
    if (!exec->host->ops->connects_late) {
        start_clock(exec);
    }
    exec->host->ops->run(link->link, &exec->job);
}

static void start_queued(struct fleet_host *host)
{
    struct fleet_exec *next;

    if (deadline_is_set(&host->pause)) {
        return;
    }
    for (struct fleet_exec *exec = host->execs; exec; exec = next) {
        struct fleet_link *link;
        bool may_open = false;
        next = exec->next;
        if (exec->link) {
            continue;
        }
        if (!take_slot(host)) {
            return;
        }
        link = find_link(host, &may_open);
        if (link) {
            put_on_link(exec, link);
        } else {
            if (may_open) {
                open_link(host);
            }
            return;
        }
        if (deadline_is_set(&host->pause)) {
            return;
        }
    }
}

void fleet_host_attend(struct fleet_host *host)
{
    end_unwanted(host);
    clear_broken(host);
    start_queued(host);
    pass_input(host);
    if (!is_busy(host)) {
        leave_queue(host);
        if (host->has_slot) {
            give_slot_back(host);
        }
    }
}

void fleet_exec_input_changed(struct fleet_exec *exec)
{
    exec->input_changed = true;
    touch(exec->host);
}

void fleet_host_pause(struct fleet_host *host)
{
    for (struct fleet_link *link = host->links; link; link = link->next) {
        if (link->state == LINK_OPEN) {
            host->ops->pause(link->link);
        }
    }
}

void fleet_host_close(struct fleet_host *host)
{
    deadline_clear(&host->fleet->deadlines, &host->pause);
    for (struct fleet_exec *exec = host->execs; exec; exec = exec->next) {
        leave_link(exec);
    }
    for (struct fleet_link *link = host->links, *next; link; link = next) {
        next = link->next;
        drop_link(link);
    }
}
