/*
 * The run store: one folder per run under ${XDG_STATE_HOME:-~/.local/state}/mtlaunch/runs, mode 0700.
 * It contains run.json (the record), secrets (0600, removed when the run has ended) and events.jsonl. Every
 * write is atomic, and a lock outside the run's folder makes commands on the same run take turns.
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

/* xdg_state_home may be NULL or empty; home is used then. Makes nothing yet. */
int run_store_open(struct run_store *store, const char *xdg_state_home, const char *home, struct error *err);
void run_store_release(struct run_store *store);

/* Is there a record of that name? */
bool run_store_has(const struct run_store *store, const char *name);

/* Names of all runs, sorted. A store that does not exist yet has none. */
int run_store_names(const struct run_store *store, struct strlist *names, struct error *err);

/* Errors: kind_no_such_run (hint: nearest name), kind_record_newer, kind_record_damaged. */
int run_store_load(const struct run_store *store, const char *name, struct run *run, struct error *err);
/*
 * The same for a list of runs: reads the record's first line. run then has neither nodes, attempts nor spec
 * (those of a record that an older version wrote are there); *node_count says how many nodes it has.
 */
int run_store_load_heading(const struct run_store *store, const char *name, struct run *run,
                           size_t *node_count, struct error *err);
int run_store_save(const struct run_store *store, const struct run *run, struct error *err);

/* Changes whenever the record is written, by whomever; 0: there is none. */
int64_t run_store_stamp(const struct run_store *store, const char *name);

/*
 * Take the run's lock: a descriptor (close releases it), -1 on error, -2 when another command holds it
 * after wait_ms. The lock ends with the process that holds it.
 */
int run_store_lock(const struct run_store *store, const char *name, unsigned wait_ms, struct error *err);

/* Secret values of a run, for commands that start it again; removed when it has ended. */
int run_store_save_secrets(const struct run_store *store, const char *name, const struct env *env,
                           struct error *err);
/* What it takes to start the run again, as text; it goes with the secrets. */
int run_store_save_respawn(const struct run_store *store, const char *name, const char *text,
                           struct error *err);
bool run_store_has_respawn(const struct run_store *store, const char *name);
int run_store_load_respawn(const struct run_store *store, const char *name, size_t max_bytes,
                           struct str *text, struct error *err);
void run_store_drop_secrets(const struct run_store *store, const char *name);

/* Append one event; a failure to write is an error the caller may pass over. */
int run_store_add_event(const struct run_store *store, const char *name, int64_t time_ms, const char *event,
                        const char *host, const char *text, struct error *err);
/* The last max events in order; damaged lines are passed over. */
int run_store_events(const struct run_store *store, const char *name, size_t max, struct run_events *events,
                     struct error *err);
void run_events_release(struct run_events *events);

/*
 * The next free name JOB-N of a job's runs, by a counter that never goes back; the caller frees it. take: the
 * number is used up; else it is only looked at. Errors: kind_usage (the job's name makes no run name),
 * kind_local.
 */
int run_store_next_name(const struct run_store *store, const char *job, bool take, char **name,
                        struct error *err);

/* A run of this name is about to be removed: make sure that its number is not reused. */
int run_store_raise_counter(const struct run_store *store, const char *job, const char *name,
                            struct error *err);

/* Delete the run's folder: run.json goes last, so that a crash leaves a record or nothing. */
int run_store_remove(const struct run_store *store, const char *name, struct error *err);

#endif
