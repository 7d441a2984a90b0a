/* What the output streams of this process can display: width, colour, redrawing. */
#ifndef MTLAUNCH_BASE_TERM_H
#define MTLAUNCH_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

bool term_is_tty(int fd);
/*
 * Columns to write for: of the environment's COLUMNS when that is set, else of the terminal; 80 when fd
 * is none or it is unknown. Never below 20.
 */
size_t term_columns(int fd);
/* The terminal's own size; 24 rows of 80 columns when fd is none or it does not say. */
void term_size(int fd, size_t *rows, size_t *columns);
/* Can its content be redrawn in place: is it a terminal that TERM does not call dumb? */
bool term_can_redraw(int fd);
/*
 * May colour be used on fd: never without a terminal, or with no_color (the environment's NO_COLOR, may
 * be NULL) set and not empty, unless the choice is always.
 */
bool term_use_color(int fd, enum term_color choice, const char *no_color);

#endif
