/*
 * What a check or a diagnosis found: one sentence, the evidence, what to do, and the hosts it applies to.
 */
#ifndef MTLAUNCH_MODEL_FINDING_H
#define MTLAUNCH_MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strlist.h"

enum finding_severity {
    FINDING_OK,   /* checked, and fine */
    FINDING_NOTE, /* worth knowing */
    FINDING_WARN, /* may spoil the run */
    FINDING_FAIL  /* the run cannot continue, or would not be what was requested */
};

/* "ok", "note", "warn", "fail" */
const char *finding_severity_name(enum finding_severity severity);

struct finding {
    const char *id; /* of the check or the signature; static */
    enum finding_severity severity;
    const struct error_kind *kind; /* of a failure: its class and exit code; else NULL */
    char *text;                    /* one sentence, as an error's text */
    char *evidence;                /* what was seen; NULL: the text says it */
    char *remedy;                  /* what to do; NULL: nothing */
    struct strlist hosts;          /* labels; empty while it is about one node that the caller knows */
};

struct findings {
    struct finding *items;
    size_t len, cap;
};

/* clang-format off */
#define FINDINGS_INIT {0}
/* clang-format on */
#define AUTO_FINDINGS __attribute__((cleanup(findings_release)))

void findings_release(struct findings *findings); /* leaves it empty */

/* Append one (text in printf form). The result is borrowed until the next is appended. */
struct finding *findings_add(struct findings *findings, const char *id, enum finding_severity severity,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Append a failure of this kind. */
struct finding *findings_fail(struct findings *findings, const char *id, const struct error_kind *kind,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same from an error, with its hint as the remedy. */
struct finding *findings_fail_error(struct findings *findings, const char *id, const struct error *error);

void finding_set_evidence(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void finding_set_remedy(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A failure as an error: kind, text, and the remedy as the hint. Returns -1. */
int finding_to_error(const struct finding *finding, struct error *err);

/* The object that commands print and records keep: {id, severity, hosts, folded, title, evidence, remedy}. A
 * new reference. */
json_t *finding_to_json(const struct finding *finding);

/* The first failure; NULL: there is none. */
const struct finding *findings_first_failure(const struct findings *findings);

/* The worst severity among those with this id (NULL: of all); FINDING_OK when there is none. */
enum finding_severity findings_worst(const struct findings *findings, const char *id);

/*
 * Add the findings of one host to all. A finding that is already there gets this host's label, any other one
 * is appended with it. host NULL: each finding has its own hosts.
 */
void findings_fold(struct findings *all, const struct findings *found, const char *host);

/* Move the findings with this id to the end of another list, in their order. */
void findings_move(struct findings *to, struct findings *from, const char *id);

#endif
