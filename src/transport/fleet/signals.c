/* Signals of this process, and the one descriptor that is watched in the background. */
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

static void on_background(uv_poll_t *handle, int status, int events)
{
    struct fleet *fleet = handle->data;

    (void)status; /* the owner of the descriptor finds its error */
    (void)events;
    if (fleet->background == handle) {
        fleet->background_callback(fleet->background_ctx);
    }
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

int fleet_background(struct fleet *fleet, int fd, void (*callback)(void *ctx), void *ctx, struct error *err)
{
    if (fleet->background) {
        uv_close((uv_handle_t *)fleet->background, free_handle);
        fleet->background = NULL;
    }
    if (fd < 0) {
        return 0;
    }
    uv_poll_t *handle = xcalloc(1, sizeof(*handle));
    int failed = uv_poll_init(&fleet->loop, handle, fd);
    if (failed != 0) {
        free(handle);
        return error_set(err, &kind_local, "descriptor %d cannot be watched: %s", fd, uv_strerror(failed));
    }
    handle->data = fleet;
    uv_poll_start(handle, UV_READABLE, on_background);
    fleet->background = handle;
    fleet->background_callback = callback;
    fleet->background_ctx = ctx;
    return 0;
}

void fleet_signals_end(struct fleet *fleet)
{
    fleet_background(fleet, -1, NULL, NULL, NULL);
    if (fleet->catches_hangup) {
        signal_block(SIGHUP);
        uv_close((uv_handle_t *)&fleet->hangup, NULL);
    }
    for (int i = 0; fleet->signals_made && i < FLEET_SIGNALS; i++) {
        uv_close((uv_handle_t *)&fleet->signals[i], NULL);
    }
}
