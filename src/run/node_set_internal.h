/*
 * The node set: all nodes of a run, reachable from this process, and the round: one question to each of them,
 * as many at once as the fan-out allows, every answer parsed as it comes.
 */
#ifndef MTLAUNCH_RUN_NODE_SET_INTERNAL_H
#define MTLAUNCH_RUN_NODE_SET_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/run.h"
#include "node/request.h"
#include "run/usecase.h"
#include "transport/fleet.h"

#define NODE_SET_NO_HOST SIZE_MAX /* how it is reached cannot be worked out (a file that is gone) */

struct node_set {
    struct run_context *context; /* borrowed */
    const struct run *run;       /* borrowed: labels and ranks */
    struct fleet *fleet;
    size_t *cleanup_hosts;           /* one a pending cleanup: its host in the fleet, or NODE_SET_NO_HOST */
    int signal_number;               /* the last of SIGINT and SIGTERM that came; 0: none */
    unsigned signals;                /* how many came */
    bool hung_up;                    /* SIGHUP came (node_set_catch_hangup) */
    unsigned patience;               /* so many of them do not interrupt: 0 at first, more for a roll-back */
    void (*on_interrupt)(void *ctx); /* called with the signal that interrupts; NULL: none */
    void *interrupt_ctx;
};

/*
 * Make the fleet for the nodes of run, in rank order, and behind them those of its pending cleanups that can
 * be reached at all. Nothing is contacted yet. Errors: kind_ssh_config, kind_identity_missing, kind_local.
 */
int node_set_open(struct node_set *set, struct run_context *context, const struct run *run,
                  struct error *err);
void node_set_close(struct node_set *set);

/* All nodes will be spoken with at once, for long. Errors: kind_local, too few open files are allowed. */
int node_set_hold(const struct node_set *set, struct error *err);

/* Has a signal come that ends what the command was at? */
bool node_set_is_interrupted(const struct node_set *set);

/* From now on SIGHUP does not end the process: it sets hung_up and ends a pause. */
void node_set_catch_hangup(struct node_set *set);

/* The error for that signal: kind_interrupted or kind_terminated. Returns -1. */
int node_set_interrupted_error(const struct node_set *set, struct error *err);

/* One question. All callbacks run inside node_set_ask; each gets ctx and the node's index. */
struct node_question {
    const char *what; /* names the step for the progress ("checking"); NULL: silent */
    void *ctx;
    unsigned timeout_ms; /* for the command on the node */
    /* Build node's call (released by the node set); false: this node is not asked. */
    bool (*build)(void *ctx, size_t node, const char *nonce, struct node_call *call);
    /* Parse an answer. -1 with err: it is a failure after all, handed on to failed. */
    int (*take)(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce, struct error *err);
    /* No answer. started: the question reached the node, or may have. */
    void (*failed)(void *ctx, size_t node, const struct error *error, bool started);
};

/*
 * A round: ask every node and wait until each has answered or failed. Returns 0, or -1 when a signal
 * interrupted it: nodes that had not answered by then get failed() with kind_interrupted.
 */
int node_set_ask(struct node_set *set, const struct node_question *question);

/* Let time pass (followers go on); ends early when a signal interrupts. */
void node_set_pause(struct node_set *set, unsigned ms);

/* Fill nonce with letters and digits nobody can guess. */
void node_set_make_nonce(char nonce[NODE_NONCE_LEN + 1]);

/* What a login is given to come from its start to our command: start-up files, the way into a container.
 * connect_timeout_ms: as it was asked for; 0: it was not. */
unsigned run_answer_ms(unsigned connect_timeout_ms);

#endif
