/* The exit codes, as the manual lists them. tests/unit/cmd/test_man.c compares them with model/kind.h. */
#ifndef MTLAUNCH_CMD_EXITS_INTERNAL_H
#define MTLAUNCH_CMD_EXITS_INTERNAL_H

#include <stddef.h>

struct exit_meaning {
    int code;
    const char *meaning;
};

extern const struct exit_meaning exit_meanings[];
extern const size_t exit_meanings_count;

#endif
