/*
 * A terminal's screen that is redrawn in place, as text in and one frame out. Pure: whoever owns the terminal
 * writes each frame with one write. A frame goes home and over what stands there, line by line, and clears
 * only what is left of each line, so that nothing flickers.
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
 * Append the lines of text, none wider than columns: a longer one goes on in the next, broken at a blank
 * where one is near. The text is safe for a terminal but for its colours, which go on in the next line too.
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
