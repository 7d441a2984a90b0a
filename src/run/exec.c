/* Runs one command on many hosts at once, each with its own time limit and result. */
#include "run/exec.h"

#include <signal.h>
#include <stdlib.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "exec_internal.h"
#include "model/kind.h"
#include "node/container.h"

#define TICK_MS 1000
/* for a command that was told to end: the node gives it two seconds, then kills and checks */
#define END_MS        6000
#define NODE_LATER_S  5 /* the node's own limit is later than ours, in case the connection is dead by then */
#define TIMEOUT_MAX_S (UINT32_MAX / 1000 - NODE_LATER_S)

static void ask_more(struct exec *exec);

bool exec_wants_end(const struct exec *exec)
{
    return exec->signals > 0 || exec->deaf || exec->input_error.kind;
}

static void report_end(struct exec_entry *entry, const struct error *error, const struct exec_result *result)
{
    const struct run_exec_observer *observer = entry->exec->request->observer;
    const struct run_exec_end end = {
        .error = error,
        .exit_status = error->kind ? -1 : result->exit_status,
        .signal = error->kind ? "" : result->signal,
        .elapsed_ms = result ? result->elapsed_ms : 0,
    };

    entry->done = true;
    observer->ended(observer->ctx, (size_t)(entry - entry->exec->entries), &end);
    node_exec_stream_release(&entry->out);
    node_exec_stream_release(&entry->err);
    ask_release(&entry->ask);
}

static int set_signalled(const struct exec *exec, const char *more, struct error *err)
{
    if (exec->signal_number == SIGTERM) {
        return error_set(err, &kind_terminated, "terminated by SIGTERM%s", more);
    }
    return error_set(err, &kind_interrupted, "interrupted%s", more);
}

static void set_interrupted(const struct exec_entry *entry, struct error *err)
{
    set_signalled(
        entry->exec,
        entry->overdue ? "; the command may still be running: it did not answer when it was ended" : "", err);
}

/* --- ending --- */

/* The command did not end, or there was no answer: leave it to its watchdog. */
static void on_overdue(void *ctx)
{
    struct exec_entry *entry = ctx;

    entry->timer = 0;
    entry->overdue = true;
    ask_cancel(&entry->ask);
}

static bool end_build(void *ctx, const char *nonce, struct node_call *call)
{
    const struct exec_entry *entry = ctx;

    node_request_exec_end(entry->ask.nonce, nonce, call);
    if (entry->exec->request->place) {
        node_call_enter(call, entry->exec->request->place);
    }
    return true;
}

static void end_done(void *ctx, const struct exec_result *result)
{
    (void)ctx;
    (void)result; /* only the end of the command itself counts */
}

/*
 * Tell the watchdog to end the command: by the end of the input or, if the input is the command's own, by
 * another call.
 */
static void end_by_watchdog(struct exec_entry *entry)
{
    static const struct ask_handler handler = {.build = end_build, .done = end_done};
    static const struct ask_options options = {.timeout_ms = END_MS};
    const struct exec *exec = entry->exec;

    if (exec->request->input_fd < 0) {
        fleet_input_end(exec->fleet, entry->ask.exec);
        return;
    }
    ask_init(&entry->end, exec->fleet, entry->ask.host, &handler, &options, entry);
    ask_send(&entry->end);
}

static void end_entry(struct exec_entry *entry)
{
    struct exec *exec = entry->exec;

    if (entry->done || entry->ending) {
        return;
    }
    entry->ending = true;
    fleet_timer_cancel(exec->fleet, entry->timer);
    entry->timer = 0;
    if (!entry->started) {
        ask_cancel(&entry->ask);
        return;
    }
    entry->unheard = exec->output_await != 0;
    if (entry->unheard &&
        exec->request->input_fd >= 0) { /* the answer to another call would not be read either */
        ask_cancel(&entry->ask);
        return;
    }
    end_by_watchdog(entry);
    entry->timer = fleet_timer(exec->fleet, END_MS, on_overdue, entry);
}

void exec_end_all(struct exec *exec)
{
    for (size_t i = 0; i < exec->next; i++) {
        end_entry(&exec->entries[i]);
    }
}

static void on_time_limit(void *ctx)
{
    struct exec_entry *entry = ctx;

    entry->timer = 0;
    entry->timed_out = true;
    end_entry(entry);
}

/* --- output --- */

static void on_writable(void *ctx);

static void go_deaf(struct exec *exec)
{
    if (exec->deaf) {
        return;
    }
    exec->deaf = true;
    exec_end_all(exec);
}

/* Read more output, or wait until what was read has been written. */
static void check_room(struct exec *exec)
{
    const struct run_exec_observer *observer = exec->request->observer;
    int fd = exec_wants_end(exec) ? -1 : observer->full(observer->ctx);

    if (fd >= 0 && exec->output_await == 0) {
        exec->output_await = fleet_await(exec->fleet, fd, true, on_writable, exec);
    } else if (fd < 0) { /* output can be written, or the reader is no longer waited for */
        fleet_await_cancel(exec->fleet, exec->output_await);
        exec->output_await = 0;
    }
    fleet_pause_output(exec->fleet, fd >= 0);
}

static void on_signal(void *ctx, int signal_number)
{
    struct exec *exec = ctx;

    exec->signal_number = signal_number;
    if (exec->signals++ == 0) {
        exec_end_all(exec);
        check_room(exec);
    } else {
        fleet_stop(exec->fleet);
    }
}

static void on_writable(void *ctx)
{
    struct exec *exec = ctx;
    const struct run_exec_observer *observer = exec->request->observer;

    exec->output_await = 0;
    if (!observer->writable(observer->ctx)) {
        go_deaf(exec);
    }
    check_room(exec);
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct exec_entry *entry = ctx;
    struct exec *exec = entry->exec;
    const struct run_exec_observer *observer = exec->request->observer;

    node_exec_stream_take(stream == 1 ? &entry->out : &entry->err, &bytes, &len);
    if (entry->out.begun) {
        ask_begun(&entry->ask);
    }
    /* After an interruption a reader that has stopped reading is not waited for. */
    if (len == 0 || exec->deaf || (exec->signals > 0 && observer->full(observer->ctx) >= 0)) {
        return;
    }
    if (!observer->output(observer->ctx, entry->ask.host, stream, bytes, len)) {
        go_deaf(exec);
    }
    check_room(exec);
}

static void on_tick(void *ctx)
{
    struct exec *exec = ctx;
    const struct run_exec_observer *observer = exec->request->observer;

    exec->tick = fleet_timer(exec->fleet, TICK_MS, on_tick, exec);
    if (!exec->deaf && !observer->tick(observer->ctx)) {
        go_deaf(exec);
    }
    check_room(exec);
}

/* --- one host --- */

static void start_clock(struct exec_entry *entry)
{
    struct exec *exec = entry->exec;
    unsigned long timeout_s = exec->request->timeout_s;

    if (timeout_s != 0 && entry->started && !entry->done && !entry->ending && entry->timer == 0 &&
        (!exec->input || exec->input_flows)) {
        entry->timer = fleet_timer(exec->fleet, (unsigned)(timeout_s * 1000), on_time_limit, entry);
    }
}

static void on_started(void *ctx)
{
    struct exec_entry *entry = ctx;

    entry->started = true;
    start_clock(entry);
}

void exec_start_clocks(struct exec *exec)
{
    for (size_t i = 0; i < exec->next; i++) {
        start_clock(&exec->entries[i]);
    }
}

static const char *how_it_ended(const struct exec_entry *entry)
{
    if (entry->unheard) {
        return " and was told to end; nothing reads the output, so its answer was not read";
    }
    return entry->overdue ? " and may still be running: it did not answer when it was ended"
                          : " and was ended";
}

static void set_timed_out(const struct exec_entry *entry, struct error *err)
{
    if (!entry->out.begun) {
        error_set(err, &kind_time_limit, "the login did not start the command within %lus",
                  entry->exec->request->timeout_s);
        error_hint(err, "look at the login's start-up files, or give it more time with --timeout");
        return;
    }
    error_set(err, &kind_time_limit, "the command ran longer than %lus%s", entry->exec->request->timeout_s,
              how_it_ended(entry));
    error_hint(err, "--timeout gives it more time");
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct exec_entry *entry = ctx;
    struct exec *exec = entry->exec;
    struct error error = result->error;

    fleet_timer_cancel(exec->fleet, entry->timer);
    if (entry->ask.late) {
        /* ask has set the error */
    } else if (entry->timed_out) {
        set_timed_out(entry, &error);
    } else if (entry->ending && exec->signals > 0) {
        set_interrupted(entry, &error);
    } else if (entry->ending && exec->input_error.kind) {
        error = exec->input_error;
    } else if (!error.kind && !entry->out.begun) {
        node_exec_error(&entry->out, result->exit_status, &error);
    }
    ask_explain(&entry->ask, &error);
    report_end(entry, &error, result);
    fleet_close_idle(exec->fleet, entry->ask.host);
    exec->open--;
    exec_input_forget(entry);
    ask_more(exec);
    check_room(exec);
}

static void on_drained(void *ctx)
{
    exec_input_drained(ctx);
}

/*
 * The node's own time limit. With input, the limit here counts from the moment when all hosts can take it, so
 * the node's is longer.
 */
static unsigned long node_limit_s(const struct exec *exec)
{
    const struct run_exec_request *request = exec->request;

    if (request->timeout_s == 0) {
        return 0;
    }
    return request->timeout_s + NODE_LATER_S +
           (request->input_fd >= 0 ? 2 * ask_begin_ms(request->connect_timeout_ms) / 1000 : 0);
}

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    struct exec_entry *entry = ctx;
    const struct exec *exec = entry->exec;
    const struct run_exec_request *request = exec->request;
    const struct node_exec_options options = {
        .command = request->command,
        .input = request->input_fd >= 0,
        .limit_s = node_limit_s(exec),
        .mark = exec->mark,
    };

    entry->out.nonce = entry->err.nonce = nonce;
    node_request_exec(&options, nonce, call);
    if (request->place) {
        node_call_enter(call, request->place);
    }
    return true;
}

static void ask_host(struct exec *exec, size_t host)
{
    static const struct ask_handler handler = {
        .build = on_build, .data = on_data, .done = on_done, .started = on_started, .drained = on_drained};
    const struct ask_options options = {
        .begin_ms = ask_begin_ms(exec->request->connect_timeout_ms),
        /* all run at once: the slowest host sets the pace of the input */
        .follow = exec->request->input_fd >= 0,
        .hold_input = true,
    };
    struct exec_entry *entry = &exec->entries[host];

    ask_init(&entry->ask, exec->fleet, host, &handler, &options, entry);
    exec->open++;
    ask_send(&entry->ask);
}

/* Ask as many hosts as the fan-out allows. */
static void ask_more(struct exec *exec)
{
    const struct run_exec_request *request = exec->request;

    while (!exec_wants_end(exec) && exec->next < request->count &&
           (request->input_fd >= 0 || exec->open < request->fanout)) {
        ask_host(exec, exec->next++);
    }
    if (exec->open > 0) {
        return;
    }
    fleet_timer_cancel(exec->fleet, exec->tick);
    exec->tick = 0;
    exec_input_close(exec);
}

/* Report hosts that were never asked, or were abandoned after a second signal. */
static void report_rest(struct exec *exec)
{
    for (size_t i = 0; i < exec->request->count; i++) {
        struct exec_entry *entry = &exec->entries[i];
        struct error error = ERROR_INIT;
        if (entry->done) {
            continue;
        }
        if (entry->started) {
            error_set(&error, exec->signal_number == SIGTERM ? &kind_terminated : &kind_interrupted,
                      "interrupted while the command was being ended: it may still be running");
        } else if (exec->signals > 0) {
            set_signalled(exec, "", &error);
        } else if (exec->input_error.kind) {
            error = exec->input_error;
        } else {
            error_set(&error, &kind_interrupted, "not run: nothing reads the output any more");
        }
        report_end(entry, &error, NULL);
    }
}

int run_exec(const struct run_exec_request *request, struct error *err)
{
    const struct fleet_options options = {.fanout = request->fanout,
                                          .hosts = request->count,
                                          .connect_timeout_ms = request->connect_timeout_ms};
    struct exec exec = {.request = request};

    if (request->timeout_s > TIMEOUT_MAX_S) {
        return error_set(err, &kind_usage, "'%lus' for --timeout is above the maximum of %lus",
                         request->timeout_s, (unsigned long)TIMEOUT_MAX_S);
    }
    exec.fleet = fleet_new(&options, err);
    if (!exec.fleet) {
        return -1;
    }
    ask_make_nonce(exec.mark);
    exec.entries = xcalloc(request->count, sizeof(*exec.entries));
    for (size_t i = 0; i < request->count; i++) {
        exec.entries[i].exec = &exec;
        fleet_add_host(exec.fleet, &request->endpoints[i]);
    }
    if (request->input_fd >= 0 && fleet_hold(exec.fleet, err) != 0) { /* input goes to all hosts at once */
        fleet_free(exec.fleet);
        free(exec.entries);
        return -1;
    }
    fleet_on_signal(exec.fleet, on_signal, &exec);
    exec.tick = fleet_timer(exec.fleet, TICK_MS, on_tick, &exec);
    exec_input_open(&exec);
    ask_more(&exec);
    fleet_run(exec.fleet);
    report_rest(&exec);
    fleet_free(exec.fleet);
    exec_input_release(&exec);
    for (size_t i = 0; i < request->count; i++) {
        ask_release(&exec.entries[i].end);
    }
    free(exec.entries);
    return exec.signals > 0 ? set_signalled(&exec, "", err) : 0;
}
