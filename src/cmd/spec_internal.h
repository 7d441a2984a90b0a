/* A first job file: a commented text from the answers that the user gave. Pure. */
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

/* An example of `program` for a launcher: "train.py". */
const char *spec_example_program(const char *launcher);

/*
 * Append the job file. Lines that begin with '#' and a blank are comments. Lines that begin with '#' alone
 * are settings, each of which takes effect when the '#' is removed. tests/unit/cmd/test_spec.c loads it for
 * every launcher, with and without the '#'.
 */
void spec_render(const struct spec_answers *answers, struct str *out);

/* Append text (UTF-8) as one YAML scalar that is read back unchanged: plain if that is safe, else quoted. */
void spec_add_scalar(struct str *out, const char *text);

#endif
