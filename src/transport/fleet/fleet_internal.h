/* The fleet's own state: hosts, their links and commands, and who may go next. */
#ifndef MTLAUNCH_TRANSPORT_FLEET_FLEET_INTERNAL_H
#define MTLAUNCH_TRANSPORT_FLEET_FLEET_INTERNAL_H

#include "transport/deadline_internal.h"
#include "transport/fleet.h"
#include "transport/transport_internal.h"

#define FLEET_FANOUT       64
#define FLEET_KEEPALIVE_MS 15000
#define FLEET_SIGNALS      2
#define FLEET_LINKS        4 /* a host may have: further ones only where followers fill the first */

/* A command asked for. In its host's list until it has ended, then in the fleet's until that is told. */
struct fleet_exec {
    struct fleet_exec *next;
    uint64_t id;
    struct fleet_host *host;
    struct fleet_link *link; /* it runs on; NULL: queued, or over */
    struct transport_job job;
    char *command, *input;
    unsigned timeout_ms;
    bool follow;
    struct exec_handler handler;
    void *ctx;
    bool started;       /* the host has taken it */
    bool drained;       /* its handler is to be told */
    bool input_changed; /* its link is to be told */
    bool retried;       /* once, when an idle session turned out to be dead */
    bool unwanted;      /* cancelled or out of time: dealt with in the next turn */
    bool timed_out;
    unsigned refusals;
    unsigned ordinal; /* commands on the link when this one came to it, itself included */
    struct deadline timeout;
    int64_t began_ms; /* 0: never on a link */
    struct exec_result result;
};

struct fleet_link {
    struct fleet_link *next;
    struct fleet_host *host;
    void *link; /* the transport's */
    enum { LINK_OPENING, LINK_OPEN, LINK_BROKEN } state;
    unsigned active;    /* commands on it */
    unsigned room;      /* how many it takes at once, as learnt from a refusal */
    struct error error; /* LINK_BROKEN */
    bool was_open;
};

struct fleet_host {
    struct fleet *fleet;
    size_t index;
    struct endpoint endpoint;
    const struct transport_ops *ops;
    void *shared;
    struct fleet_link *links;
    struct fleet_exec *execs; /* in the order asked for */
    bool has_slot, waits_for_slot, dirty;
    struct fleet_host *next_waiting, *next_dirty;
    struct deadline pause; /* before a refused command is tried again */
};

struct fleet_timer {
    struct fleet_timer *next;
    struct fleet *fleet;
    uint64_t id;
    void (*callback)(void *ctx);
    void *ctx;
    struct deadline deadline;
};

struct fleet_await {
    struct fleet_await *next;
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
    uv_prepare_t prepare; /* ends the run in time */
    unsigned fanout, slots_used;
    size_t files_max, files_used; /* descriptors that links may take, and do */
    size_t next_idle;             /* where to look for a session to close */
    unsigned connect_timeout_ms, keepalive_ms;
    void **shared; /* of each transport of the table */
    struct fleet_host **hosts;
    size_t hosts_len, hosts_cap;
    struct fleet_host *waiting, *dirty; /* for a slot, first come first served; for attention */
    struct fleet_exec *ended;
    struct fleet_timer *timers;
    struct fleet_await *awaits;
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
    uv_poll_t *background; /* NULL: none; its data is the fleet */
    void (*background_callback)(void *ctx);
    void *background_ctx;
};

/* fleet.c: the pump does what events have asked for, outside all callbacks of transports. */
void fleet_wake(struct fleet *fleet);
void fleet_pump(struct fleet *fleet);

/* files.c: raise the limit of open files for that many hosts, as far as it goes. */
void fleet_claim_files(struct fleet *fleet, size_t hosts);
size_t fleet_host_files(const struct fleet_host *host);  /* that a link of it takes */
bool fleet_make_room(struct fleet *fleet, size_t files); /* of idle sessions; false: there are not enough */

/* flow.c */
void fleet_await_cancel_all(struct fleet *fleet);

/* host.c */
struct fleet_host *fleet_host_new(struct fleet *fleet, const struct endpoint *endpoint);
struct fleet_exec *fleet_find_exec(struct fleet *fleet, uint64_t id);
void fleet_host_add_exec(struct fleet_exec *exec);
void fleet_exec_end_wanted(struct fleet_exec *exec);
void fleet_host_attend(struct fleet_host *host);
void fleet_host_pause(struct fleet_host *host); /* fleet->paused has changed */
void fleet_exec_input_changed(struct fleet_exec *exec);
void fleet_host_close(struct fleet_host *host);

#endif
