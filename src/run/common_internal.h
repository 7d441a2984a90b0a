/* What the use cases share: telling the observer, taking turns on a run, keeping its record. */
#ifndef MTLAUNCH_RUN_COMMON_INTERNAL_H
#define MTLAUNCH_RUN_COMMON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/run.h"
#include "node/request.h"
#include "node_set_internal.h"
#include "run/usecase.h"

#define OBSERVE_TIMEOUT_MS 30000

void report_info(const struct run_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_warn(const struct run_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Failures of single nodes, gathered over a round. */
struct node_failures {
    struct error *errors; /* one a node; kind NULL: none */
    size_t len;
    size_t count; /* of nodes that failed */
};

void node_failures_init(struct node_failures *failures, const struct run *run);
void node_failures_release(struct node_failures *failures);
void node_failures_set(struct node_failures *failures, size_t node, const struct error *error);

/* Tell the observer, the same failure of several nodes once. worst (may be NULL): a copy of the worst. */
void node_failures_report(const struct node_failures *failures, const struct run_context *context,
                          const struct run *run, struct error *worst);

/*
 * Take the run's lock; while another command holds it, say so once and wait for it. Returns the descriptor,
 * or -1 with err. wait false: -2 at once when it is taken.
 */
int run_lock(const struct run_context *context, const char *name, bool wait, struct error *err);

/*
 * Put text (owned, may be NULL) through the mask of the secrets that context knows: what a job printed may
 * hold their values, and reasons are kept and told.
 */
void run_mask(const struct run_context *context, char **text);

/* Write the record, a step before and after. */
int run_save_record(struct run_context *context, struct run *run, struct error *err);

/* Add an event; that it could not be written is a warning. */
void run_note_event(const struct run_context *context, const struct run *run, const char *event,
                    const char *host, const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Select nodes by the words of --node: a number is a node's rank, anything else a label or host name. No
 * words: all nodes. selected has one entry a node, false before. Errors: kind_usage.
 */
int run_select_nodes(const struct run *run, const struct strlist *words, bool *selected, size_t *count,
                     struct error *err);

/* How the hosts of the current attempt are reached. Borrows from run. */
struct reach run_reach(const struct run *run);

/* The node as its script knows it. Borrows from run. */
struct node_target run_node_target(const struct run *run, size_t node);

/*
 * A signal ends this process before the stop of a live run is proven, or it may: see that a process stays
 * which goes on with it. A supervisor that lives is one; else the context starts one, once.
 */
void run_leave_stand_in(struct run_context *context, const char *name);

/*
 * Ask every node that has not ended how it is; run's nodes follow. Unreachable ones are `lost`. what: for the
 * progress, or NULL. 0, or -1 when interrupted.
 */
int run_observe(struct node_set *set, struct run *run, const char *what);

/*
 * The caller holds the lock, so the command that was starting the run does not live any more: what it began
 * is judged by what the nodes say.
 */
void run_note_dead_start(struct run_context *context, struct run *run);

/*
 * Look at a live run: ask its nodes without keeping other commands waiting, then take the lock and see that
 * the record is still the one that was read (else read it anew and ask again). run is loaded and the node set
 * was opened for it. *lock on return: held (>= 0; the caller settles and closes), or -2: another command is
 * at the run, it has ended meanwhile, or its attempt or nodes changed. Returns 0, -1 with err (also
 * interrupted).
 */
int run_observe_and_lock(struct node_set *set, struct run *run, int *lock, struct error *err);

/* What lives on nodes although it should not. Owned lines for people. */
struct leftovers {
    struct strlist lines;    /* "g0033: 2 left-over processes: 17 (sleep 9), 18 (…)" */
    struct strlist silent;   /* "g0034: why it did not answer" */
    struct strlist unproven; /* "g0035: why it could not look through its processes" */
};

/*
 * Ask the nodes that have ended (all: every node) what of the run still lives there; found is filled and
 * released by the caller with leftovers_release. 0, or -1 when interrupted.
 */
int run_find_leftovers(struct node_set *set, struct run *run, bool all, struct leftovers *found);
void leftovers_release(struct leftovers *found);

/* Is there a node that runs, may run, or is still to be started? */
bool run_has_open_node(const struct run *run);

/*
 * The run has ended by itself: say what it left behind, with an event, and with end also end that. 0, or -1
 * when interrupted.
 */
int run_report_leftovers(struct node_set *set, struct run *run, bool end);

struct stop_nodes_request {
    const char *signal; /* without SIG */
    unsigned long grace_s;
    bool repeated;               /* an earlier stop may have been sent: see judge_stop */
    bool sweep;                  /* the run has ended: states stay */
    bool quiet;                  /* do not tell failures */
    bool only_attempt;           /* leave alone what another attempt of the run has on a node */
    const bool *nodes;           /* one a node: ask it; NULL: all */
    void (*conclude)(void *ctx); /* all have answered; before the record is settled. NULL: nothing */
    void *ctx;
};

/*
 * Ask nodes to end what is the run's; run's nodes follow the answers, survivors and ended leftovers go to
 * result, failures are told. *unproven: how many nodes did not answer or still hold something; silent (may
 * be NULL, one a node): which did not answer. 0, or -1 when interrupted (what did not answer is unproven).
 */
int run_stop_nodes(struct node_set *set, struct run *run, const struct stop_nodes_request *request,
                   struct run_stop_result *result, size_t *unproven, bool *silent);

/* "run1: stopped on 4 nodes". nodes: which, one a node; NULL: all. */
void run_report_stopped(const struct run_context *context, const struct run *run, const bool *nodes);

/*
 * Stop a run whose lock is held: the record says `stopping` until it is proven that nothing is left. why: for
 * the event. request.repeated and sweep are set here. Errors: not_proven (7), what interrupted it,
 * kind_local.
 */
int run_stop_held(struct node_set *set, struct run *run, struct stop_nodes_request request, bool give_up,
                  const char *why, struct run_stop_result *result, struct error *err);

/* The error for nodes on which something may still live (7). Returns -1. */
int run_unproven_error(const struct run *run, const struct run_stop_result *result, size_t unproven,
                       struct error *err);

/*
 * Pending cleanups: nodes of earlier attempts that did not answer (run.cleanups). Add one of the current
 * attempt; end what is left on those that answer now, with the lock held or taking it. 0, or -1 with err
 * (also interrupted); pending cleanups that are still there were not proven.
 */
void pending_cleanup_add(struct run *run, size_t index);
int pending_cleanup_try_locked(struct run_context *context, struct run *run, struct run_stop_result *result,
                               struct error *err);
int pending_cleanup_try(struct run_context *context, struct run *run, struct error *err);

/* Warn of pending cleanups that cannot be tried: an earlier version recorded them without the place. */
void pending_cleanup_warn(const struct run_context *context, const struct run *run);

/* The same as a part of a stop (the lock is held): pending cleanups that stay are not_proven (7). */
int pending_cleanup_finish(struct run_context *context, struct run *run, struct run_stop_result *result,
                           struct error *err);

/* The run has ended or changed: state, outcome, event, secrets, record. */
int run_save_state(struct run_context *context, struct run *run, struct error *err);

#endif
