/*
 * Errors as text and as JSON. As text: `mtlaunch: file:line:column: text`, the bad line with a caret under
 * the column, the hint on its own line. The same failure on many hosts is one message with the folded host
 * list: `g[0033-0036]: text`.
 */
#ifndef MTLAUNCH_REPORT_FAILURE_H
#define MTLAUNCH_REPORT_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"

/* One failure and the hosts that share it. */
struct failure {
    struct error error;
    struct strlist hosts; /* labels, in the order of the failures; may be empty */
};

/* Failures of several hosts; equal ones (kind, text, hint) are joined. */
struct failures {
    struct failure *items;
    size_t len;
    size_t cap;
};

/* clang-format off */
#define FAILURES_INIT {0}
/* clang-format on */
#define AUTO_FAILURES __attribute__((cleanup(failures_release)))

void failures_release(struct failures *failures);

/* Add err for host (NULL: for no host). A failure equal in kind, text and hint gains the host. */
void failures_add(struct failures *failures, const char *host, const struct error *err);

/* The exit code of all failures: the first of 7, 8, 3, 4, 5, 6, 1, then others; 0 when empty. */
int failures_code(const struct failures *failures);

/* Append the message of err as text; hosts (may be NULL or empty) are named in folded form. */
void failure_text(const struct error *err, const struct strlist *hosts, bool color, struct str *out);

/* Append the error object {schema, error: {kind, code, message, hint, hosts, file, line, column}}. */
void failure_json(const struct error *err, const struct strlist *hosts, struct str *out);

/* Write the message to stderr, in place of a progress bar that is shown there. */
void failure_print(const struct error *err, const struct strlist *hosts, bool color);

/* True when the same failure (kind, text, hint) is among them already. */
bool failures_has(const struct failures *failures, const struct error *err);

/* Append all hosts that failed to hosts, each once, in the order they came. */
void failures_hosts(const struct failures *failures, struct strlist *hosts);

#endif
