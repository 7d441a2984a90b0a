/*
 * Containers on a node: how to run inside one, and how to inspect, create and remove one. Pure, like
 * node/request.h.
 *
 * A call for a container goes to the node's own shell. It checks that the container exists, is running and is
 * still the one of the run, and passes the rest of standard input to `ENGINE exec -i [-u USER] NAME /bin/sh
 * -s`. So the request runs inside, with the container's own folders, processes and GPUs. No terminal is
 * requested, and no part of the input appears on a command line.
 */
#ifndef MTLAUNCH_NODE_CONTAINER_H
#define MTLAUNCH_NODE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "node/request.h"

/*
 * Make a call of node_request_exec run inside the container. The engine's client becomes the call's command:
 * its streams and exit status are those of the call.
 */
void node_call_enter(struct node_call *call, const struct place *container);

/* Ask for the state of a container. image: also ask for the id of this image on the node; NULL: do not. */
void node_request_container_inspect(const struct place *container, const char *image, const char *nonce,
                                    struct node_call *out);

struct node_container_options {
    const char *old_id;          /* remove the container with this id first; NULL: none */
    const char *idle_id;         /* only start the container with this id; NULL: create one */
    const char *image;           /* for messages */
    const struct strlist *words; /* after `ENGINE run`: options, image, command */
    /* NAME=VALUE without newlines: passed through a pipe, never on a command line */
    const struct strlist *env;
};

/* Create a container, or start it. The answer has the errors below, and kind_image_missing. */
void node_request_container_up(const struct place *container, const struct node_container_options *options,
                               const char *nonce, struct node_call *out);

/* Remove the container with this id, unless a live run is in it (kind_run_live). */
void node_request_container_down(const struct place *container, const char *id, const char *nonce,
                                 struct node_call *out);

/* The state of a container. */
struct node_container_facts {
    char *status;   /* the engine's word: running, exited, paused …; "missing" */
    char *id;       /* NULL: missing */
    char *began;    /* when it was last started, in the engine's format; NULL: missing */
    char *inspect;  /* output of the engine's inspect: JSON; NULL: missing, or not requested */
    char *image_id; /* of the requested image; NULL: not there, or none requested */
    char *runs;     /* names of live runs in it, separated by blanks; NULL: none */
};

/* Errors: those of any call into a container (kind_container_missing …), and those of node/answer.h. */
int node_answer_container(const char *bytes, size_t len, const char *nonce, struct node_container_facts *out,
                          struct error *err);
void node_container_facts_release(struct node_container_facts *facts);

#endif
