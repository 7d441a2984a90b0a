/*
 * The step from which the training of a node went on. Nodes that load different checkpoints, because the
 * folder is not shared, begin at different steps and then wait for each other for ever.
 */
#ifndef MTLAUNCH_INSIGHT_START_STEP_H
#define MTLAUNCH_INSIGHT_START_STEP_H

#include <stdbool.h>
#include <stddef.h>

#define START_STEP_LINES  8    /* near the start of a log that are looked at */
#define START_STEP_WITHIN 5000 /* the first lines of a log: a later step is not the first one */

struct evidence;

struct start_step {
    const char *unit; /* "step", "iteration" …, static; NULL: unknown */
    long long number;
    unsigned shown; /* lines with a step so far, at most START_STEP_LINES */
    bool said;      /* the line says that it starts or resumes there; else it is the first line with a step */
    unsigned long line; /* in the log, from 1 */
    unsigned long last; /* of the lines that were looked at */
    char *text;         /* the line; owned by the evidence */
};

/*
 * Take a line with a step if it tells the start better than what is known: what is said comes before a first
 * step. Lines come in the order of the log; one that was taken already, or comes later than a start can, is
 * ignored.
 */
void start_step_note(struct evidence *evidence, unsigned long line, const char *bytes, size_t len);

#endif
