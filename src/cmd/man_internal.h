/*
 * The manual pages: man(7), see groff_man(7). To add one: a row in man.c. The build makes it, `make install`
 * installs it, and tests/cli/test_manual.py checks it.
 */
#ifndef MTLAUNCH_CMD_MAN_INTERNAL_H
#define MTLAUNCH_CMD_MAN_INTERNAL_H

#include "cmd/page_internal.h"

struct manual {
    const char *name; /* "mtlaunch-job" */
    int section;
    const char *summary;
    void (*add)(struct page *page);
};

extern const struct manual manuals[];
extern const size_t manuals_count;

/* Append the whole page as roff. */
void manual_write(const struct manual *manual, struct str *out);

#endif
