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
    char *status;               /* the engine's word, or "missing"; NULL: the host gave no answer */
    char *id;                   /* NULL: missing */
    char *image;                /* as it was named when the container was made */
    char *job;                  /* the job that `container up` made it for; NULL: made by other means */
    struct strlist differences; /* from container.run: "network is 'bridge', the spec says 'host'" */
    char *runs;                 /* names of live runs in it, blanks between; NULL: none */
    const char *action;         /* "made", "started", "replaced", "removed", "kept"; NULL: only looked at */
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
    bool replace; /* up: remove one that differs first; down: also one that was made by other means */
};

/*
 * All hosts are looked at first; nothing is touched when one of them forbids it. Calling it again changes
 * nothing. containers is filled whatever comes back. Errors: kind_plan (2), those of hosts (3), of the way to
 * an engine (4), kind_container_differs, kind_container_foreign, kind_image_missing, kind_container_failed
 * (4), kind_run_live (6: a live run is in one that would be removed).
 */
int run_container(struct run_context *context, const struct run_container_request *request,
                  struct run_containers *containers, struct error *err);

/* --- the pure part ------------------------------------------------------------------------------- */

/* Append the words that follow `ENGINE run`: options, image, command. The environment is passed separately.
 */
void container_run_words(const struct job *job, struct strlist *words);

/*
 * What `ENGINE inspect` says of a container (JSON) against container.run of the spec: fills image, job and
 * differences. image_id: of the spec's image there now, NULL: unknown. What the spec does not set is not a
 * difference, except privileged, and lists that the spec has. Errors: kind_node_answer.
 */
int container_compare(const struct job *job, const char *inspect, const char *image_id,
                      struct run_container *out, struct error *err);

#endif
