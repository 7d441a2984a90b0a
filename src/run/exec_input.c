/*
 * Sends standard input to all hosts, one piece at a time: the next one is read when every host has taken the
 * last.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "exec_internal.h"
#include "model/kind.h"

#define PIECE_BYTES 65536

static void on_readable(void *ctx);

/* Every host counts as busy until its script has been sent, so that none misses the beginning. */
void exec_input_open(struct exec *exec)
{
    if (exec->request->input_fd < 0) {
        return;
    }
    exec->input = xcalloc(1, PIECE_BYTES);
    exec->input_busy = exec->request->count;
}

static void read_on(struct exec *exec)
{
    if (!exec->input || exec->input_busy > 0 || exec->input_ended || exec->input_await != 0) {
        return;
    }
    if (!exec->input_flows) {
        exec->input_flows = true;
        exec_start_clocks(exec);
    }
    exec->input_await = fleet_await(exec->fleet, exec->request->input_fd, false, on_readable, exec);
}

static void end_input(struct exec *exec)
{
    exec->input_ended = true;
    for (size_t i = 0; i < exec->next; i++) {
        if (!exec->entries[i].done) {
            fleet_input_end(exec->fleet, exec->entries[i].ask.exec);
        }
    }
}

static void on_readable(void *ctx)
{
    struct exec *exec = ctx;
    ssize_t len = read(exec->request->input_fd, exec->input, PIECE_BYTES);

    exec->input_await = 0;
    if (len < 0 && (errno == EINTR || errno == EAGAIN)) {
        read_on(exec);
        return;
    }
    if (len < 0) { /* a part must not be taken for the whole input */
        exec->input_ended = true;
        error_set_errno(&exec->input_error, &kind_local, errno, "standard input cannot be read");
        exec_end_all(exec);
        return;
    }
    if (len == 0) {
        end_input(exec);
        return;
    }
    for (size_t i = 0; i < exec->next; i++) {
        struct exec_entry *entry = &exec->entries[i];
        if (entry->done) {
            continue;
        }
        entry->takes_input = false;
        exec->input_busy++;
        fleet_input(exec->fleet, entry->ask.exec, exec->input, (size_t)len);
    }
}

void exec_input_drained(struct exec_entry *entry)
{
    struct exec *exec = entry->exec;

    if (!exec->input || entry->takes_input) {
        return;
    }
    entry->takes_input = true;
    exec->input_busy--;
    read_on(exec);
}

void exec_input_forget(struct exec_entry *entry)
{
    struct exec *exec = entry->exec;

    if (!exec->input) {
        return;
    }
    if (!entry->takes_input) {
        exec->input_busy--;
    }
    entry->takes_input = true;
    if (exec->open > 0) {
        read_on(exec);
    }
}

void exec_input_close(struct exec *exec)
{
    exec->input_ended = true;
    fleet_await_cancel(exec->fleet, exec->input_await);
    exec->input_await = 0;
}

void exec_input_release(struct exec *exec)
{
    free(exec->input);
    exec->input = NULL;
}
