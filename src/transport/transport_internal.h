/*
 * What a transport is: the table entry behind the fleet. A link is one open way to a host; it runs any number
 * of commands at once until it refuses a further one. To add a transport: one file with one const struct
 * transport_ops and one line in transport.c; tests/contract/test_transport.c runs its one suite against every
 * entry.
 *
 * Nothing blocks. Events may come from inside open, run and cancel; the owner only notes them there and acts
 * in the loop's next turn, so a transport may go on using its link after it has told an event.
 */
#ifndef MTLAUNCH_TRANSPORT_TRANSPORT_INTERNAL_H
#define MTLAUNCH_TRANSPORT_TRANSPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/error.h"
#include "reach/endpoint.h"
#include "transport/deadline_internal.h"
#include "transport/fleet.h"
#include "transport/login_limit_internal.h"

/* Output that still comes after the end of a command is taken until there was none for this long … */
#define TRANSPORT_QUIET_MS 500
/* … or this long has passed: a child in the background may hold the streams for ever. */
#define TRANSPORT_DRAIN_MS 10000

/* What all links of a fleet share; owned by the fleet. */
struct transport_setup {
    uv_loop_t *loop;
    struct deadlines *deadlines;
    struct fleet *fleet;         /* for passages */
    unsigned connect_timeout_ms; /* as it was asked for; 0: it was not */
    unsigned keepalive_ms;
    const bool *paused; /* no output of commands is to be read now */
    struct login_limits *login_limits;
};

/* A command on its way through a link, or a connection to a further host. The owner's; stays until ended or
 * refused was told, or cancel was called. */
struct transport_job {
    const char *command; /* NULL: a connection to host and port, for a transport that carries */
    const char *host;
    unsigned port;
    const char *input;
    size_t input_len;
    bool hold_input; /* standard input stays open behind input */
    void *running;   /* the transport's own, NULL before run and after the end */
};

struct transport_events {
    /* The link may run commands. At most once. */
    void (*opened)(void *owner);
    /* It never will, or no longer does; every running command was told its end before. The owner closes it.
     */
    void (*broken)(void *owner, const struct error *err);
    /* The host has taken the command; before this it surely never ran. */
    void (*started)(void *owner, struct transport_job *job);
    /* The connection is open: fd, a non-blocking stream socket, is the callee's. ended is told when it has
     * ended; with an error only when it never opened or the link is lost. */
    void (*connected)(void *owner, struct transport_job *job, int fd);
    /* The link has no room for a further command now; it never ran. */
    void (*refused)(void *owner, struct transport_job *job);
    void (*data)(void *owner, struct transport_job *job, int stream, const char *bytes, size_t len);
    /* With hold_input: all of the job's input is on its way, or nobody reads it. */
    void (*drained)(void *owner, struct transport_job *job);
    /* The last event of a job. result->started and elapsed_ms are the owner's. */
    void (*ended)(void *owner, struct transport_job *job, const struct exec_result *result);
};

struct transport_ops {
    const char *name; /* "ssh", "openssh", "local" */
    bool (*serves)(const struct endpoint *endpoint);
    bool carries;       /* it can make connections to further hosts: jobs without a command */
    bool connects_late; /* for each command, behind run: its time limit begins when it has started */
    /* Descriptors that a link to it takes. NULL: one. */
    size_t (*files)(const struct endpoint *endpoint);
    /* State shared by all links of a fleet (keys, known hosts); NULL with err on failure. */
    void *(*begin)(const struct transport_setup *setup, struct error *err);
    /* After the last close; what has handles to close keeps its memory until the loop has run. */
    void (*end)(void *shared);
    /* Start to connect; opened or broken follows. endpoint is borrowed until close. Never NULL. */
    void *(*open)(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                  void *owner);
    /* Run a command on an opened link. */
    void (*run)(void *link, struct transport_job *job);
    /* The job's input is new (after drained), or hold_input is no longer set. */
    void (*input)(void *link, struct transport_job *job);
    /* setup->paused has changed. */
    void (*pause)(void *link);
    /* Kill a command; no event of it comes after this. */
    void (*cancel)(void *link, struct transport_job *job);
    /* End the link, cancelling what runs; no event comes after this. */
    void (*close)(void *link);
};

extern const struct transport_ops transport_local;
extern const struct transport_ops transport_openssh;
extern const struct transport_ops transport_ssh;

extern const struct transport_ops *const transports_all[];
extern const size_t transports_all_count;

/* The transport that serves the endpoint: the first of the table that says so. Never NULL. */
const struct transport_ops *transport_find(const struct endpoint *endpoint);

/* The transport that jump hosts are reached by. */
const struct transport_ops *transport_find_carrier(void);

/* What a host is given for look-up, connect and login: as asked for, else ssh_config's ConnectTimeout, else
 * 10 s. */
unsigned transport_connect_ms(const struct transport_setup *setup, const struct endpoint *endpoint);
/* What a server that is logged in to is given to take a command. */
unsigned transport_answer_ms(const struct transport_setup *setup);
/* Of silence before a host is asked for a sign: ssh_config's ServerAliveInterval, else the fleet's. */
unsigned transport_keepalive_ms(const struct transport_setup *setup, const struct endpoint *endpoint);
/* So many unanswered signs are the end: ServerAliveCountMax, else 3. */
unsigned transport_max_silent(const struct endpoint *endpoint);

/* Signal names without SIG. NULL / 0 when unknown. */
const char *transport_signal_name(int number);
int transport_signal_number(const char *name);

/* Fill a result for a command that a signal ended. */
void transport_set_signal(struct exec_result *result, const char *name);

#endif
