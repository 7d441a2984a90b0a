/*
 * Finds and registers the supervisor of a run. A lock of its own ensures that there is one at a time; a file
 * in the run's folder says where it is. The lock ends with its process; the file of a crashed supervisor
 * remains but is not trusted.
 */
#ifndef MTLAUNCH_RUN_SUPERVISOR_H
#define MTLAUNCH_RUN_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "run/store.h"

struct run_supervisor {
    char *host; /* uname -n; NULL: there is none */
    int64_t pid;
    bool here;  /* on this machine, since it was booted */
    bool alive; /* on another machine: it has reported this within the last three minutes */
};

/* Find the supervisor; an unreadable file counts as none. Release out with run_supervisor_release. */
void run_supervisor_find(const struct run_store *store, const char *name, struct run_supervisor *out);
void run_supervisor_release(struct run_supervisor *supervisor);

/*
 * Become the supervisor. Returns a descriptor to hold (run_supervisor_leave closes it), -2 when there is one
 * already (described in other, if not NULL), -1 with err.
 */
int run_supervisor_enter(const struct run_store *store, const char *name, struct run_supervisor *other,
                         struct error *err);

/* Record that it is still alive; called about once a minute. */
int run_supervisor_beat(const struct run_store *store, const char *name, struct error *err);
void run_supervisor_leave(const struct run_store *store, const char *name, int lock);

#endif
