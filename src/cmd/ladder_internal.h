/* The steps of a ladder: the hosts, profiles and ZeRO level with which each one runs the job. */
#ifndef MTLAUNCH_CMD_LADDER_INTERNAL_H
#define MTLAUNCH_CMD_LADDER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

#define LADDER_STEPS_MAX 64
#define LADDER_SMOKE     "smoke" /* the profile of the first steps, if the job has it */

struct ladder_step {
    char *name;              /* "4-z1": the name of its run after the prefix */
    unsigned long nodes;     /* the first N hosts; 0: all */
    struct strlist profiles; /* in order, after those of the command line */
    char *zero_stage;        /* "0" to "3"; NULL: as in the job */
};

struct ladder_steps {
    struct ladder_step items[LADDER_STEPS_MAX];
    size_t len;
};

void ladder_steps_release(struct ladder_steps *steps);

/*
 * Read a list of steps. Steps are separated by commas, the parts of a step by '+'. A part is a number of
 * nodes, "all", the name of one of these profiles, or a ZeRO level "z0" to "z3" (a profile of that name takes
 * precedence). job: the job's name, for messages. Errors: kind_usage.
 */
int ladder_read_steps(const char *list, const struct strlist *profiles, const char *job,
                      struct ladder_steps *out, struct error *err);

/* One node, all nodes, then all nodes at ZeRO 0, 1 and 2: a list for ladder_read_steps. Borrowed. */
const char *ladder_default_steps(const struct strlist *profiles, size_t hosts);

#endif
