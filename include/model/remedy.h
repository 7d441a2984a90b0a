/*
 * Failures of a job that are known by a line of its log and have one remedy. A new one is a row of the table
 * in remedy.c and a sample in tests/unit/model/test_remedy.c, which fails for a row without one.
 */
#ifndef MTLAUNCH_MODEL_REMEDY_H
#define MTLAUNCH_MODEL_REMEDY_H

#include <stddef.h>

struct remedy {
    const char *line;   /* a part of the log line that tells the failure */
    const char *action; /* what to do, as a hint says it */
};

extern const struct remedy remedies[];
extern const size_t remedies_len;

/* The action for the last known failure in the text; NULL: none is known, or no text. */
const char *remedy_find(const char *text);

#endif
