/* Runs the node's copy program on one host. */
#include <string.h>

#include "base/alloc.h"
#include "copy_call_internal.h"
#include "model/kind.h"
#include "node/container.h"

#define PATIENCE_S 120  /* longest time without a byte in either direction */
#define STOP_MS    5000 /* time for a program that was told to stop */

void copy_call_abort(struct copy_call *call, const struct error *error)
{
    if (call->ask.state == ASK_IDLE) {
        return;
    }
    if (!call->error.kind) {
        call->error = *error;
    }
    ask_cancel(&call->ask);
}

/* --- timers --- */

static void on_stop_timer(void *ctx)
{
    struct copy_call *call = ctx;

    call->timer = 0;
    ask_cancel(&call->ask);
}

void copy_call_stop(struct copy_call *call, const struct error *error)
{
    if (call->ask.state == ASK_IDLE) {
        return;
    }
    if (!call->ask.begun || call->error.kind) {
        copy_call_abort(call, error);
        return;
    }
    call->error = *error;
    copy_call_end_input(call);
    fleet_timer_cancel(call->fleet, call->timer);
    call->timer = fleet_timer(call->fleet, STOP_MS, on_stop_timer, call);
}

static void on_timer(void *ctx)
{
    struct copy_call *call = ctx;
    struct error error = ERROR_INIT;

    call->timer = 0;
    error_set(&error, &kind_time_limit, "nothing was written or read there for %u s",
              call->patience_s ? call->patience_s : PATIENCE_S);
    error_hint(&error, "look at the disk, or the server of the share, that holds the folder there");
    copy_call_abort(call, &error);
}

/* There was progress. */
static void restart_timer(struct copy_call *call)
{
    if (call->ask.begun && !call->error.kind) {
        fleet_timer_cancel(call->fleet, call->timer);
        call->timer = fleet_timer(call->fleet, (call->patience_s ? call->patience_s : PATIENCE_S) * 1000,
                                  on_timer, call);
    }
}

void copy_call_be_patient(struct copy_call *call, unsigned seconds)
{
    call->patience_s = seconds;
    restart_timer(call);
}

void copy_call_rest(struct copy_call *call)
{
    if (!call->error.kind) {
        fleet_timer_cancel(call->fleet, call->timer);
        call->timer = 0;
    }
}

/* --- output of the program --- */

static void take_answer(struct copy_call *call, const char *bytes, size_t len)
{
    struct error error = ERROR_INIT;
    enum node_copy_event event = NODE_COPY_NOTHING;

    do {
        if (node_copy_take(&call->answer, &bytes, &len, &event, &error) != 0 ||
            (event != NODE_COPY_NOTHING && call->handler->event(call->ctx, call, event, &error) != 0)) {
            copy_call_stop(call, &error); /* the program removes its unfinished files */
            return;
        }
        if (event != NODE_COPY_NOTHING) {
            restart_timer(call);
        }
    } while (event != NODE_COPY_NOTHING);
}

int copy_call_unexpected(const struct copy_call *call, struct error *err)
{
    return error_set(err, &kind_node_answer, "the node says '%s=%s', which was not expected",
                     call->answer.key, call->answer.value);
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct copy_call *call = ctx;
    struct error error = ERROR_INIT;

    if (call->error.kind) {
        return;
    }
    node_exec_stream_take(stream == 1 ? &call->out : &call->err, &bytes, &len);
    if (!call->ask.begun && call->out.begun) {
        ask_begun(&call->ask);
        restart_timer(call);
    }
    if (len == 0) {
        return;
    }
    if (stream == (call->expect_contents ? 2 : 1)) {
        take_answer(call, bytes, len);
    } else if (stream == 1) {
        restart_timer(call);
        if (call->handler->contents(call->ctx, bytes, len, &error) != 0) {
            copy_call_abort(call, &error);
        }
    }
}

static void send_waiting(struct copy_call *call)
{
    call->input = call->waiting;
    call->waiting = (struct str)STR_INIT;
    fleet_input(call->fleet, call->ask.exec, call->input.data, call->input.len);
}

static void on_drained(void *ctx)
{
    struct copy_call *call = ctx;

    restart_timer(call);
    str_release(&call->input);
    call->is_ready = true;
    if (call->waiting.len > 0) {
        send_waiting(call);
        return;
    }
    if (!call->closing && !call->error.kind) {
        call->handler->drained(call->ctx, call);
    }
}

static void on_started(void *ctx)
{
    struct copy_call *call = ctx;

    call->started = true;
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct copy_call *call = ctx;
    struct error error = result->error;

    fleet_timer_cancel(call->fleet, call->timer);
    call->timer = 0;
    if (call->error.kind) {
        error = call->error;
    } else if (!error.kind && !call->out.begun) {
        node_exec_error(&call->out, result->exit_status, &error);
    } else if (!error.kind && result->exit_status != 0) {
        error_set(&error, &kind_node_answer, "the copy there ended with status %d", result->exit_status);
    }
    ask_explain(&call->ask, &error);
    call->handler->ended(call->ctx, call, &error, call->started);
}

/* --- input of the program --- */

static bool build(void *ctx, const char *nonce, struct node_call *request)
{
    struct copy_call *call = ctx;

    call->out.nonce = call->err.nonce = call->answer.nonce = nonce;
    node_request_copy(call->place->base, call->place->relay, call->place->mark, nonce, request);
    if (call->place->container) {
        node_call_enter(request, call->place->container);
    }
    return true;
}

void copy_call_begin(struct copy_call *call, const struct copy_call_place *place)
{
    static const struct ask_handler handler = {
        .build = build, .data = on_data, .done = on_done, .started = on_started, .drained = on_drained};
    const struct ask_options options = {
        .begin_ms = ask_begin_ms(place->connect_timeout_ms), .follow = true, .hold_input = true};

    call->place = place;
    ask_init(&call->ask, call->fleet, call->host, &handler, &options, call);
    ask_send(&call->ask);
    call->place = NULL;
}

void copy_call_feed(struct copy_call *call, struct str *input)
{
    if (call->waiting.len == 0) {
        str_release(&call->waiting);
        call->waiting = *input;
        *input = (struct str)STR_INIT;
    } else {
        str_add_mem(&call->waiting, input->data, input->len);
        str_release(input);
    }
    if (call->is_ready && call->input.len == 0) {
        send_waiting(call);
    }
}

void copy_call_end_input(struct copy_call *call)
{
    call->closing = true;
    fleet_input_end(call->fleet, call->ask.exec);
}

void copy_call_release(struct copy_call *call)
{
    node_exec_stream_release(&call->out);
    node_exec_stream_release(&call->err);
    node_copy_release(&call->answer);
    ask_release(&call->ask);
    str_release(&call->input);
    str_release(&call->waiting);
}
