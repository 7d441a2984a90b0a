/*
 * Runs commands on many hosts at once, on one event loop. Hosts are added once. A host is connected when its
 * first command is requested. Its session stays open for later commands, and is opened again when it was
 * lost. Nothing blocks, nothing is printed, and no output is kept: bytes go to the handler as they arrive.
 *
 * Callbacks run inside fleet_run, never inside the function that requested them. Each may call fleet_exec,
 * fleet_cancel, fleet_close_idle, fleet_input, fleet_input_end, fleet_pause_output, fleet_await,
 * fleet_await_cancel, fleet_timer, fleet_timer_cancel and fleet_stop, but not fleet_run or fleet_free.
 *
 * fleet_new makes the process ignore SIGPIPE (children get the default back). tests/contract/test_transport.c
 * checks every transport against this header.
 */
#ifndef MTLAUNCH_TRANSPORT_FLEET_H
#define MTLAUNCH_TRANSPORT_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "reach/endpoint.h"

struct fleet;

#define FLEET_CONNECT_MS 10000 /* the default, when neither the caller nor ssh_config gives a time */

struct fleet_options {
    unsigned fanout; /* hosts that connect or run short commands at once; 0: 64 */
    /*
     * Time limit for look-up, connect and login together, not counting the wait for a login slot; 0: that of
     * ssh_config, else FLEET_CONNECT_MS.
     */
    unsigned connect_timeout_ms;
    size_t hosts; /* expected number: the limit of open files is raised for them; 0: it is not changed */
    unsigned keepalive_ms; /* silence before a host is probed, three times; 0: 15,000 */
};

/* options NULL: the defaults. NULL with kind_local when the event loop cannot be created. */
struct fleet *fleet_new(const struct fleet_options *options, struct error *err);

/*
 * Cancels running commands as fleet_cancel does, without callbacks, and closes everything. NULL accepted.
 */
void fleet_free(struct fleet *fleet);

/* Returns the host's index: 0, 1, 2 … in the order of the calls. The endpoint is copied. */
size_t fleet_add_host(struct fleet *fleet, const struct endpoint *endpoint);

/*
 * Keep the sessions of all hosts added so far open at the same time. Without this call idle sessions are
 * closed when there are too few open files. Errors: kind_local when this needs more open files than are
 * allowed.
 */
int fleet_hold(struct fleet *fleet, struct error *err);

/*
 * A command: a line for the user's login shell on a remote host, or for /bin/sh on a local host; both start
 * in the home folder. input is written to its standard input, which is then closed. With hold_input it stays
 * open as long as the caller waits for the command. A command that reads it can then end itself when it is
 * cancelled, or when this process or the connection dies.
 */
struct exec_request {
    const char *command;
    const void *input; /* NULL with input_len 0: standard input is empty */
    size_t input_len;
    unsigned timeout_ms; /* counted from the request on an open session; 0: none */
    bool hold_input;
    bool follow; /* a long command (a log follower): counts against the fan-out only until it runs */
};

/*
 * How a command ended. error.kind is NULL when it ran to its end. Otherwise it is one of:
 * - name_not_resolved, refused, timed_out (the login took too long), unreachable, auth_failed, key_*,
 *   hostkey_*: the host was not reached;
 * - connection_lost: the host was not reached, or the connection was lost while the command ran;
 * - time_limit: timeout_ms passed, and the command was killed;
 * - interrupted: fleet_cancel was called;
 * - node_unsupported: the server runs no commands;
 * - local: no process can be created on this machine.
 */
struct exec_result {
    struct error error;
    bool started;        /* false: the command has certainly not run; true: it has run, or may have */
    int exit_status;     /* 0..255; 128 + n when a signal ended it; -1 with an error */
    char signal[16];     /* name without SIG, "" when none */
    unsigned elapsed_ms; /* from the first try on an open session to the end; 0: no session was open */
};

/* data may be NULL: output is dropped. done is called exactly once; no data comes after it. */
struct exec_handler {
    void (*data)(void *ctx, size_t host, int stream, const char *bytes, size_t len); /* stream: 1 or 2 */
    void (*done)(void *ctx, size_t host, const struct exec_result *result);
    /* The host has accepted the command; data comes after this. May be NULL. */
    void (*started)(void *ctx, size_t host);
    /* With hold_input: all input given so far was sent, or nothing reads it. May be NULL. */
    void (*drained)(void *ctx, size_t host);
};

/* Request a command; request and handler are copied. Returns an id, which is never 0 and never reused. */
uint64_t fleet_exec(struct fleet *fleet, size_t host, const struct exec_request *request,
                    const struct exec_handler *handler, void *ctx);

/*
 * End a command: its process group is killed and its streams are closed; done is called with
 * kind_interrupted. OpenSSH's server kills for every user except root: a command of root ends when it next
 * reads or writes (see hold_input). An id whose command has ended is ignored.
 */
void fleet_cancel(struct fleet *fleet, uint64_t id);
void fleet_cancel_all(struct fleet *fleet);

/* Close the host's sessions if it runs no command and none is expected. A further command opens a new one. */
void fleet_close_idle(struct fleet *fleet, size_t host);

/*
 * Give more input to a command with hold_input; only after drained was called, and not after fleet_input_end.
 * bytes are borrowed until drained or done is called. An id that has ended already is ignored.
 */
void fleet_input(struct fleet *fleet, uint64_t id, const void *bytes, size_t len);

/* Close the command's standard input after what was given; hold_input is cleared. */
void fleet_input_end(struct fleet *fleet, uint64_t id);

/*
 * While paused, no output is read from any host: it waits in the kernels' buffers, and the commands wait too.
 * Some output that was read before may still come.
 */
void fleet_pause_output(struct fleet *fleet, bool pause);

/*
 * Call back once when fd can be read (or written) without waiting; for a regular file in the loop's next
 * turn. Keeps fleet_run running until then. Returns an id, never 0.
 */
uint64_t fleet_await(struct fleet *fleet, int fd, bool write, void (*callback)(void *ctx), void *ctx);
void fleet_await_cancel(struct fleet *fleet, uint64_t id); /* unknown ids are ignored */

/* Call back once after ms milliseconds. A pending timer keeps fleet_run running. Returns an id, never 0. */
uint64_t fleet_timer(struct fleet *fleet, unsigned ms, void (*callback)(void *ctx), void *ctx);
void fleet_timer_cancel(struct fleet *fleet, uint64_t id); /* unknown ids are ignored */

/*
 * The clock of all times above, in milliseconds. It runs while fleet_run listens, and stands still while this
 * process is busy, stopped or frozen, or outside of fleet_run. Use it to judge how long a host has been
 * silent. It starts with the value of the monotonic clock, falls behind it, and never goes back. It needs a
 * pending timer to advance.
 */
int64_t fleet_now_ms(const struct fleet *fleet);

/*
 * Handle SIGINT and SIGTERM until fleet_free, or until callback is NULL. A signal between two calls of
 * fleet_run is delivered in the next one. Without a callback both keep their disposition.
 */
void fleet_on_signal(struct fleet *fleet, void (*callback)(void *ctx, int signal_number), void *ctx);

/*
 * Handle SIGHUP by the same callback, and unblock it: a SIGHUP that came while it was blocked is delivered at
 * once. fleet_free blocks it again, so that between two fleets no SIGHUP is lost or ends the process.
 */
void fleet_catch_hangup(struct fleet *fleet);

/*
 * Call back in fleet_run whenever fd is readable, until the fleet is freed or fleet_background_end is called;
 * the caller keeps fd open until then. This does not keep fleet_run running. It serves other work of the
 * caller while commands run. Errors: kind_local.
 */
int fleet_background(struct fleet *fleet, int fd, void (*callback)(void *ctx), void *ctx, struct error *err);
void fleet_background_end(struct fleet *fleet, int fd); /* also inside its callback; -1: of all */

/*
 * Run until no command, no timer and no await is pending (returns 0), or until fleet_stop is called (returns
 * 1). May be called repeatedly.
 */
int fleet_run(struct fleet *fleet);
void fleet_stop(struct fleet *fleet);

#endif
