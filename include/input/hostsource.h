/*
 * Where the host list of a command comes from: the first source that is given is used, in the order of the
 * table in src/input/hostsource.c: command line (--hosts, --hostfile), the spec (hosts, hostfile),
 * $MTLAUNCH_HOSTFILE, the Slurm allocation of this shell (SLURM_JOB_NODELIST), else this machine alone.
 * To add a source: one file src/input/hostsource_NAME.c that defines a const struct hostsource
 * (src/input/hostsource_internal.h) and one line in that table; tests/unit/input/test_hostsource.c checks
 * the order of precedence over the whole table.
 */
#ifndef MTLAUNCH_INPUT_HOSTSOURCE_H
#define MTLAUNCH_INPUT_HOSTSOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"
#include "model/job.h"

/* What the caller knows; all strings borrowed. */
struct hostsource_request {
    const char *hosts;     /* --hosts, an expression, never a file; NULL: not given */
    const char *hostfile;  /* --hostfile; NULL: not given */
    const char *exclude;   /* --exclude; NULL: not given */
    bool nodes_given;      /* --nodes */
    unsigned long nodes;   /* its value: how many hosts to keep, after --exclude */
    const struct job *job; /* the spec; NULL: the command has none */
    const char *const
        *environ_;    /* the caller's environment, "NAME=VALUE" each, NULL-terminated; may be NULL */
    const char *self; /* this machine's name (uname -n) */
    const char *home; /* for "~/" in paths and for the user's groups; may be NULL */
};

/*
 * Find the host list and apply --exclude and --nodes. out must be empty (HOSTLIST_INIT); the caller releases
 * it, out->source says where it came from. notes (may be NULL) gets a line for a source that the command does
 * not name (a variable, Slurm) and for exclusions that name no host. *alone (may be NULL) is true if no
 * source has a list: out then holds only this machine, under its own name, and the caller reports that.
 * Errors: kind_usage (--hosts beside --hostfile, --nodes 0 or without a list), kind_host_list (all else); out
 * is then empty.
 */
int hostsource_find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                    struct strlist *notes, bool *alone, struct error *err);

/* Apply --exclude and --nodes of the request to a list from elsewhere. Errors as above. */
int hostsource_narrow(struct hostlist *list, const struct hostsource_request *request, struct strlist *notes,
                      struct error *err);

#endif
