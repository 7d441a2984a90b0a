/* What the output streams of this process can display: width, colour, redrawing. */
#ifndef MTLAUNCH_BASE_TERM_H
#define MTLAUNCH_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

bool term_is_tty(int fd);
/*
 * Width of the output in columns: COLUMNS of the environment if it is set, else the width of the terminal. 80
 * if fd is not a terminal or its width is unknown. Never below 20.
 */
size_t term_columns(int fd);
/* The size of the terminal itself; 24 rows of 80 columns if fd is not a terminal or its size is unknown. */
void term_size(int fd, size_t *rows, size_t *columns);
/* Can the content of fd be redrawn in place? True for a terminal, unless TERM is unset, empty or "dumb". */
bool term_can_redraw(int fd);
/*
 * May colour be used on fd? TERM_COLOR_AUTO: only on a terminal, and only if no_color (the environment's
 * NO_COLOR, may be NULL) is unset or empty.
 */
bool term_use_color(int fd, enum term_color choice, const char *no_color);

#endif
