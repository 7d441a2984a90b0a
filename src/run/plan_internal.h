/* Declarations shared by the parts of the planner: plan.c (the whole plan), plan_env.c (environments). */
#ifndef MTLAUNCH_RUN_PLAN_INTERNAL_H
#define MTLAUNCH_RUN_PLAN_INTERNAL_H

#include "model/placeholder.h"
#include "model/topology.h"
#include "run/plan.h"

#define PLAN_ON_START "on start" /* the source of values that only the start can know */

/* Data that is computed once and used for every node. */
struct plan_work {
    const struct plan_input *in;
    const struct launcher *launcher;
    struct texts *texts;         /* owned by the plan */
    struct strlist labels;       /* of the hosts, in rank order */
    struct topology_node *nodes; /* one per host */
    unsigned *nproc;             /* one per host; 0: open */
    struct env passed;           /* what pass_env takes from the caller */
    struct env common;      /* the common part of all nodes, with unfilled placeholders: plan_env_share() */
    struct strlist program; /* the job's; with unfilled placeholders, like args */
    struct strlist args;    /* as words, those of the launcher first */
    struct launch_whole whole;   /* what the launcher derives from the job as a whole */
    struct strlist no_interface; /* labels of nodes where interface auto found nothing */
    struct strlist env_warnings; /* warnings of the launcher about variables, each once */
};

/* The facts of one node; NULL if it was not probed. */
const struct plan_node_facts *plan_work_facts(const struct plan_work *work, size_t host);

/*
 * Fill the placeholders of text; the caller frees the result. NULL on error; its text then begins with what.
 */
char *plan_fill(const struct placeholders *values, const char *text, bool *open, const char *what,
                struct error *err);

/* Append the variables of the caller's environment that pass_env matches. */
void plan_env_pass(const struct job *job, const char *const *environ_, struct env *out);

/* CUDA_VISIBLE_DEVICES as the job sets it on a host (with unfilled placeholders), or NULL. Borrowed. */
const char *plan_env_visible_devices(const struct plan_work *work, size_t host);

/* Refuse names that must not be set, wherever the job sets them. Errors: kind_usage. */
int plan_env_check_names(const struct plan_work *work, struct error *err);

/* Make the common part of the environments of all nodes. Requires passed. */
void plan_env_share(struct plan_work *work);

/* Fill the node's defaults, env and computed. Errors: kind_plan. */
int plan_env_make(struct plan_work *work, struct plan_node *node, const struct placeholders *values,
                  struct error *err);

#endif
