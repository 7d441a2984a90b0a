/*
 * The node set: hosts that are reached from this process and spoken with together, and the signals that
 * interrupt it.
 */
#ifndef MTLAUNCH_RUN_NODE_SET_INTERNAL_H
#define MTLAUNCH_RUN_NODE_SET_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/host.h"
#include "model/place.h"
#include "model/reach.h"
#include "model/run.h"
#include "run/usecase.h"
#include "transport/fleet.h"

#define NODE_SET_NO_HOST SIZE_MAX /* how it is reached cannot be worked out (a file that is gone) */

struct node_set {
    struct run_context *context; /* borrowed */
    struct strlist labels;       /* of its hosts, in their order; those of pending cleanups follow */
    const struct place *place;   /* borrowed; where on each host the work happens */
    struct fleet *fleet;
    size_t *cleanup_hosts;           /* one a pending cleanup: its host in the fleet, or NODE_SET_NO_HOST */
    int signal_number;               /* the last of SIGINT and SIGTERM that came; 0: none */
    unsigned signals;                /* how many came */
    bool held;                       /* node_set_hold has been there */
    bool hung_up;                    /* SIGHUP came (node_set_catch_hangup) */
    unsigned patience;               /* so many of them do not interrupt: 0 at first, more for a roll-back */
    struct node_set *next;           /* of the context's */
    void (*on_interrupt)(void *ctx); /* called with the signal that interrupts; NULL: none */
    void *interrupt_ctx;
};

/* What a set is made of. All borrowed until node_set_open returns, place until the set is closed. */
struct node_set_options {
    const struct host *const *hosts;
    const char *const *labels; /* for messages */
    size_t count;
    const struct reach *reach; /* how all of them are reached */
    const struct place *place; /* where on each of them the work happens; NULL: on the host itself */
};

/*
 * Open a set of hosts. Nothing is contacted yet. Close it in any case. Errors: kind_ssh_config,
 * kind_identity_missing, kind_local.
 */
int node_set_open(struct node_set *set, struct run_context *context, const struct node_set_options *options,
                  struct error *err);

/*
 * Open a set of the nodes of run, in rank order, followed by those of its pending cleanups that can be
 * reached at all. What the run keeps secret is masked from now on. Errors as above.
 */
int node_set_open_run(struct node_set *set, struct run_context *context, const struct run *run,
                      struct error *err);
void node_set_close(struct node_set *set);

/*
 * Close a set that was opened for run, but leave its sessions open: the next set that the context opens for
 * the same attempt goes on with them. run_context_release closes them otherwise.
 */
void node_set_keep(struct node_set *set, const struct run *run);

/* All nodes will be spoken with at once, for long. Errors: kind_local, too few open files are allowed. */
int node_set_hold(struct node_set *set, struct error *err);

/* Has a signal come that ends what the command was at? */
bool node_set_is_interrupted(const struct node_set *set);

/* From now on SIGHUP does not end the process: it sets hung_up and ends a pause. */
void node_set_catch_hangup(struct node_set *set);

/* The error for that signal: kind_interrupted or kind_terminated. Returns -1. */
int node_set_interrupted_error(const struct node_set *set, struct error *err);

/* Let time pass (followers continue); ends early when a signal interrupts. */
void node_set_pause(struct node_set *set, unsigned ms);

#endif
