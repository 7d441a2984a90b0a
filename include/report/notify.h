/*
 * Notifications: what happens to a run, posted to webhooks over https. Nothing here ever waits for a
 * receiver: events go into one bounded queue per target, and pending work is done when the caller asks for
 * it. Everything is driven by one descriptor (an epoll that holds the sockets of libcurl's multi interface
 * and a timerfd), so that any event loop can run it: report does not know the loop, and the loop does not
 * know libcurl:
 *
 *     notifier = notifier_new(&targets, &options, &err);
 *     fleet_background(fleet, notifier_fd(notifier), notifier_ready, notifier, &err);
 *     notifier_send(notifier, &event);              while the fleet runs
 *     fleet_background_end(fleet, notifier_fd(notifier));
 *     notifier_drain(notifier, NOTIFIER_DRAIN_MS);  at the end of the command
 *     notifier_free(notifier);
 *
 * Certificates are verified. A redirect is followed only to the same scheme, host and port. An answer of 429,
 * 408 or 5xx, or a network error, is retried with growing pauses (Retry-After is honoured, up to a cap) until
 * the event is too old. Texts may be any bytes: they become UTF-8, and secrets in them become "***".
 *
 * Create the notifier in the process that uses it (a forked child does not inherit it). SIGPIPE must be
 * ignored.
 */
#ifndef MTLAUNCH_REPORT_NOTIFY_H
#define MTLAUNCH_REPORT_NOTIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/notify.h"

#define NOTIFIER_DRAIN_MS 5000 /* limit for deliveries at the end of a command */
#define NOTIFIER_QUEUE    32   /* events that wait for one target; when full, the oldest is dropped */

/* What happened. Everything is borrowed for the call; any text may be NULL. */
struct notify_event {
    enum notify_event_kind kind;
    int64_t time_ms; /* epoch */
    const char *run, *job, *run_id;
    unsigned attempt;            /* 0: unknown */
    const char *reason;          /* one or more lines */
    int exit_status;             /* of the run; -1: none */
    const char *head;            /* the machine that reports it */
    const struct strlist *hosts; /* the affected hosts, labels in rank order; NULL or empty: the whole run */
    const struct strlist *lines; /* last lines of the log of the first host; NULL: none */
};

struct notifier_options {
    const struct strlist *secrets; /* values to mask (copied); those below 4 bytes are skipped */
    const char *ca_file;           /* PEM file with certificate authorities; NULL: those of the system */
    void (*problem)(void *ctx,
                    const char *text); /* a line for the log about something not delivered; NULL: none */
    void *ctx;
    unsigned try_ms;             /* limit of one request, including connecting; 0: 10 s */
    unsigned total_ms;           /* an event older than this is given up; 0: 10 minutes */
    unsigned backoff_ms;         /* the first pause, doubled each time up to a minute; 0: 1 s */
    unsigned retry_after_max_ms; /* cap of Retry-After; 0: 2 minutes */
};

struct notifier;

/* options NULL: the defaults. targets are copied. NULL with kind_local when a descriptor or libcurl fails. */
struct notifier *notifier_new(const struct notify_targets *targets, const struct notifier_options *options,
                              struct error *err);
void notifier_free(struct notifier *notifier); /* drops what is not delivered; NULL accepted */

/* Readable when notifier_work has something to do. Owned by the notifier. */
int notifier_fd(const struct notifier *notifier);
void notifier_work(struct notifier *notifier); /* never blocks */
void notifier_ready(void *notifier);           /* the same, as a callback */

/* Queue an event for every target that wants it. Never blocks, never fails. */
void notifier_send(struct notifier *notifier, const struct notify_event *event);

/* Events not delivered yet, over all targets. */
size_t notifier_waiting(const struct notifier *notifier);

/*
 * Work until everything is delivered or given up, for at most ms. Events that are left are reported as a
 * problem and dropped. Returns their number.
 */
size_t notifier_drain(struct notifier *notifier, unsigned ms);

#endif
