/*
 * The containers of a job, one per host: inspecting them, creating them as container.run of the spec says,
 * and removing them.
 */
#ifndef MTLAUNCH_RUN_CONTAINER_H
#define MTLAUNCH_RUN_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "run/usecase.h"

/* A container as its host's engine reports it. Owned. */
struct run_container {
    char *label;                /* of the host */
    char *status;               /* as the engine reports it, or "missing"; NULL: the host did not answer */
    char *id;                   /* NULL: missing */
    char *image;                /* the name that the container was created from */
    char *job;                  /* the job that `container up` created it for; NULL: created by other means */
    struct strlist differences; /* from container.run: "network is 'bridge', the spec says 'host'" */
    char *runs;                 /* names of live runs in it, separated by blanks; NULL: none */
    const char *action;         /* "made", "started", "replaced", "removed", "kept"; NULL: only inspected */
};

struct run_containers {
    struct run_container *items;
    size_t len;
};

void run_containers_release(struct run_containers *containers);

enum run_container_verb { RUN_CONTAINER_UP, RUN_CONTAINER_STATUS, RUN_CONTAINER_DOWN };

struct run_container_request {
    enum run_container_verb verb;
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan_host *host_facts; /* one per host */
    /* up: first remove a container that differs; down: also remove one created by other means */
    bool replace;
};

/*
 * All containers are inspected first; nothing is changed when the state on one host forbids it. Repeating the
 * call changes nothing. containers is filled in any case. Errors: kind_plan (2), those of hosts (3), those of
 * access to an engine (4), kind_container_differs, kind_container_foreign, kind_image_missing,
 * kind_container_failed (4), kind_run_live (6: a live run is in one that would be removed).
 */
int run_container(struct run_context *context, const struct run_container_request *request,
                  struct run_containers *containers, struct error *err);

/* --- the pure part ------------------------------------------------------------------------------- */

/* Append the words that follow `ENGINE run`: options, image, command. The environment is passed separately.
 */
void container_run_words(const struct job *job, struct strlist *words);

/*
 * Compare the output of `ENGINE inspect` (JSON) with container.run of the spec: fills image, job and
 * differences. image_id: the current id of the spec's image on the host; NULL: unknown. A setting that the
 * spec lacks is no difference, except privileged; neither is an item of a list that the spec lacks
 * altogether. Errors: kind_node_answer.
 */
int container_compare(const struct job *job, const char *inspect, const char *image_id,
                      struct run_container *out, struct error *err);

#endif
