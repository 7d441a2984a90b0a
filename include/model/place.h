/* Where on a host a run's work happens: on the node itself, or inside a container there. A value. */
#ifndef MTLAUNCH_MODEL_PLACE_H
#define MTLAUNCH_MODEL_PLACE_H

#include <stdbool.h>

#include "base/json.h"

/* Owned strings. */
struct place {
    char *container; /* its name; NULL: on the node itself */
    char *engine;    /* "docker", "podman" */
    bool sudo;       /* call the engine through `sudo -n` */
    char *user;      /* inside; NULL: the container's own */
    char *id;        /* of the container the work was started in; NULL: not started yet */
    char *started;   /* when that container was started, as its engine reports it; set with id */
};

void place_init(struct place *place);
void place_copy(struct place *to, const struct place *from); /* to is uninitialised or zero */
void place_release(struct place *place);                     /* leaves it as place_init does */

/* Write place to members of object, and read it from them. Each key begins with prefix. The key of the
 * container's name is "name" after a prefix, else "container". place is uninitialised or zero. */
void place_to_json(const struct place *place, json_t *object, const char *prefix);
void place_from_json(struct place *place, const json_t *object, const char *prefix);

#endif
