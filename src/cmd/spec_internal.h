/* A first job file: a commented text for the answers a person gave. Pure. */
#ifndef MTLAUNCH_CMD_SPEC_INTERNAL_H
#define MTLAUNCH_CMD_SPEC_INTERNAL_H

#include "base/str.h"

struct spec_answers {
    const char *job;      /* the name it is started by: "train" */
    const char *launcher; /* one of launchers_all */
    const char *hosts;    /* an expression; NULL: not given */
    const char *hostfile; /* a path as written in the spec; NULL: not given */
    const char *program;  /* NULL: the launcher's example */
};

/* What `program` is for a launcher whose program is not known yet: "train.py". */
const char *spec_example_program(const char *launcher);

/*
 * Append the job file. Lines that begin with '#' and a blank are words; with '#' alone they are settings:
 * each may be brought to life by taking the '#' away. tests/unit/cmd/test_spec.c loads it for every launcher,
 * with and without the '#'.
 */
void spec_render(const struct spec_answers *answers, struct str *out);

/* Append text (UTF-8) as one YAML scalar that is read back as it is: plain where that is safe, else quoted.
 */
void spec_add_scalar(struct str *out, const char *text);

#endif
