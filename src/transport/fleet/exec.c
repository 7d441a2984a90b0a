/* Commands of the fleet: requested, put on a link, retried when refused or lost, ended. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

/* After a refusal with no command running, because the server still counts one that has ended. Doubled each
 * time. */
#define FIRST_PAUSE_MS 50
#define MAX_REFUSALS   6 /* 3 s in total */

/* --- requests of the caller ----- */

static struct fleet_exec *find_exec(struct fleet *fleet, uint64_t id)
{
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        LIST_EACH(&fleet->hosts[i]->execs, struct fleet_exec, item, at) {
            if (at->id == id) {
                return at;
            }
        }
    }
    return NULL;
}

static void end_soon(struct fleet_exec *exec)
{
    exec->unwanted = true;
    fleet_host_touch(exec->host);
}

static void on_exec_timeout(void *ctx)
{
    struct fleet_exec *exec = ctx;

    exec->timed_out = true;
    end_soon(exec);
}

uint64_t fleet_exec(struct fleet *fleet, size_t index, const struct exec_request *request,
                    const struct exec_handler *handler, void *ctx)
{
    struct fleet_exec *exec = xcalloc(1, sizeof(*exec));

    exec->id = ++fleet->last_id;
    exec->host = fleet->hosts[index];
    exec->handler = *handler;
    exec->ctx = ctx;
    exec->follow = request->follow;
    exec->timeout_ms = request->timeout_ms;
    exec->timeout.fire = on_exec_timeout;
    exec->timeout.ctx = exec;
    exec->command = xstrdup(request->command);
    exec->job.command = exec->command;
    exec->job.hold_input = request->hold_input;
    if (request->input_len > 0) {
        exec->input = xcalloc(1, request->input_len);
        memcpy(exec->input, request->input, request->input_len);
        exec->job.input = exec->input;
        exec->job.input_len = request->input_len;
    }
    fleet->pending++;
    list_append(&exec->host->execs, &exec->item);
    fleet_host_touch(exec->host);
    return exec->id;
}

void fleet_exec_free(struct fleet_exec *exec)
{
    free(exec->command);
    free(exec->input);
    free(exec->target);
    free(exec);
}

void fleet_cancel(struct fleet *fleet, uint64_t id)
{
    struct fleet_exec *exec = find_exec(fleet, id);

    if (exec) {
        end_soon(exec);
    }
}

void fleet_cancel_all(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        LIST_EACH(&fleet->hosts[i]->execs, struct fleet_exec, item, at) {
            end_soon(at);
        }
    }
}

static void change_input(struct fleet_exec *exec)
{
    exec->input_changed = true;
    fleet_host_touch(exec->host);
}

void fleet_input(struct fleet *fleet, uint64_t id, const void *bytes, size_t len)
{
    struct fleet_exec *exec = find_exec(fleet, id);

    if (exec) {
        exec->job.input = bytes;
        exec->job.input_len = len;
        change_input(exec);
    }
}

void fleet_input_end(struct fleet *fleet, uint64_t id)
{
    struct fleet_exec *exec = find_exec(fleet, id);

    if (exec && exec->job.hold_input) {
        exec->job.hold_input = false;
        change_input(exec);
    }
}

/* --- on and off a link --- */

void fleet_exec_leave_link(struct fleet_exec *exec)
{
    deadline_clear(&exec->host->fleet->deadlines, &exec->timeout);
    if (exec->link) {
        exec->link->active--;
    }
    exec->link = NULL;
}

/*
 * Move the command from the host's list to the end of the fleet's, whose handlers are called in the next
 * turn. Whoever waits for a passage is notified at once, before its socket can be seen to end.
 */
static void finish(struct fleet_exec *exec)
{
    struct fleet_host *host = exec->host;

    fleet_exec_leave_link(exec);
    list_remove(&exec->item);
    fleet_host_touch(host);
    if (exec->job.host) {
        const struct error err = exec->result.error;
        fleet_jump_ended(exec, &err);
        return;
    }
    list_append(&host->fleet->ended, &exec->item);
    exec->result.started = exec->started;
    if (exec->began_ms != 0) {
        exec->result.elapsed_ms = (unsigned)(clock_mono_ms() - exec->began_ms);
    }
}

void fleet_exec_end(struct fleet_exec *exec, const struct error *err)
{
    exec->result = (struct exec_result){.error = *err, .exit_status = -1};
    finish(exec);
}

static void requeue(struct fleet_exec *exec)
{
    fleet_exec_leave_link(exec);
    fleet_jump_asked(exec, false);
    fleet_host_touch(exec->host);
}

void fleet_exec_start_clock(struct fleet_exec *exec)
{
    if (exec->began_ms == 0) {
        exec->began_ms = clock_mono_ms();
    }
    if (exec->timeout_ms != 0 && !deadline_is_set(&exec->timeout)) {
        deadline_set(&exec->host->fleet->deadlines, &exec->timeout, exec->timeout_ms);
    }
}

static struct fleet_exec *exec_of(struct transport_job *job)
{
    return LIST_OF(job, struct fleet_exec, job);
}

/* --- events of a transport ------ */

static void on_opened(void *owner)
{
    struct fleet_link *link = owner;

    link->state = LINK_OPEN;
    link->was_open = true;
    fleet_host_touch(link->host);
}

static void on_broken(void *owner, const struct error *err)
{
    struct fleet_link *link = owner;

    link->state = LINK_BROKEN;
    link->error = *err;
    fleet_host_touch(link->host);
}

static void on_started(void *owner, struct transport_job *job)
{
    struct fleet_link *link = owner;
    struct fleet_exec *exec = exec_of(job);

    exec->started = true;
    if (link->host->ops->connects_late) {
        fleet_exec_start_clock(exec);
    }
    if (exec->handler.started) {
        exec->handler.started(exec->ctx, exec->host->index);
    }
    if (exec->follow) { /* may free the host's slot */
        fleet_host_touch(link->host);
    }
}

static void on_connected(void *owner, struct transport_job *job, int fd)
{
    struct fleet_exec *exec = exec_of(job);

    (void)owner;
    exec->started = true;
    fleet_jump_opened(exec, fd);
}

static unsigned count_started(const struct fleet_link *link)
{
    unsigned count = 0;

    LIST_EACH(&link->host->execs, struct fleet_exec, item, exec) {
        count += exec->link == link && exec->started;
    }
    return count;
}

/*
 * A refusal beyond the known room shows how many commands a link takes: wait until one has ended. A refusal
 * within the known room means that the server still counts one that has ended: try again shortly.
 */
static void on_refused(void *owner, struct transport_job *job)
{
    struct fleet_link *link = owner;
    struct fleet_exec *exec = exec_of(job);
    struct error err = ERROR_INIT;
    unsigned running;
    bool within = exec->ordinal <= link->room && link->room != UINT_MAX;

    requeue(exec);
    running = exec->job.host ? link->active : count_started(link); /* passages are confirmed in any order */
    if (!within) {
        link->room = running > 0 ? running : 1;
    }
    if (!within && running > 0) {
        return;
    }
    if (++exec->refusals > MAX_REFUSALS && exec->job.host) {
        error_set(&err, &kind_jump_unreachable, "jump host '%s' accepts no further connections",
                  exec->host->endpoint.name);
        error_hint(&err, "look at the limit of open files of its sshd, or name a second jump host");
        fleet_exec_end(exec, &err);
        return;
    }
    if (exec->refusals > MAX_REFUSALS) {
        error_set(&err, &kind_node_unsupported, "the ssh server did not open a session for a command");
        error_hint(&err, "look at MaxSessions in its sshd_config");
        fleet_exec_end(exec, &err);
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
    fleet_host_touch(exec->host);
}

/* A session may have died while it was idle: a command that has certainly not run is tried once more. */
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
    finish(exec);
}

const struct transport_events fleet_events = {
    .opened = on_opened,
    .broken = on_broken,
    .started = on_started,
    .connected = on_connected,
    .refused = on_refused,
    .data = on_data,
    .drained = on_drained,
    .ended = on_ended,
};
