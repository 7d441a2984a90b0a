/*
 * The output of `exec`. The observer of its use case prints labelled lines as they arrive, groups equal
 * outputs at the end, or prints one JSON object. What hosts write to stdout goes to stdout, stderr to stderr.
 * Control characters are replaced; of a line only the text after its last carriage return is shown. Failures
 * of hosts are folded.
 */
#ifndef MTLAUNCH_REPORT_EXEC_H
#define MTLAUNCH_REPORT_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "report/failure.h"
#include "report/logview.h"
#include "report/progress.h"
#include "report/style.h"
#include "run/exec.h"

#define REPORT_EXEC_KEEP (1u << 20) /* bytes kept of each stream of a host, gathered or for JSON */

enum report_exec_mode {
    REPORT_EXEC_PLAIN, /* no labels, for one host */
    REPORT_EXEC_LABEL,
    REPORT_EXEC_GATHER,
    REPORT_EXEC_JSON
};

struct report_exec_host {
    struct str kept[2]; /* stdout, stderr; for gather and JSON */
    bool truncated[2];
    struct error *error; /* NULL: it ran to its end */
    bool told;           /* the error has been shown */
    int exit_status;
    char signal[16];
    unsigned elapsed_ms;
};

/* Hosts whose stream has the same content. */
struct report_exec_group {
    struct str text;
    bool truncated;
    size_t *hosts; /* indices, in the order they ended */
    size_t len, cap;
};

struct report_exec {
    enum report_exec_mode mode;
    const struct report_style *style; /* borrowed */
    const struct strlist *labels;     /* borrowed; one per host */
    struct failures *failures;        /* borrowed; gains what happened on hosts */
    bool quiet;
    struct report_exec_host *hosts;
    struct logview views[2]; /* stdout, stderr; their text in out is to be written */
    /* both go to one pipe or terminal: a line of one is never printed inside a line of the other */
    bool shared;
    int torn; /* the stream of which only a part of a line has been written; -1: none */
    bool hurry;
    int64_t ticked_ms;
    struct progress bar; /* counts the hosts that have ended, in modes that print nothing before the end */
    size_t ended;
    struct {
        struct report_exec_group *items;
        size_t len, cap;
    } groups[2];
    int64_t untold_since_ms; /* failures wait to be shown, as other hosts may report the same; 0: none */
    int worst_status;
    struct error output_error; /* kind NULL: none */
    struct run_exec_observer observer;
};

void report_exec_init(struct report_exec *report, enum report_exec_mode mode,
                      const struct report_style *style, const struct strlist *labels,
                      struct failures *failures, bool quiet);
void report_exec_release(struct report_exec *report);

/*
 * Print what had to wait for the end. hurry: the user has interrupted, so wait only briefly for a reader.
 * Returns the exit code: that of the failures when there are some, else the largest exit status; -1 with err
 * when the output cannot be written.
 */
int report_exec_finish(struct report_exec *report, bool hurry, struct error *err);

/* Pure: append the text of a stream's groups; hosts in the order of the list. */
void report_exec_gathered(struct report_exec *report, int stream, struct str *out);

/* Pure: append the object of a host, without line end, as in `hosts` of the JSON of `exec`. */
void report_exec_host_json(const struct report_exec *report, size_t host, struct str *out);

#endif
