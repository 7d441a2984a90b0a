/* The checks of the table, and what they share. */
#ifndef MTLAUNCH_CHECK_INTERNAL_H
#define MTLAUNCH_CHECK_INTERNAL_H

#include "check/check.h"

extern const struct check check_earlier, check_artifacts, check_volume, check_logout, check_others,
    check_port, check_workdir, check_setup, check_fault, check_interpreter, check_module, check_program,
    check_gpus, check_route;

/* Values for a check's shell function; NULL is an empty text, a flag is "1" or "". */
void check_set_text(struct env *values, const char *name, const char *value);
void check_set_number(struct env *values, const char *name, unsigned long value);
void check_set_flag(struct env *values, const char *name, bool value);

/* For a check that needs no values and makes sense everywhere. */
bool check_ask_nothing(const struct check_subject *subject, struct env *values);

/* The value of a fact, or "?" where it is not there. Borrowed. */
const char *check_shown(const struct facts *facts, const char *key);

/* Did the setup lines run to their end, so that what a job would find was looked for? */
bool check_is_set_up(const struct facts *facts);

/* "RUN_ID USER": a run's name, "-" and 8 hexadecimal digits; printable ASCII without blanks and quotes. */
bool check_is_run_user(const char *value);

#endif
