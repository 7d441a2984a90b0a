/* The node set: the hosts that this process works with together, and the signals that interrupt this work. */
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

#define NODE_SET_NO_HOST SIZE_MAX /* how to reach the host cannot be determined (a file is gone) */

struct node_set {
    struct run_context *context; /* borrowed */
    struct strlist labels;       /* of its hosts, in their order; those of pending cleanups follow */
    const struct place *place;   /* borrowed; where on each host commands run */
    struct fleet *fleet;
    size_t *cleanup_hosts; /* one per pending cleanup: its host in the fleet, or NODE_SET_NO_HOST */
    int signal_number;     /* the last SIGINT or SIGTERM that arrived; 0: none */
    unsigned signals;      /* how many arrived */
    bool held;             /* node_set_hold has succeeded */
    bool hung_up;          /* SIGHUP arrived (node_set_catch_hangup) */
    unsigned patience;     /* number of signals that do not interrupt: 0 at first, more during a rollback */
    struct node_set *next; /* in the list of the context */
    void (*on_interrupt)(void *ctx); /* called at the signal that interrupts; NULL: none */
    void *interrupt_ctx;
};

/* The hosts of a set. All borrowed until node_set_open returns, place until the set is closed. */
struct node_set_options {
    const struct host *const *hosts;
    const char *const *labels; /* for messages */
    size_t count;
    const struct reach *reach; /* how all of them are reached */
    const struct place *place; /* where on each of them commands run; NULL: on the host itself */
};

/*
 * Open a set of hosts. Nothing is contacted yet. Close it in any case. Errors: kind_ssh_config,
 * kind_identity_missing, kind_local.
 */
int node_set_open(struct node_set *set, struct run_context *context, const struct node_set_options *options,
                  struct error *err);

/*
 * Open a set of the nodes of run, in rank order, followed by the hosts of its pending cleanups, as far as it
 * is known how to reach them. The secrets of the run are masked from now on. Errors as above.
 */
int node_set_open_run(struct node_set *set, struct run_context *context, const struct run *run,
                      struct error *err);
void node_set_close(struct node_set *set);

/*
 * Close a set that was opened for run, but leave its sessions open: the next set that the context opens for
 * the same attempt uses them. Otherwise run_context_release closes them.
 */
void node_set_keep(struct node_set *set, const struct run *run);

/* Prepare for long sessions with all nodes at once. Errors: kind_local (too few open files are allowed). */
int node_set_hold(struct node_set *set, struct error *err);

/*
 * Block SIGINT and SIGTERM: one that comes stays pending until the next set of this context is opened, or the
 * caller looks for it.
 */
void node_set_hold_signals(struct node_set *set);
void node_set_release_signals(struct run_context *context);

/* Whether a signal has arrived that ends the command's current work. */
bool node_set_is_interrupted(const struct node_set *set);

/* From now on SIGHUP does not end the process: it sets hung_up and ends a pause. */
void node_set_catch_hangup(struct node_set *set);

/* Set the error for that signal: kind_interrupted or kind_terminated. Returns -1. */
int node_set_interrupted_error(const struct node_set *set, struct error *err);

/* Pause while the loop runs; ends early when a signal interrupts. */
void node_set_pause(struct node_set *set, unsigned ms);

#endif
