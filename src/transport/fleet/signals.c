/* Signals of this process, and the descriptors that are watched in the background. */
#include "base/signals.h"

#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

static void on_signal(uv_signal_t *handle, int number)
{
    struct fleet *fleet = handle->data;

    if (fleet->signal_callback) {
        fleet->signal_callback(fleet->signal_ctx, number);
    }
}

void fleet_on_signal(struct fleet *fleet, void (*callback)(void *ctx, int signal_number), void *ctx)
{
    static const int numbers[FLEET_SIGNALS] = {SIGINT, SIGTERM};

    fleet->signal_callback = callback;
    fleet->signal_ctx = ctx;
    for (int i = 0; i < FLEET_SIGNALS; i++) {
        if (!fleet->signals_made) {
            uv_signal_init(&fleet->loop, &fleet->signals[i]);
            fleet->signals[i].data = fleet;
        }
        if (callback) {
            uv_signal_start(&fleet->signals[i], on_signal, numbers[i]);
        } else {
            uv_signal_stop(&fleet->signals[i]);
        }
    }
    fleet->signals_made = true;
}

void fleet_catch_hangup(struct fleet *fleet)
{
    uv_signal_init(&fleet->loop, &fleet->hangup);
    fleet->hangup.data = fleet;
    uv_signal_start(&fleet->hangup, on_signal, SIGHUP);
    fleet->catches_hangup = true;
    signal_unblock(SIGHUP); /* children are not affected: libuv gives them an empty mask */
}

/* A descriptor that the caller has set. */
struct background {
    struct list_link item;
    uv_poll_t poll;
    int fd;
    void (*callback)(void *ctx);
    void *ctx;
};

static void on_background(uv_poll_t *handle, int status, int events)
{
    const struct background *background = handle->data;

    (void)status; /* the owner of the descriptor will find its error */
    (void)events;
    background->callback(background->ctx);
}

static void free_background(uv_handle_t *handle)
{
    free(handle->data);
}

int fleet_background(struct fleet *fleet, int fd, void (*callback)(void *ctx), void *ctx, struct error *err)
{
    struct background *background = xcalloc(1, sizeof(*background));
    int failed = uv_poll_init(&fleet->loop, &background->poll, fd);

    if (failed != 0) {
        free(background);
        return error_set(err, &kind_local, "descriptor %d cannot be watched: %s", fd, uv_strerror(failed));
    }
    background->poll.data = background;
    background->fd = fd;
    background->callback = callback;
    background->ctx = ctx;
    list_append(&fleet->background, &background->item);
    uv_poll_start(&background->poll, UV_READABLE, on_background);
    return 0;
}

void fleet_background_end(struct fleet *fleet, int fd)
{
    LIST_EACH(&fleet->background, struct background, item, background) {
        if (background->fd == fd || fd < 0) {
            list_remove(&background->item);
            uv_close((uv_handle_t *)&background->poll, free_background);
        }
    }
}

void fleet_signals_end(struct fleet *fleet)
{
    fleet_background_end(fleet, -1);
    if (fleet->catches_hangup) {
        signal_block(SIGHUP);
        uv_close((uv_handle_t *)&fleet->hangup, NULL);
    }
    for (int i = 0; fleet->signals_made && i < FLEET_SIGNALS; i++) {
        uv_close((uv_handle_t *)&fleet->signals[i], NULL);
    }
}
