/* The fleet's own state: hosts, their links and commands, and which host is next. */
#ifndef MTLAUNCH_TRANSPORT_FLEET_FLEET_INTERNAL_H
#define MTLAUNCH_TRANSPORT_FLEET_FLEET_INTERNAL_H

#include "base/list.h"
#include "transport/deadline_internal.h"
#include "transport/fleet.h"
#include "transport/passage_internal.h"
#include "transport/transport_internal.h"

#define FLEET_FANOUT       64
#define FLEET_KEEPALIVE_MS 15000
#define FLEET_SIGNALS      2
#define FLEET_LINKS        4   /* per host: further ones are opened only when followers fill the first */
#define FLEET_JUMP_LINKS   8   /* per jump host: further ones are opened when one is full */
#define FLEET_PASSAGES     256 /* per link: each takes a descriptor of the server's process */

/*
 * A requested command. It is in its host's list until it has ended, then in the fleet's until its handler was
 * called.
 */
struct fleet_exec {
    struct list_link item;
    uint64_t id;
    struct fleet_host *host;
    struct fleet_link *link; /* the link it runs on; NULL: it is queued, or has ended */
    struct transport_job job;
    char *command, *input, *target; /* what the job borrows */
    struct passage *passage;        /* NULL: it is a command, or nothing waits for the passage any more */
    unsigned timeout_ms;
    bool follow;
    struct exec_handler handler;
    void *ctx;
    bool started;       /* the host has accepted it */
    bool drained;       /* its handler has to be called */
    bool input_changed; /* its link has to be notified */
    bool retried;       /* once, after an idle session turned out to be dead */
    bool unwanted;      /* cancelled or out of time: the next turn ends it */
    bool timed_out;
    unsigned refusals;
    unsigned ordinal; /* commands on the link when this one was put there, including itself */
    struct deadline timeout;
    int64_t began_ms; /* 0: never on a link */
    struct exec_result result;
};

struct fleet_link {
    struct list_link item;
    struct fleet_host *host;
    void *link; /* of the transport */
    enum { LINK_OPENING, LINK_OPEN, LINK_BROKEN } state;
    unsigned active;    /* commands on it */
    unsigned room;      /* how many it takes at once, as a refusal has shown */
    struct error error; /* LINK_BROKEN */
    bool was_open;
};

struct fleet_host {
    struct fleet *fleet;
    size_t index;
    struct endpoint endpoint;
    const struct transport_ops *ops;
    void *shared;
    struct list links; /* of fleet_link */
    struct list execs; /* of fleet_exec, in the order of the requests */
    bool has_slot;
    struct list_link waiting; /* for a slot */
    struct list_link dirty;   /* until the pump has attended to it */
    struct deadline pause;    /* before a refused command is tried again */
    char *jump_key;           /* of a jump host, which has no index; NULL: a host of the caller */
    struct list_link jump;    /* of the fleet's jumps */
};

struct fleet_timer {
    struct list_link item;
    struct fleet *fleet;
    uint64_t id;
    void (*callback)(void *ctx);
    void *ctx;
    struct deadline deadline;
};

struct fleet_await {
    struct list_link item;
    struct fleet *fleet;
    uint64_t id;
    void (*callback)(void *ctx);
    void *ctx;
    uv_poll_t *poll;          /* NULL for a file that is always ready */
    struct deadline deadline; /* of such a file */
};

struct fleet {
    uv_loop_t loop;
    struct deadlines deadlines;
    struct deadline pump;
    uv_prepare_t prepare; /* stops the loop when no work is left */
    unsigned fanout, slots_used;
    size_t files_max, files_used; /* descriptors that links may take, and those they have taken */
    size_t next_idle;             /* where to look for a session to close */
    unsigned connect_timeout_ms, keepalive_ms;
    void **shared; /* shared state of each transport of the table */
    struct fleet_host **hosts;
    size_t hosts_len, hosts_cap;
    struct list jumps;   /* fleet_host: see jump.c */
    struct list waiting; /* fleet_host: for a slot, first come first served */
    struct list dirty;   /* fleet_host: waiting for the pump */
    struct list ended;   /* fleet_exec: whose handlers have to be called */
    struct list timers, awaits;
    struct login_limits login_limits;
    uint64_t last_id;
    size_t pending;
    bool stopped;
    bool paused; /* no output is read */
    bool signals_made;
    uv_signal_t signals[FLEET_SIGNALS];
    bool catches_hangup;
    uv_signal_t hangup;
    void (*signal_callback)(void *ctx, int signal_number);
    void *signal_ctx;
    struct list background; /* fleet_background_work */
};

/* fleet.c: the pump does what events have asked for, outside of all callbacks of transports. */
void fleet_wake(struct fleet *fleet);

/* exec.c */
extern const struct transport_events fleet_events; /* owner: a fleet_link */
void fleet_exec_end(struct fleet_exec *exec, const struct error *err);
void fleet_exec_leave_link(struct fleet_exec *exec);  /* does nothing when it is on no link */
void fleet_exec_start_clock(struct fleet_exec *exec); /* its time limit runs from now on */
void fleet_exec_free(struct fleet_exec *exec);

/* files.c: raise the limit of open files for this many hosts, as far as possible. */
void fleet_claim_files(struct fleet *fleet, size_t hosts);
size_t fleet_host_files(const struct fleet_host *host); /* descriptors that a link of it takes */
/* closes idle sessions; false: there is still no room */
bool fleet_make_room(struct fleet *fleet, size_t files);

/* host.c */
struct fleet_host *fleet_host_new(struct fleet *fleet, const struct endpoint *endpoint,
                                  const struct transport_ops *ops);
void fleet_host_free(struct fleet_host *host);  /* after fleet_host_close and the end of the transports */
void fleet_host_touch(struct fleet_host *host); /* the pump attends to it */
void fleet_host_attend(struct fleet_host *host);
void fleet_host_close(struct fleet_host *host);

/* jump.c */
void fleet_jump_asked(struct fleet_exec *exec, bool asked); /* does nothing for a command */
void fleet_jump_opened(struct fleet_exec *exec, int fd);
void fleet_jump_ended(struct fleet_exec *exec, const struct error *err); /* frees the request */
void fleet_jump_explain(const struct fleet_host *host, struct error *err);

/* pool.c: the links of a host. */
/* A link that takes a further command, or NULL; *may_open: opening another link would help. */
struct fleet_link *fleet_pool_find(const struct fleet_host *host, bool *may_open);
void fleet_pool_open(struct fleet_host *host);
/* Closes broken links. *err: why a link could not be opened at all; unchanged when all could. */
void fleet_pool_clear(struct fleet_host *host, struct error *err);
void fleet_pool_close(struct fleet_host *host);

/* timers.c, signals.c: called at the end of the fleet. */
void fleet_timers_end(struct fleet *fleet);
void fleet_signals_end(struct fleet *fleet);

/* window.c: the fan-out. True: the host has a slot. False: it waits for one, and is touched when it may try
 * again. */
bool fleet_window_enter(struct fleet_host *host);
void fleet_window_leave(struct fleet_host *host); /* its slot, or its place in the queue */

#endif
