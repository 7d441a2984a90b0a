/* Declarations shared by the files of exec. */
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
    struct ask end; /* the call that tells the watchdog on the node to end the command */
    uint64_t timer; /* time limit of the command, or of its end */
    struct node_exec_stream out, err;
    bool started, done;
    bool takes_input; /* it has taken all input read so far */
    bool timed_out, ending;
    bool overdue; /* it was told to end, but did not */
    bool unheard; /* output was not being read when it was told to end, so its answer is not read either */
};

struct exec {
    const struct run_exec_request *request;
    struct fleet *fleet;
    struct exec_entry *entries;    /* one per host */
    size_t next;                   /* the next host to ask */
    size_t open;                   /* asked and not done */
    char mark[NODE_NONCE_LEN + 1]; /* the same on all hosts, so that equal outputs stay equal */
    uint64_t tick, output_await;
    int signal_number;
    unsigned signals;
    bool deaf; /* output can no longer be written */

    /* exec_input.c */
    char *input; /* the piece being sent to all hosts; NULL: no input */
    uint64_t input_await;
    size_t input_busy; /* hosts that have not taken the whole piece yet */
    bool input_flows;  /* every host was reached or has failed: the first piece may be sent */
    bool input_ended;
    struct error input_error; /* standard input could not be read to its end; kind NULL: none */
};

/* Whether no further host is asked: after a signal, or when output or input has failed. */
bool exec_wants_end(const struct exec *exec);

/* End the command wherever it runs. */
void exec_end_all(struct exec *exec);
/* Start the time limits. With input, they begin when all hosts can take it. */
void exec_start_clocks(struct exec *exec);

/* Standard input for all hosts. Each function does nothing when the request has no input. */
void exec_input_open(struct exec *exec);
void exec_input_drained(struct exec_entry *entry); /* it has taken the piece */
void exec_input_forget(struct exec_entry *entry);  /* it takes no more input: its command has ended */
void exec_input_close(struct exec *exec);          /* no host takes more input */
void exec_input_release(struct exec *exec);        /* after fleet_free: the fleet borrows from the piece */

#endif
