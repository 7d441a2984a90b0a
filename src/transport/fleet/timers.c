/* Timers of the caller, and descriptors that it waits for once. */
#include <stdlib.h>

#include "base/alloc.h"
#include "transport/fleet/fleet_internal.h"

static void on_timer(void *ctx)
{
    struct fleet_timer *timer = ctx;

    list_remove(&timer->item);
    timer->callback(timer->ctx);
    free(timer);
}

uint64_t fleet_timer(struct fleet *fleet, unsigned ms, void (*callback)(void *ctx), void *ctx)
{
    struct fleet_timer *timer = xcalloc(1, sizeof(*timer));

    timer->fleet = fleet;
    timer->id = ++fleet->last_id;
    timer->callback = callback;
    timer->ctx = ctx;
    timer->deadline.fire = on_timer;
    timer->deadline.ctx = timer;
    list_append(&fleet->timers, &timer->item);
    deadline_set(&fleet->deadlines, &timer->deadline, ms);
    return timer->id;
}

static void remove_timer(struct fleet_timer *timer)
{
    list_remove(&timer->item);
    deadline_clear(&timer->fleet->deadlines, &timer->deadline);
    free(timer);
}

void fleet_timer_cancel(struct fleet *fleet, uint64_t id)
{
    LIST_EACH(&fleet->timers, struct fleet_timer, item, timer) {
        if (timer->id == id) {
            remove_timer(timer);
            return;
        }
    }
}

int64_t fleet_now_ms(const struct fleet *fleet)
{
    return deadlines_now(&fleet->deadlines);
}

static void on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

static void remove_await(struct fleet_await *await)
{
    list_remove(&await->item);
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

/* An error is found by the next read or write. */
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
    list_append(&fleet->awaits, &await->item);
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
    LIST_EACH(&fleet->awaits, struct fleet_await, item, at) {
        if (at->id == id) {
            remove_await(at);
            return;
        }
    }
}

void fleet_timers_end(struct fleet *fleet)
{
    LIST_EACH(&fleet->timers, struct fleet_timer, item, timer) {
        remove_timer(timer);
    }
    LIST_EACH(&fleet->awaits, struct fleet_await, item, await) {
        remove_await(await);
    }
}
