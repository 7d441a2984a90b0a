/*
 * The observer of the use cases: shows a bar and messages on stderr, folds failures and keeps them for the
 * exit code and for JSON, and merges logs onto a descriptor.
 */
#ifndef MTLAUNCH_REPORT_CONSOLE_H
#define MTLAUNCH_REPORT_CONSOLE_H

#include <stdbool.h>

#include "base/error.h"
#include "model/run.h"
#include "report/failure.h"
#include "report/logview.h"
#include "report/progress.h"
#include "report/style.h"
#include "run/observer.h"

struct notifier;

struct console {
    const struct report_style *style; /* borrowed */
    struct failures *failures;        /* borrowed; gains what happened on hosts */
    struct progress bar;
    struct logview logs; /* the caller sets json, color, raw and the expression */
    int log_fd;          /* where logs go … */
    void (*take_log)(void *ctx, const char *bytes, size_t len); /* … unless this takes their bytes; NULL */
    void *take_log_ctx;
    /* Called once when logs can no longer be written; from then on they are dropped. NULL: not called. */
    void (*output_failed)(void *ctx, const struct error *err);
    void *output_ctx;
    struct error output_error;      /* kind NULL: none */
    struct notifier *notifier;      /* borrowed; NULL: no notifications */
    char told_of[RUN_ID_SIZE + 16]; /* run and attempt whose end has been reported */
    /* The observer's event callback before the notifier was set; it is still called. */
    void (*event_before)(void *ctx, const struct run *run, const char *event, const char *host,
                         const char *text);
    struct run_observer observer;
};

void console_init(struct console *console, const struct report_style *style, struct failures *failures,
                  int log_fd);

/* Post the run's events through notifier from now on; NULL: no longer. */
void console_notify(struct console *console, struct notifier *notifier);

/* Remove the bar and write what is left of the logs. */
void console_release(struct console *console);

#endif
