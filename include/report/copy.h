/*
 * What `push` and `pull` show. The observer of their use cases shows a bar with bytes, rate and time left,
 * and a line for hosts that failed; at the end a line for hosts that got the same, or one JSON object.
 */
#ifndef MTLAUNCH_REPORT_COPY_H
#define MTLAUNCH_REPORT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "report/failure.h"
#include "report/progress.h"
#include "report/style.h"
#include "run/push.h"

struct report_copy_host {
    bool ended;
    bool told; /* its error has been shown */
    struct error error;
    struct run_copy_end end; /* without its error and not_relayed */
    char *not_relayed;
};

/* A path of a dry run, and the hosts that lack it. */
struct report_copy_path {
    const char *what; /* "send", "remove" */
    char *path;
    size_t *hosts;
    size_t len, cap;
};

struct report_copy {
    const char *verb;                 /* "sent", "received" */
    const struct report_style *style; /* borrowed */
    const struct strlist *labels;     /* borrowed; one per host */
    struct failures *failures;        /* borrowed; gains what happened on hosts */
    bool dry_run, quiet;
    struct report_copy_host *hosts;
    struct report_copy_path *paths;
    size_t paths_len, paths_cap, paths_more;
    struct progress bar;
    int64_t began_ms,
        untold_since_ms; /* monotonic; untold: since when results wait to be printed, 0: none do */
    struct run_copy_observer observer;
};

void report_copy_init(struct report_copy *report, const char *verb, const struct report_style *style,
                      const struct strlist *labels, struct failures *failures, bool dry_run, bool quiet);
void report_copy_release(struct report_copy *report);

/* End the bar and show failures that were not shown. */
void report_copy_print_failures(struct report_copy *report);
/* End the bar, show failures that were not shown, and append the result as text or as JSON. */
void report_copy_finish(struct report_copy *report, struct str *out);

/* Pure: append "12.3 MiB"; whole bytes below 1 KiB. */
void report_copy_size(uint64_t bytes, struct str *out);
/* Pure: append the bar's line. */
void report_copy_bar(const struct run_copy_progress *progress, int64_t elapsed_ms, struct str *out);

#endif
