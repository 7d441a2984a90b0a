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
    const char *corner;          /* at the right end of the first line; "": nothing */
    const struct strlist *lines; /* as made by screen_wrap */
    size_t top;                  /* index of the first line that is shown */
    const char *footer;          /* the last line */
};

/*
 * Append the lines of text, none wider than columns. A longer line continues on the next one, broken at a
 * blank if one is near. The text must be safe for a terminal except for its colours, which continue on the
 * next line.
 */
void screen_wrap(const char *text, size_t columns, struct strlist *lines);

/* Rows that are left for lines. */
size_t screen_room(size_t rows);

/* The highest value of top, which shows the last lines. */
size_t screen_last_top(size_t lines, size_t rows);

/* Append the bytes that draw the screen. */
void screen_frame(const struct screen *screen, struct str *out);

/* Take over the terminal, and give it back: xterm's alternate screen, without a cursor. */
extern const char screen_enter[], screen_leave[];

#endif
