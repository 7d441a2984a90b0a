#include "transport/fleet.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/kind.h"
#include "transport/fleet/fleet_internal.h"

#define CLOSE_MS 2000 /* for what was killed to be gone before the loop is given up */

static void on_pump(void *ctx)
{
    fleet_pump(ctx);
}

void fleet_wake(struct fleet *fleet)
{
    if (!deadline_is_set(&fleet->pump)) {
        deadline_set(&fleet->deadlines, &fleet->pump, 0);
    }
}

static int begin_transports(struct fleet *fleet, struct error *err)
{
    struct transport_setup setup = {.loop = &fleet->loop,
                                    .deadlines = &fleet->deadlines,
                                    .connect_timeout_ms = fleet->connect_timeout_ms,
                                    .keepalive_ms = fleet->keepalive_ms,
                                    .paused = &fleet->paused};

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
        error_set(err, &kind_local, "the event loop cannot be made: %s", uv_strerror(failed));
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
    struct fleet_host *host = fleet_host_new(fleet, endpoint);

    fleet->hosts = xgrow(fleet->hosts, fleet->hosts_len, &fleet->hosts_cap, sizeof(*fleet->hosts));
    fleet->hosts[fleet->hosts_len++] = host;
    return host->index;
}

static void on_exec_timeout(void *ctx)
{
    struct fleet_exec *exec = ctx;

    exec->timed_out = true;
    fleet_exec_end_wanted(exec);
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
    fleet_host_add_exec(exec);
    return exec->id;
}

static void free_exec(struct fleet_exec *exec)
{
    free(exec->command);
    free(exec->input);
    free(exec);
}

void fleet_cancel(struct fleet *fleet, uint64_t id)
{
    struct fleet_exec *exec = fleet_find_exec(fleet, id);

    if (exec) {
        fleet_exec_end_wanted(exec);
    }
}

void fleet_cancel_all(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        for (struct fleet_exec *at = fleet->hosts[i]->execs; at; at = at->next) {
            fleet_exec_end_wanted(at);
        }
    }
}

/* Tell the ends, in the order they came. A handler may ask for more meanwhile. */
static void deliver_ended(struct fleet *fleet)
{
    while (fleet->ended) {
        struct fleet_exec *exec = fleet->ended;
        fleet->ended = exec->next;
        fleet->pending--;
        exec->handler.done(exec->ctx, exec->host->index, &exec->result);
        free_exec(exec);
    }
}

void fleet_pump(struct fleet *fleet)
{
    deliver_ended(fleet);
    while (fleet->dirty) {
        struct fleet_host *host = fleet->dirty;
        fleet->dirty = host->next_dirty;
        host->dirty = false;
        fleet_host_attend(host);
    }
    if (fleet->ended) {
        fleet_wake(fleet);
    }
}

static void on_timer(void *ctx)
{
    struct fleet_timer *timer = ctx, **at = &timer->fleet->timers;

    while (*at != timer) {
        at = &(*at)->next;
    }
    *at = timer->next;
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
    timer->next = fleet->timers;
    fleet->timers = timer;
    deadline_set(&fleet->deadlines, &timer->deadline, ms);
    return timer->id;
}

void fleet_timer_cancel(struct fleet *fleet, uint64_t id)
{
    for (struct fleet_timer **at = &fleet->timers; *at; at = &(*at)->next) {
        struct fleet_timer *timer = *at;
        if (timer->id != id) {
            continue;
        }
        *at = timer->next;
        deadline_clear(&fleet->deadlines, &timer->deadline);
        free(timer);
        return;
    }
}

int64_t fleet_now_ms(const struct fleet *fleet)
{
    return deadlines_now(&fleet->deadlines);
}

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

/* Whether SIGHUP reaches this process. Children are not affected: libuv gives them an empty mask. */
static void block_hangup(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(how, &set, NULL);
}

void fleet_catch_hangup(struct fleet *fleet)
{
    uv_signal_init(&fleet->loop, &fleet->hangup);
    fleet->hangup.data = fleet;
    uv_signal_start(&fleet->hangup, on_signal, SIGHUP);
    fleet->catches_hangup = true;
    block_hangup(SIG_UNBLOCK);
}

static void on_background(uv_poll_t *handle, int status, int events)
{
    struct fleet *fleet = handle->data;

    (void)status; /* an error of the descriptor is its owner's to find */
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

/* Does fleet_run have to go on? */
static bool has_work(const struct fleet *fleet)
{
    return !fleet->stopped && (fleet->pending > 0 || fleet->timers || fleet->awaits);
}

/* Before the loop waits: what came to its end in this turn must not wait for somebody else's event. */
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

/* Let the loop run the close callbacks, and what was killed go, but not for ever. */
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
    /* else a killed child cannot die: its handle, and with it the loop, is left to the end of the process */
}

void fleet_free(struct fleet *fleet)
{
    if (!fleet) {
        return;
    }
    fleet_background(fleet, -1, NULL, NULL, NULL);
    while (fleet->timers) {
        fleet_timer_cancel(fleet, fleet->timers->id);
    }
    fleet_await_cancel_all(fleet);
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        struct fleet_host *host = fleet->hosts[i];
        fleet_host_close(host);
        while (host->execs) {
            struct fleet_exec *exec = host->execs;
            host->execs = exec->next;
            free_exec(exec);
        }
    }
    while (fleet->ended) {
        struct fleet_exec *exec = fleet->ended;
        fleet->ended = exec->next;
        free_exec(exec);
    }
    deadline_clear(&fleet->deadlines, &fleet->pump);
    for (size_t i = 0; i < transports_all_count; i++) {
        if (fleet->shared && fleet->shared[i]) {
            transports_all[i]->end(fleet->shared[i]);
        }
    }
    for (size_t i = 0; i < fleet->hosts_len; i++) {
        endpoint_release(&fleet->hosts[i]->endpoint);
        free(fleet->hosts[i]);
    }
    if (fleet->catches_hangup) {
        block_hangup(SIG_BLOCK);
        uv_close((uv_handle_t *)&fleet->hangup, NULL);
    }
    for (int i = 0; fleet->signals_made && i < FLEET_SIGNALS; i++) {
        uv_close((uv_handle_t *)&fleet->signals[i], NULL);
    }
    free(fleet->hosts);
    free(fleet->shared);
    uv_close((uv_handle_t *)&fleet->prepare, NULL);
    close_loop(fleet);
}
