/*
 * Containers on a node: how to run inside one, and how to inspect, create and remove one. Pure, like
 * node/request.h.
 *
 * A call for a container goes to the node's own shell, which looks whether the container is there, runs and
 * is still the one of the run, and hands the rest of standard input to `ENGINE exec -i [-u USER] NAME /bin/sh
 * -s`: what is asked for runs inside, with the container's own folders, processes and GPUs. No terminal is
 * requested, and nothing of the input appears on a command line.
 */
#ifndef MTLAUNCH_NODE_CONTAINER_H
#define MTLAUNCH_NODE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "node/request.h"

/*
 * Have a call of node_request_exec run inside the container. The client becomes the call's command: its
 * streams and its status are the call's.
 */
void node_call_enter(struct node_call *call, const struct place *container);

/* Ask for the state of a container. image: also the id of that image there; NULL: do not ask. */
void node_request_container_inspect(const struct place *container, const char *image, const char *nonce,
                                    struct node_call *out);

struct node_container_options {
    const char *old_id;          /* a container of this id is removed first; NULL: none */
    const char *idle_id;         /* one of this id is only started; NULL: one is made */
    const char *image;           /* for messages */
    const struct strlist *words; /* after `ENGINE run`: options, image, command */
    const struct strlist *env;   /* NAME=VALUE, no line ends: passed by a pipe, never on a command line */
};

/* Make a container, or start it. Errors of the answer as below, also kind_image_missing. */
void node_request_container_up(const struct place *container, const struct node_container_options *options,
                               const char *nonce, struct node_call *out);

/* Remove the container of that id, unless a live run is in it (kind_run_live). */
void node_request_container_down(const struct place *container, const char *id, const char *nonce,
                                 struct node_call *out);

/* The state of a container. */
struct node_container_facts {
    char *status;   /* the engine's word: running, exited, paused …; "missing" */
    char *id;       /* NULL: missing */
    char *began;    /* when it was started last, as the engine says it; NULL: missing */
    char *inspect;  /* all that the engine's inspect prints: JSON; NULL: missing, or not asked */
    char *image_id; /* of the image that was asked for; NULL: not there, or not asked */
    char *runs;     /* names of live runs in it, separated by blanks; NULL: none */
};

/* Errors: as every way into a container: kind_container_missing and its kin, and those of node/answer.h. */
int node_answer_container(const char *bytes, size_t len, const char *nonce, struct node_container_facts *out,
                          struct error *err);
void node_container_facts_release(struct node_container_facts *facts);

#endif
