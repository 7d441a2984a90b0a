/*
 * Failure as a value. A function that can fail takes `struct error *err` last and returns 0 or -1
 * (or NULL); the caller owns the struct, usually on its stack, initialised with ERROR_INIT.
 * The buffers are fixed, so an error needs no release and never allocates.
 */
#ifndef MTLAUNCH_BASE_ERROR_H
#define MTLAUNCH_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* The class of a failure: its name as JSON shows it, and the exit code a command ends with. */
struct error_kind {
    const char *name;
    int exit_code;
};

/* The kinds the base layer itself produces. The domain's are in model/kind.h. */
extern const struct error_kind kind_usage;         /* "usage", 2: what the caller gave is wrong */
extern const struct error_kind kind_not_supported; /* "not-supported", 2: known, but not built yet */
extern const struct error_kind kind_local;         /* "local", 8: disk, memory, permissions on this machine */

struct error {
    const struct error_kind *kind; /* NULL: no error */
    char text[1000];               /* lower case, no full stop; what failed first */
    char hint[500];                /* an action for the reader, or "" */
    char file[400];                /* where the bad input is, or "" */
    unsigned line;                 /* from 1; 0: unknown */
    unsigned column;               /* from 1, in characters; 0: unknown */
    char source[240];              /* the bad line itself, or "" */
};

#define ERROR_INIT ((struct error){0})

/*
 * Set kind and text (printf form), clearing hint, position and source. Always returns -1, for use in a return
 * statement. All of these functions accept a NULL err and arguments that point into *err, and leave errno
 * unchanged. A text that is too long is cut and ends in "..." (never inside a UTF-8 character).
 */
int error_set(struct error *err, const struct error_kind *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, followed by the reason of an errno value: "text: no such file or directory". */
int error_set_errno(struct error *err, const struct error_kind *kind, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Set the hint (printf form). Returns -1. */
int error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put context before the text: "context: text". Returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Set the position; a NULL file leaves the file's name as it is. Returns -1. */
int error_at(struct error *err, const char *file, unsigned line, unsigned column);

/* Keep the offending line (bytes up to a line end, a NUL or len; CR of CRLF dropped). Returns -1. */
int error_source(struct error *err, const char *line, size_t len);

/* True when err holds a failure of that kind. */
bool error_is(const struct error *err, const struct error_kind *kind);

#endif
