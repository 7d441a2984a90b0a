/* The fleet: its event loop, and the pump that does what events have asked for. */
#include "transport/fleet.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

#define CLOSE_MS 2000 /* for killed processes to end before the loop is abandoned */

void fleet_wake(struct fleet *fleet)
{
    if (!deadline_is_set(&fleet->pump)) {
        deadline_set(&fleet->deadlines, &fleet->pump, 0);
    }
}

/* Call the handlers in the order in which the commands ended. A handler may request more commands. */
static void deliver_ended(struct fleet *fleet)
{
    for (struct fleet_exec *exec; (exec = LIST_FIRST(&fleet->ended, struct fleet_exec, item));) {
        list_remove(&exec->item);
        fleet->pending--;
        exec->handler.done(exec->ctx, exec->host->index, &exec->result);
        fleet_exec_free(exec);
    }
}

static void on_pump(void *ctx)
{
    struct fleet *fleet = ctx;

    deliver_ended(fleet);
    for (struct fleet_host *host; (host = LIST_FIRST(&fleet->dirty, struct fleet_host, dirty));) {
        list_remove(&host->dirty);
        fleet_host_attend(host);
    }
    if (!list_is_empty(&fleet->ended)) {
        fleet_wake(fleet);
    }
}

static int begin_transports(struct fleet *fleet, struct error *err)
{
    struct transport_setup setup = {.loop = &fleet->loop,
                                    .fleet = fleet,
                                    .deadlines = &fleet->deadlines,
                                    .connect_timeout_ms = fleet->connect_timeout_ms,
                                    .keepalive_ms = fleet->keepalive_ms,
                                    .paused = &fleet->paused,
                                    .login_limits = &fleet->login_limits};

    fleet->shared = xcalloc(transports_all_count, sizeof(*fleet->shared));
    for (size_t i = 0; i < transports_all_count; i++) {
        fleet->shared[i] = transports_all[i]->begin(&setup, err);
        if (!fleet->shared[i]) {
            return -1;
        }
    }
    return 0;
}

struct fleet *fleet_new(const struct fleet_options *options, struct error *err)
{
    struct fleet *fleet = xcalloc(1, sizeof(*fleet));
    int failed = uv_loop_init(&fleet->loop);

    if (failed != 0) {
        error_set(err, &kind_local, "cannot create the event loop: %s", uv_strerror(failed));
        free(fleet);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    fleet->fanout = options && options->fanout != 0 ? options->fanout : FLEET_FANOUT;
    fleet->connect_timeout_ms = options ? options->connect_timeout_ms : 0;
    fleet->keepalive_ms = options && options->keepalive_ms != 0 ? options->keepalive_ms : FLEET_KEEPALIVE_MS;
    deadlines_init(&fleet->deadlines, &fleet->loop);
    uv_prepare_init(&fleet->loop, &fleet->prepare);
    fleet->prepare.data = fleet;
    fleet->pump.fire = on_pump;
    fleet->pump.ctx = fleet;
    fleet->files_max = SIZE_MAX;
    if (options && options->hosts > 0) {
        fleet_claim_files(fleet, options->hosts);
    }
    if (begin_transports(fleet, err) != 0) {
        fleet_free(fleet);
        return NULL;
    }
    return fleet;
}

size_t fleet_add_host(struct fleet *fleet, const struct endpoint *endpoint)
{
    struct fleet_host *host = fleet_host_new(fleet, endpoint, transport_find(endpoint));

    fleet->hosts = xgrow(fleet->hosts, fleet->hosts_len, &fleet->hosts_cap, sizeof(*fleet->hosts));
    fleet->hosts[fleet->hosts_len++] = host;
    return host->index;
}

/* Does fleet_run have to continue? */
static bool has_work(const struct fleet *fleet)
{
    return !fleet->stopped &&
           (fleet->pending > 0 || !list_is_empty(&fleet->timers) || !list_is_empty(&fleet->awaits));
}

/* Runs before the loop waits: when the last work ended in this turn, fleet_run must return at once. */
static void on_prepare(uv_prepare_t *handle)
{
    struct fleet *fleet = handle->data;

    if (!has_work(fleet)) {
        uv_stop(&fleet->loop);
    }
}

int fleet_run(struct fleet *fleet)
{
    fleet->stopped = false;
    uv_prepare_start(&fleet->prepare, on_prepare);
    while (has_work(fleet)) {
        uv_run(&fleet->loop, UV_RUN_ONCE);
    }
    uv_prepare_stop(&fleet->prepare);
    return fleet->stopped ? 1 : 0;
}

void fleet_stop(struct fleet *fleet)
{
    fleet->stopped = true;
    fleet_wake(fleet);
}

/* Let the loop run the close callbacks and reap killed processes, but not forever. */
static void close_loop(struct fleet *fleet)
{
    int64_t until = clock_mono_ms() + CLOSE_MS;

    while (fleet->deadlines.len > 0) {
        uv_run(&fleet->loop, UV_RUN_ONCE);
    }
    deadlines_close(&fleet->deadlines);
    deadlines_release(&fleet->deadlines);
    while (uv_run(&fleet->loop, UV_RUN_NOWAIT) != 0 && clock_mono_ms() < until) {
        uv_sleep(1);
    }
    if (uv_loop_close(&fleet->loop) == 0) {
        free(fleet);
    }
    /* otherwise a killed child cannot end: its handle and the loop are leaked until this process ends */
}

void fleet_free(struct fleet *fleet)
{
    if (!fleet) {
        return;
    }
    fleet_timers_end(fleet);
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        fleet_host_close(fleet->hosts[i]);
    }
    LIST_EACH(&fleet->jumps, struct fleet_host, jump, host) { /* nothing passes through them any more */
        fleet_host_close(host);
    }
    LIST_EACH(&fleet->ended, struct fleet_exec, item, exec) {
        fleet_exec_free(exec);
    }
    deadline_clear(&fleet->deadlines, &fleet->pump);
    for (size_t i = 0; i < transports_all_count; i++) {
        if (fleet->shared && fleet->shared[i]) {
            transports_all[i]->end(fleet->shared[i]);
        }
    }
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        fleet_host_free(fleet->hosts[i]);
    }
    LIST_EACH(&fleet->jumps, struct fleet_host, jump, host) {
        fleet_host_free(host);
    }
    fleet_signals_end(fleet);
    free(fleet->hosts);
    free(fleet->shared);
    uv_close((uv_handle_t *)&fleet->prepare, NULL);
    close_loop(fleet);
}
