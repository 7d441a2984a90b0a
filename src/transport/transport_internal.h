/*
 * The interface of a transport, and the table of all transports. A link is one open connection to a host; it
 * runs any number of commands at once until it refuses a further one. To add a transport: one file with one
 * const struct transport_ops and one line in transport.c; tests/contract/test_transport.c runs its suite
 * against every entry.
 *
 * Nothing blocks. Events may come from inside open, run and cancel. The owner only notes them and acts in the
 * next turn of the loop, so a transport may go on using its link after an event.
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

/* Output that comes after the end of a command is read until there was none for this long … */
#define TRANSPORT_QUIET_MS 500
/* … or until this long has passed: a background process may hold the streams open forever. */
#define TRANSPORT_DRAIN_MS 10000

/* What all links of a fleet share; owned by the fleet. */
struct transport_setup {
    uv_loop_t *loop;
    struct deadlines *deadlines;
    struct fleet *fleet;         /* for passages */
    unsigned connect_timeout_ms; /* as requested; 0: not requested */
    unsigned keepalive_ms;
    const bool *paused; /* true: the output of commands must not be read */
    struct login_limits *login_limits;
};

/*
 * A command on a link, or a connection to a further host. Belongs to the owner, who keeps it until the event
 * ended or refused, or until it calls cancel.
 */
struct transport_job {
    const char *command; /* NULL: a connection to host and port, for a transport that carries */
    const char *host;
    unsigned port;
    const char *input;
    size_t input_len;
    bool hold_input; /* standard input stays open after input */
    void *running;   /* for the transport's use; NULL before run and after the end */
};

struct transport_events {
    /* The link can run commands. Comes at most once. */
    void (*opened)(void *owner);
    /*
     * The link cannot run commands, or no longer can; the event ended of each running command came before.
     * The owner closes the link.
     */
    void (*broken)(void *owner, const struct error *err);
    /* The host has accepted the command; before this event it has certainly not run. */
    void (*started)(void *owner, struct transport_job *job);
    /*
     * The connection is open: fd is a non-blocking stream socket, which the callee owns. The event ended
     * follows when the connection has ended; it has an error only when the connection never opened or the
     * link was lost.
     */
    void (*connected)(void *owner, struct transport_job *job, int fd);
    /* The link has no room for a further command now; the command has not run. */
    void (*refused)(void *owner, struct transport_job *job);
    void (*data)(void *owner, struct transport_job *job, int stream, const char *bytes, size_t len);
    /* With hold_input: all input of the job was sent, or nothing reads it. */
    void (*drained)(void *owner, struct transport_job *job);
    /* The last event of a job. result->started and elapsed_ms are the owner's. */
    void (*ended)(void *owner, struct transport_job *job, const struct exec_result *result);
};

struct transport_ops {
    const char *name; /* "ssh", "openssh", "local" */
    bool (*serves)(const struct endpoint *endpoint);
    bool carries; /* it can connect to further hosts (jobs without a command) */
    /*
     * It connects for each command, after run, so the time limit of a command begins when the command has
     * started.
     */
    bool connects_late;
    /* The number of descriptors that a link to the endpoint takes. NULL: one. */
    size_t (*files)(const struct endpoint *endpoint);
    /* State shared by all links of a fleet (keys, known hosts); NULL with err on failure. */
    void *(*begin)(const struct transport_setup *setup, struct error *err);
    /* Called after the last close; memory with open handles is freed when the loop has run. */
    void (*end)(void *shared);
    /* Start to connect; the event opened or broken follows. endpoint is borrowed until close. Never NULL. */
    void *(*open)(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                  void *owner);
    /* Run a command on an opened link. */
    void (*run)(void *link, struct transport_job *job);
    /* The job has new input (after drained), or hold_input was cleared. */
    void (*input)(void *link, struct transport_job *job);
    /* setup->paused has changed. */
    void (*pause)(void *link);
    /* Kill a command; no event of it comes after this. */
    void (*cancel)(void *link, struct transport_job *job);
    /* Close the link and cancel what runs on it; no event comes after this. */
    void (*close)(void *link);
};

extern const struct transport_ops transport_local;
extern const struct transport_ops transport_openssh;
extern const struct transport_ops transport_ssh;

extern const struct transport_ops *const transports_all[];
extern const size_t transports_all_count;

/* The first transport of the table that serves the endpoint. Never NULL. */
const struct transport_ops *transport_find(const struct endpoint *endpoint);

/* The transport by which jump hosts are reached. */
const struct transport_ops *transport_find_carrier(void);

/* The time limit for look-up, connect and login together: as requested, else ConnectTimeout of ssh_config,
 * else 10 s. */
unsigned transport_connect_ms(const struct transport_setup *setup, const struct endpoint *endpoint);
/* The time limit for a server to accept a command after the login. */
unsigned transport_answer_ms(const struct transport_setup *setup);
/* The silence after which a host is probed: ServerAliveInterval of ssh_config, else that of the fleet. */
unsigned transport_keepalive_ms(const struct transport_setup *setup, const struct endpoint *endpoint);
/* How many probes may stay unanswered: ServerAliveCountMax of ssh_config, else 3. */
unsigned transport_max_silent(const struct endpoint *endpoint);

/* Signal names are without SIG. NULL or 0 when unknown. */
const char *transport_signal_name(int number);
int transport_signal_number(const char *name);

/* Fill a result for a command that a signal ended. */
void transport_set_signal(struct exec_result *result, const char *name);

#endif
