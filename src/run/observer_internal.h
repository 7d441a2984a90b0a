/* Passes messages and events of the use cases to the observer, and masks secrets. */
#ifndef MTLAUNCH_RUN_OBSERVER_INTERNAL_H
#define MTLAUNCH_RUN_OBSERVER_INTERNAL_H

#include "model/run.h"
#include "run/usecase.h"

void report_info(const struct run_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_warn(const struct run_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Add an event to the run's events and report it. A failure to write it is a warning. host NULL: the whole
 * run.
 */
void run_note_event(const struct run_context *context, const struct run *run, const char *event,
                    const char *host, const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Mask the secrets that context knows in text (owned, may be NULL): output of a job may contain their values,
 * and reasons are recorded and reported.
 */
void run_mask(const struct run_context *context, char **text);

#endif
