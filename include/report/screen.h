/*
 * A terminal's screen that is redrawn in place: text in, one frame out. Pure: the owner of the terminal
 * writes each frame with one write. A frame overwrites the screen line by line from the top and clears only
 * the rest of each line, so that nothing flickers.
 */
#ifndef MTLAUNCH_REPORT_SCREEN_H
#define MTLAUNCH_REPORT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"

struct screen {
    size_t rows, columns;
    bool color;
    const char *title;           /* the first line, cut at the screen's width */
    const char *corner;          /* at its right end; "": nothing */
    const struct strlist *lines; /* as screen_wrap makes them */
    size_t top;                  /* the first of them that is shown */
    const char *footer;          /* the last line */
};

/*
 * Append the lines of text, none wider than columns: a longer one continues on the next, broken at a blank
 * where one is near. The text must be safe for a terminal except for its colours, which continue on the next
 * line.
 */
void screen_wrap(const char *text, size_t columns, struct strlist *lines);

/* Rows that are left for lines. */
size_t screen_room(size_t rows);

/* The highest top: the last lines are shown then. */
size_t screen_last_top(size_t lines, size_t rows);

/* Append the bytes that draw it. */
void screen_frame(const struct screen *screen, struct str *out);

/* Take the terminal over, and give it back: the other screen of xterm, without a cursor. */
extern const char screen_enter[], screen_leave[];

#endif
