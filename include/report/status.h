/*
 * Runs as tables and as JSON (`mtlaunch help json`): one run with its nodes, attempts and events; the list of
 * runs. The views borrow their values.
 */
#ifndef MTLAUNCH_REPORT_STATUS_H
#define MTLAUNCH_REPORT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/run.h"
#include "model/samples.h"
#include "report/style.h"
#include "run/store.h"
#include "run/usecase.h"

/* The values of a training figure so far, for a line of bars. Release it with report_trend_release. */
struct report_trend {
    const char *what; /* "loss", "step time" */
    const char *unit; /* printed after a number; "": none */
    double *values;   /* all finite, the oldest first; owned */
    size_t len;
    int64_t span_s; /* from the first value to the last */
};

/* Take the loss, or if that is unknown the step time; empty if there are fewer than two values. */
void report_trend_init(struct report_trend *trend, const struct samples *samples);
void report_trend_release(struct report_trend *trend);

/* A run and what else its view shows. */
struct report_run {
    const struct run *run;
    size_t node_count;           /* for the list of runs, where run may be loaded without its nodes */
    const char *supervisor_host; /* NULL: there is none */
    int64_t supervisor_pid;      /* 0: unknown */
    bool supervisor_alive;
    const struct run_events *events;  /* NULL: none */
    const struct report_trend *trend; /* NULL: none */
    bool with_survivors;              /* the answer of a stop */
    const struct run_survivor *survivors;
    size_t survivors_len;
};

/* Append the view of one run as text: a heading, the nodes, what went wrong. */
void report_run_text(const struct report_run *view, const struct report_style *style, struct str *out);

/*
 * Append the status object; every key is present, null where unknown. A command that failed but knows the run
 * adds "error": failure with the hosts it happened on (both may be NULL).
 */
void report_run_json(const struct report_run *view, const struct error *failure, const struct strlist *hosts,
                     struct str *out);

/*
 * Several runs in one answer: {schema, runs: [status object, …]}, each with "error" if its command failed.
 * NULL members, and a run of which only the name is known, are null.
 */
struct report_many; /* opaque */
struct report_many *report_many_new(void);
void report_many_free(struct report_many *many); /* NULL: nothing */
void report_many_add(struct report_many *many, const struct report_run *view, const struct error *failure,
                     const struct strlist *hosts);
/* A run that has no view: {run, state: null, error}. */
void report_many_add_failed(struct report_many *many, const char *run, bool with_survivors,
                            const struct error *failure);
/* remove: {run, removed, error}. failure NULL: it was removed. */
void report_many_add_removed(struct report_many *many, const char *run, const struct error *failure,
                             const struct strlist *hosts);
/* Has an entry for this run been added? */
bool report_many_has(const struct report_many *many, const char *run);
/* An error of the whole command, such as a pattern that matches no run: "error" beside "runs". */
void report_many_set_error(struct report_many *many, const struct error *error);
void report_many_json(struct report_many *many, struct str *out);

/* Append the list of runs: a table, or {schema, runs: […]}. */
void report_runs_text(const struct report_run *views, size_t count, const struct report_style *style,
                      struct str *out);
void report_runs_json(const struct report_run *views, size_t count, struct str *out);

/* A training's progress as in `status --json`; null when nothing is known. A new reference. */
json_t *report_progress_json(const struct training_progress *progress);

/* Append a training's progress in one line, without a line end; live: with the time left. */
void report_progress_text(const struct training_progress *progress, bool live, struct str *out);

/*
 * The exit status of a node in words: "exit status 3", "killed by SIGBUS (often a full /dev/shm)". The caller
 * frees.
 */
char *report_exit_text(const struct run_node *node);

#endif
