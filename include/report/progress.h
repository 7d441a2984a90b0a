/*
 * A bar on stderr while nodes start: "starting [#####.....] 12/64 nodes". It is one line, redrawn at most ten
 * times a second, and removed before a message is written and when it ends.
 */
#ifndef MTLAUNCH_REPORT_PROGRESS_H
#define MTLAUNCH_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct progress {
    char what[24]; /* "starting" */
    size_t done, total;
    bool enabled; /* stderr is a terminal, and not quiet */
    int64_t drawn_ms;
};

/*
 * Begin; with enabled false all calls do nothing. msg_make_room() removes a bar that is on the screen, and
 * the next update draws it again.
 */
void progress_begin(struct progress *bar, bool enabled, const char *what, size_t total);
void progress_update(struct progress *bar, size_t done);
/* Draw this line in the bar's place. */
void progress_show(struct progress *bar, const char *line);
void progress_end(struct progress *bar);

/* Append the bar's line for a width in columns (pure; without line end). */
void progress_render(const struct progress *bar, size_t columns, struct str *out);

#endif
