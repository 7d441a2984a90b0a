/* The checks of the table, and what they share. */
#ifndef MTLAUNCH_CHECK_INTERNAL_H
#define MTLAUNCH_CHECK_INTERNAL_H

#include "check/check.h"

/* For the row of a check that uses the results of the setup lines. */
/* clang-format off */
#define CHECK_AFTER_SETUP(moment) .needs = "setup", .when = (moment), .timeout_s = 30
/* clang-format on */

/* The table: one line per check, in the order in which their findings count. */
/* clang-format off */
#define CHECK_TABLE(X) \
    X(reach)           \
    X(earlier)         \
    X(artifacts)       \
    X(volume)          \
    X(container)       \
    X(logout)          \
    X(others)          \
    X(port)            \
    X(workdir)         \
    X(setup)           \
    X(fault)           \
    X(interpreter)     \
    X(module)          \
    X(program)         \
    X(flags)           \
    X(gpus)            \
    X(route)           \
    X(paths)           \
    X(commands)        \
    X(same)            \
    X(disk)            \
    X(shm)             \
    X(limits)          \
    X(cores)           \
    X(clock)           \
    X(names)           \
    X(connect)         \
    X(memory)          \
    X(kernel)          \
    X(nic)             \
    X(ib)              \
    X(debugging)       \
    X(versions)        \
    X(shared)
/* clang-format on */

#define CHECK_DECLARE(id) extern const struct check check_##id;
CHECK_TABLE(CHECK_DECLARE)
#undef CHECK_DECLARE

/* Values for a check's shell function; NULL is an empty text, a flag is "1" or "". */
void check_set_text(struct env *values, const char *name, const char *value);
void check_set_number(struct env *values, const char *name, unsigned long value);
void check_set_flag(struct env *values, const char *name, bool value);

/* For a check that needs no values and makes sense everywhere. */
bool check_ask_nothing(const struct check_subject *subject, struct env *values);

/* The value of a fact, or "?" if it is missing or empty. Borrowed. */
const char *check_shown(const struct facts *facts, const char *key);

/* Did the setup lines succeed, so that the node has looked for what the job needs? */
bool check_is_set_up(const struct facts *facts);

/* A list as one value, with one item per line. */
void check_set_list(struct env *values, const char *name, const struct strlist *list);

/* A size for people: "12.3 GiB". The caller frees it. */
char *check_shown_size(uint64_t bytes);

/*
 * Group the nodes by a value that should be the same on all (NULL: not known, left out). *majority is the
 * value of most nodes (if several are equally common, the first node's; NULL: none is known); the caller
 * frees it. minority gets "VALUE on HOSTS" for each other value, separated by commas, and odd the labels of
 * those hosts. False: no node differs.
 */
bool check_find_minority(const struct check_node *nodes, size_t count, const char *const *value_of,
                         char **majority, struct str *minority, struct strlist *odd);

/*
 * Warn about nodes for which describe gives another text than for most nodes (NULL: not known; the result is
 * freed here). text, remedy: of the finding.
 */
void check_compare_described(const struct check_node *nodes, size_t count, const char *id,
                             char *(*describe)(const struct facts *facts), const char *text,
                             const char *remedy, struct findings *out);

/* The value of a job's variable; NULL: it does not set it. Borrowed. */
const char *check_env(const struct check_subject *subject, const char *name);

/*
 * Is value "RUN_ID USER"? RUN_ID: a run's name, "-" and 8 hexadecimal digits. USER: printable ASCII without
 * blanks and quotes.
 */
bool check_is_run_user(const char *value);

#endif
