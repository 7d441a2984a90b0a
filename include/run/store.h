/*
 * The run store: one folder per run under ${XDG_STATE_HOME:-~/.local/state}/mtlaunch/runs, mode 0700. It
 * contains run.json (the record), secrets (0600, removed when the run has ended) and events.jsonl. Every
 * write is atomic, and a lock outside the run's folder serializes the commands on a run.
 */
#ifndef MTLAUNCH_RUN_STORE_H
#define MTLAUNCH_RUN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/env.h"
#include "model/run.h"

#define RUN_FORMAT 1 /* of run.json; a higher one is refused with kind_record_newer */

struct run_store {
    char *root; /* …/mtlaunch/runs */
};

struct run_event {
    int64_t time_ms;
    char *event; /* "started", "failed", … */
    char *host;  /* NULL: the whole run */
    char *text;
};

struct run_events {
    struct run_event *items;
    size_t len, cap;
};

/* xdg_state_home may be NULL or empty; home is used then. Creates nothing yet. */
int run_store_open(struct run_store *store, const char *xdg_state_home, const char *home, struct error *err);
void run_store_release(struct run_store *store);

/* Whether there is a record of that name. */
bool run_store_has(const struct run_store *store, const char *name);

/* Names of all runs, sorted. A store that does not exist yet has none. */
int run_store_names(const struct run_store *store, struct strlist *names, struct error *err);

/* Load a run. Errors: kind_no_such_run (hint: nearest name), kind_record_newer, kind_record_damaged. */
int run_store_load(const struct run_store *store, const char *name, struct run *run, struct error *err);
/*
 * Load only the record's first line, for a list of runs. run then has no nodes, attempts or spec, unless an
 * older version wrote the record; *node_count is the number of its nodes.
 */
int run_store_load_heading(const struct run_store *store, const char *name, struct run *run,
                           size_t *node_count, struct error *err);
int run_store_save(const struct run_store *store, const struct run *run, struct error *err);

/* A value that changes whenever any process writes the record; 0: there is no record. */
int64_t run_store_stamp(const struct run_store *store, const char *name);

/*
 * Take the run's lock. Returns a descriptor (close releases the lock), -1 on error, -2 when another command
 * still holds it after wait_ms. The lock ends with the process that holds it.
 */
int run_store_lock(const struct run_store *store, const char *name, unsigned wait_ms, struct error *err);

/* Save the secret values of a run for commands that restart it; they are removed when the run has ended. */
int run_store_save_secrets(const struct run_store *store, const char *name, const struct env *env,
                           struct error *err);
/* Save what a restart of the run needs, as text; it is removed with the secrets. */
int run_store_save_respawn(const struct run_store *store, const char *name, const char *text,
                           struct error *err);
bool run_store_has_respawn(const struct run_store *store, const char *name);
int run_store_load_respawn(const struct run_store *store, const char *name, size_t max_bytes,
                           struct str *text, struct error *err);
void run_store_drop_secrets(const struct run_store *store, const char *name);

/* Append one event; the caller may ignore a write error. */
int run_store_add_event(const struct run_store *store, const char *name, int64_t time_ms, const char *event,
                        const char *host, const char *text, struct error *err);
/* Load the last max events in order; damaged lines are skipped. */
int run_store_events(const struct run_store *store, const char *name, size_t max, struct run_events *events,
                     struct error *err);
void run_events_release(struct run_events *events);

/*
 * Find the next free name JOB-N for a run of a job, by a counter that never decreases; the caller frees name.
 * take: the number is used up; else it is only peeked at. Errors: kind_usage (the job's name does not make a
 * valid run name), kind_local.
 */
int run_store_next_name(const struct run_store *store, const char *job, bool take, char **name,
                        struct error *err);

/* Called before a run of this name is removed: make sure that its number is not reused. */
int run_store_raise_counter(const struct run_store *store, const char *job, const char *name,
                            struct error *err);

/* Delete the run's folder: run.json goes last, so that a crash leaves a record or nothing. */
int run_store_remove(const struct run_store *store, const char *name, struct error *err);

#endif
