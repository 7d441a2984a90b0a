/* What `status --watch` shows, which part of it, and what a key changes. Pure. */
#ifndef MTLAUNCH_CMD_WATCH_PAGE_INTERNAL_H
#define MTLAUNCH_CMD_WATCH_PAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

enum watch_page { WATCH_STATUS, WATCH_LOG, WATCH_STACKS, WATCH_PAGES };

struct watch_place {
    enum watch_page page;
    bool has_pages;          /* a single run is watched, whose logs and stacks can be shown */
    size_t nodes;            /* number of its nodes */
    size_t node;             /* index of the node whose log is shown, or was shown last */
    size_t top[WATCH_PAGES]; /* the first line that is shown */
    bool follows;            /* the log is shown at its end */
    bool has_number;         /* digits were typed */
    size_t number;
};

/* What the caller has to do. */
enum watch_action {
    WATCH_NOTHING,
    WATCH_QUIT,
    WATCH_BACK,
    WATCH_SHOW_LOG,
    WATCH_READ_STACKS,
    WATCH_NO_SUCH_NODE
};

/*
 * Handle a key. lines: of the page; room: how many of them are shown at once. Afterwards the page has to be
 * redrawn.
 */
enum watch_action watch_place_key(struct watch_place *place, int key, size_t lines, size_t room);

/* Keep the position within the page after its lines or room have changed. */
void watch_place_fit(struct watch_place *place, size_t lines, size_t room);

#endif
