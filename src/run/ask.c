/* Asks a node: sends the request, receives the answer, and requires it to begin in time. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "ask_internal.h"
#include "login_output_internal.h"
#include "model/kind.h"
#include "model/policy.h"

#define BEGIN_TIMES 3 /* in multiples of the time for connect and login */

void ask_init(struct ask *ask, struct fleet *fleet, size_t host, const struct ask_handler *handler,
              const struct ask_options *options, void *ctx)
{
    *ask = (struct ask){.fleet = fleet, .host = host, .handler = handler, .options = *options, .ctx = ctx};
}

void ask_release(struct ask *ask)
{
    str_release(&ask->login_output);
}

void ask_make_nonce(char nonce[NODE_NONCE_LEN + 1])
{
    /* 32 letters: a random byte modulo 32 has no bias */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[NODE_NONCE_LEN];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort(); /* cannot happen for up to 256 bytes once the kernel's pool is initialised */
    }
    for (size_t i = 0; i < NODE_NONCE_LEN; i++) {
        nonce[i] = letters[random[i] % (sizeof(letters) - 1)];
    }
    nonce[NODE_NONCE_LEN] = '\0';
}

void ask_make_run_id(const char *run, char *out, size_t size)
{
    unsigned char random[4];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort();
    }
    snprintf(out, size, "%s-%02x%02x%02x%02x", run, random[0], random[1], random[2], random[3]);
}

unsigned ask_begin_ms(unsigned connect_timeout_ms)
{
    return BEGIN_TIMES * (connect_timeout_ms != 0 ? connect_timeout_ms : FLEET_CONNECT_MS);
}

unsigned ask_retry_ms(unsigned failures)
{
    uint32_t chance = 0;
    if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance)) {
        chance = UINT32_MAX / 2;
    }
    return policy_retry_ms(failures, chance);
}

static void stop_timer(struct ask *ask)
{
    fleet_timer_cancel(ask->fleet, ask->timer);
    ask->timer = 0;
}

/* A login that hangs, or prints a byte now and then, must not delay the other nodes. */
static void on_late(void *ctx)
{
    struct ask *ask = ctx;
    ask->timer = 0;
    ask->late = true;
    fleet_cancel(ask->fleet, ask->exec);
}

static void on_started(void *ctx, size_t host)
{
    struct ask *ask = ctx;
    (void)host;
    if (ask->options.begin_ms != 0 && !ask->begun) {
        stop_timer(ask);
        ask->timer = fleet_timer(ask->fleet, ask->options.begin_ms, on_late, ask);
    }
    if (ask->handler->started) {
        ask->handler->started(ask->ctx);
    }
}

static void on_drained(void *ctx, size_t host)
{
    const struct ask *ask = ctx;
    (void)host;
    if (ask->handler->drained) {
        ask->handler->drained(ask->ctx);
    }
}

static void on_data(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct ask *ask = ctx;
    (void)host;
    if (!ask->begun) {
        login_output_add(&ask->login_output, bytes, len);
    }
    if (!ask->late && ask->handler->data) {
        ask->handler->data(ask->ctx, stream, bytes, len);
    }
}

static void set_late(const struct ask *ask, struct error *err)
{
    error_set(err, &kind_node_answer, "the login did not start the command within %u s",
              ask->options.begin_ms / 1000);
    error_hint(err, "check whether one of the login's start-up files reads standard input or waits for "
                    "something; --connect-timeout gives them more time");
}

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct ask *ask = ctx;
    struct exec_result own = *result;
    (void)host;
    stop_timer(ask);
    ask->state = ASK_IDLE;
    if (ask->late) {
        set_late(ask, &own.error);
    }
    ask->handler->done(ask->ctx, &own);
}

bool ask_send(struct ask *ask)
{
    static const struct exec_handler handler = {
        .data = on_data, .done = on_done, .started = on_started, .drained = on_drained};
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    stop_timer(ask);
    ask->state = ASK_IDLE;
    ask->begun = ask->late = false;
    str_release(&ask->login_output);
    ask_make_nonce(ask->nonce);
    if (!ask->handler->build(ask->ctx, ask->nonce, &call)) {
        return false;
    }
    const struct exec_request request = {
        .command = call.command,
        .input = call.input.data,
        .input_len = call.input.len,
        .timeout_ms = ask->options.timeout_ms,
        .follow = ask->options.follow,
        .hold_input = ask->options.hold_input,
    };
    ask->state = ASK_OPEN;
    ask->exec = fleet_exec(ask->fleet, ask->host, &request, &handler, ask);
    return true;
}

static void on_retry(void *ctx)
{
    struct ask *ask = ctx;
    ask->timer = 0;
    ask_send(ask);
}

void ask_retry(struct ask *ask, unsigned ms)
{
    stop_timer(ask);
    ask->state = ASK_WAITING;
    ask->timer = fleet_timer(ask->fleet, ms, on_retry, ask);
}

void ask_begun(struct ask *ask)
{
    if (!ask->begun) {
        ask->begun = true;
        stop_timer(ask);
    }
}

void ask_cancel(struct ask *ask)
{
    if (ask->state == ASK_WAITING) {
        stop_timer(ask);
        ask->state = ASK_IDLE;
        return;
    }
    fleet_cancel(ask->fleet, ask->exec);
}

void ask_explain(const struct ask *ask, struct error *err)
{
    login_output_explain(&ask->login_output, err);
}
