/* Passes the events of runs on to the notifier. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/run.h"
#include "report/console.h"
#include "report/notify.h"

/* False: there is no notification for this event. */
static bool find_kind(const char *event, enum notify_event_kind *kind)
{
    for (unsigned i = 0; i < NOTIFY_EVENTS; i++) {
        if (strcmp(notify_event_names[i], event) == 0) {
            *kind = (enum notify_event_kind)i;
            return true;
        }
    }
    return false;
}

/*
 * Add the hosts that the event is about: the one it names; for a failure those with its cause, else the first
 * that failed; for lost nodes all that are lost.
 */
static void add_hosts(const struct run *run, enum notify_event_kind kind, const char *host,
                      struct strlist *hosts)
{
    if (host) {
        strlist_add(hosts, host);
        return;
    }
    if (kind == NOTIFY_FAILED && run->cause.hosts.len > 0) {
        strlist_copy(hosts, &run->cause.hosts);
        return;
    }
    long first = kind == NOTIFY_FAILED ? run_first_failure(run) : -1;
    if (first >= 0) {
        strlist_add(hosts, run->nodes[first].label);
    }
    for (size_t i = 0; kind == NOTIFY_LOST && i < run->nodes_len; i++) {
        if (run->nodes[i].state == NODE_LOST) {
            strlist_add(hosts, run->nodes[i].label);
        }
    }
}

/*
 * Has the end of this attempt been reported? A failure is recorded when it is noticed, and again when the run
 * has ended because of it. It is reported once, as soon as it is known.
 */
static bool is_told(struct console *console, const struct run *run, enum notify_event_kind kind)
{
    char attempt[sizeof(console->told_of)];
    if (kind != NOTIFY_FAILED && kind != NOTIFY_FINISHED && kind != NOTIFY_STOPPED) {
        return false;
    }
    snprintf(attempt, sizeof(attempt), "%s.%u", run->id, run->attempt);
    if (strcmp(attempt, console->told_of) == 0) {
        return true;
    }
    memcpy(console->told_of, attempt, sizeof(attempt));
    return false;
}

static void on_event(void *ctx, const struct run *run, const char *event, const char *host, const char *text)
{
    struct console *console = ctx;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    struct notify_event told = {
        .time_ms = clock_real_ms(),
        .run = run->name,
        .job = run->job,
        .run_id = run->id,
        .attempt = run->attempt,
        .reason = text,
        .exit_status = run->exit_status,
        .head = run->head_host,
        .hosts = &hosts,
    };
    if (console->event_before) {
        console->event_before(ctx, run, event, host, text);
    }
    if (!find_kind(event, &told.kind) || is_told(console, run, told.kind)) {
        return;
    }
    add_hosts(run, told.kind, host, &hosts);
    notifier_send(console->notifier, &told);
}

void console_notify(struct console *console, struct notifier *notifier)
{
    if (notifier && !console->notifier) {
        console->event_before = console->observer.event;
        console->observer.event = on_event;
    } else if (!notifier && console->notifier) {
        console->observer.event = console->event_before;
    }
    console->notifier = notifier;
    console->observer.works[RUN_WORK_NOTIFIER] = (struct run_work){
        .ready = notifier ? notifier_ready : NULL,
        .ctx = notifier,
        .fd = notifier ? notifier_fd(notifier) : -1,
    };
}
