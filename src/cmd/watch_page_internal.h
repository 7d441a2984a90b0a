/* What `status --watch` shows, which part of it, and what a key changes. Pure. */
#ifndef MTLAUNCH_CMD_WATCH_PAGE_INTERNAL_H
#define MTLAUNCH_CMD_WATCH_PAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

enum watch_page { WATCH_STATUS, WATCH_LOG, WATCH_STACKS, WATCH_PAGES };

struct watch_place {
    enum watch_page page;
    bool has_pages;          /* there is a run whose logs and stacks can be shown */
    size_t nodes;            /* of it */
    size_t node;             /* whose log is shown, or was last; its place in the run */
    size_t top[WATCH_PAGES]; /* the first line that is shown */
    bool follows;            /* the log is shown at its end */
    bool has_number;         /* digits were typed */
    size_t number;
};

/* What is left to be done. */
enum watch_action {
    WATCH_NOTHING,
    WATCH_QUIT,
    WATCH_BACK,
    WATCH_SHOW_LOG,
    WATCH_READ_STACKS,
    WATCH_NO_SUCH_NODE
};

/* lines: of the page; room: how many of them are shown at once. What is shown has to be drawn again. */
enum watch_action watch_place_key(struct watch_place *place, int key, size_t lines, size_t room);

/* Keep within the page, whose lines or room have changed. */
void watch_place_fit(struct watch_place *place, size_t lines, size_t room);

#endif
