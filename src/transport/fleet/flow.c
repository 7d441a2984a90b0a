/* What goes in and out while commands run: more input, output that has to wait, descriptors of the caller's.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "transport/fleet/fleet_internal.h"

void fleet_input(struct fleet *fleet, uint64_t id, const void *bytes, size_t len)
{
    struct fleet_exec *exec = fleet_find_exec(fleet, id);

    if (!exec) {
        return;
    }
    exec->job.input = bytes;
    exec->job.input_len = len;
    fleet_exec_input_changed(exec);
}

void fleet_input_end(struct fleet *fleet, uint64_t id)
{
    struct fleet_exec *exec = fleet_find_exec(fleet, id);

    if (!exec || !exec->job.hold_input) {
        return;
    }
    exec->job.hold_input = false;
    fleet_exec_input_changed(exec);
}

void fleet_pause_output(struct fleet *fleet, bool pause)
{
    if (fleet->paused == pause) {
        return;
    }
    fleet->paused = pause;
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        fleet_host_pause(fleet->hosts[i]);
    }
}

static void on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

static void remove_await(struct fleet_await *await)
{
    struct fleet_await **at = &await->fleet->awaits;

    while (*at != await) {
        at = &(*at)->next;
    }
    *at = await->next;
    deadline_clear(&await->fleet->deadlines, &await->deadline);
    if (await->poll) {
        uv_close((uv_handle_t *)await->poll, on_poll_closed);
    }
    free(await);
}

static void on_ready(void *ctx)
{
    struct fleet_await *await = ctx;
    void (*callback)(void *ctx) = await->callback;
    void *callback_ctx = await->ctx;

    remove_await(await);
    callback(callback_ctx);
}

/* An error is found by whoever reads or writes. */
static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    on_ready(poll->data);
}

uint64_t fleet_await(struct fleet *fleet, int fd, bool write, void (*callback)(void *ctx), void *ctx)
{
    struct fleet_await *await = xcalloc(1, sizeof(*await));

    await->fleet = fleet;
    await->id = ++fleet->last_id;
    await->callback = callback;
    await->ctx = ctx;
    await->deadline.fire = on_ready;
    await->deadline.ctx = await;
    await->next = fleet->awaits;
    fleet->awaits = await;
    await->poll = xcalloc(1, sizeof(*await->poll));
    await->poll->data = await;
    if (uv_poll_init(&fleet->loop, await->poll, fd) != 0) { /* epoll takes no regular file */
        free(await->poll);
        await->poll = NULL;
        deadline_set(&fleet->deadlines, &await->deadline, 0);
    } else {
        uv_poll_start(await->poll, write ? UV_WRITABLE : UV_READABLE | UV_DISCONNECT, on_poll);
    }
    return await->id;
}

void fleet_await_cancel(struct fleet *fleet, uint64_t id)
{
    for (struct fleet_await *at = fleet->awaits; at; at = at->next) {
        if (at->id == id) {
            remove_await(at);
            return;
        }
    }
}

void fleet_await_cancel_all(struct fleet *fleet)
{
    for (struct fleet_await *await = fleet->awaits, *next; await; await = next) {
        next = await->next;
        remove_await(await);
    }
}
