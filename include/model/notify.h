/*
 * Who is notified about a run, and of what: the values of the spec's `notify`. Pure values. A target's URL is
 * a secret (webhooks carry their token in it): messages and JSON contain only what notify_url_shown appends.
 *
 * To add a format: a name here, a builder in report/notify_format.c. To add an event: a name here.
 */
#ifndef MTLAUNCH_MODEL_NOTIFY_H
#define MTLAUNCH_MODEL_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

enum notify_event_kind {
    NOTIFY_STARTED,
    NOTIFY_FAILED,
    NOTIFY_FINISHED,
    NOTIFY_STALLED,
    NOTIFY_RESTARTED,
    NOTIFY_STOPPED,
    NOTIFY_LOST,
    NOTIFY_EVENTS /* how many */
};
enum notify_format_id { NOTIFY_JSON, NOTIFY_SLACK, NOTIFY_FEISHU, NOTIFY_FORMATS /* how many */ };

extern const char *const notify_event_names[NOTIFY_EVENTS];
extern const char *const notify_format_names[NOTIFY_FORMATS];

#define NOTIFY_BIT(kind) (1U << (kind))
#define NOTIFY_ON_DEFAULT                                                                                    \
    (NOTIFY_BIT(NOTIFY_FAILED) | NOTIFY_BIT(NOTIFY_FINISHED) | NOTIFY_BIT(NOTIFY_STALLED))
#define NOTIFY_TARGETS_MAX    16   /* of one job */
#define NOTIFY_URL_LENGTH_MAX 2048 /* bytes */

struct notify_target {
    char *url;
    unsigned on; /* NOTIFY_BIT of each event */
    enum notify_format_id format;
    bool allow_http;
};

struct notify_targets {
    struct notify_target *items;
    size_t len, cap;
};

void notify_targets_release(struct notify_targets *targets);
struct notify_target *notify_targets_add(struct notify_targets *targets, const char *url); /* the defaults */

/*
 * Check that url may be called: https:// (http:// with allow_http), a host, and no blanks or characters that
 * URL parsers read differently. Errors: kind_usage, with only what notify_url_shown appends.
 */
int notify_url_check(const char *url, bool allow_http, struct error *err);

/* Append what may be shown of a URL: scheme://host[:port]/…, or "the URL" if it has no known scheme. */
void notify_url_shown(const char *url, struct str *out);

#endif
