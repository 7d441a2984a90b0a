/* What the files of exec share. */
#ifndef MTLAUNCH_RUN_EXEC_INTERNAL_H
#define MTLAUNCH_RUN_EXEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask_internal.h"
#include "base/error.h"
#include "node/exec.h"
#include "run/exec.h"
#include "transport/fleet.h"

struct exec_entry {
    struct exec *exec;
    struct ask ask;
    struct ask end; /* tells the watchdog there to end the command */
    uint64_t timer; /* of its time, or of its ending */
    struct node_exec_stream out, err;
    bool started, done;
    bool takes_input; /* it has taken all that was read so far */
    bool timed_out, ending;
    bool overdue; /* it was told to end and did not */
    bool unheard; /* output was not read when it was told to end: its answer neither */
};

struct exec {
    const struct run_exec_request *request;
    struct fleet *fleet;
    struct exec_entry *entries;    /* one per host */
    size_t next;                   /* the next host to ask */
    size_t open;                   /* asked and not done */
    char mark[NODE_NONCE_LEN + 1]; /* of this call, on all hosts: equal outputs stay equal */
    uint64_t tick, output_await;
    int signal_number;
    unsigned signals;
    bool deaf; /* nobody takes output */

    /* exec_input.c */
    char *input; /* the piece on its way to all hosts; NULL: no input */
    uint64_t input_await;
    size_t input_busy; /* hosts that have not taken all yet */
    bool input_flows;  /* every host was reached or has failed: the first piece may go */
    bool input_ended;
    struct error input_error; /* kind NULL: none; it could not be read to its end */
};

/* Signals came, or nobody takes output: no further host is asked. */
bool exec_wants_end(const struct exec *exec);

/* End what runs everywhere. */
void exec_end_all(struct exec *exec);
/* With input the time of each host begins when all of them can take it. */
void exec_start_clocks(struct exec *exec);

/* Standard input for all hosts; each does nothing when the request has none. */
void exec_input_open(struct exec *exec);
void exec_input_drained(struct exec_entry *entry); /* it has taken all */
void exec_input_forget(struct exec_entry *entry);  /* it takes no more: its command has ended */
void exec_input_close(struct exec *exec);          /* nobody takes more */
void exec_input_release(struct exec *exec);        /* behind fleet_free: the fleet borrows from the piece */

#endif
