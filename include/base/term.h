/* What the streams of this process can show. */
#ifndef MTLAUNCH_BASE_TERM_H
#define MTLAUNCH_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

bool term_is_tty(int fd);
/* Width of the terminal in columns; 80 when fd is none or it is unknown (COLUMNS is honoured). */
size_t term_columns(int fd);
/* May colour be used on fd: never without a terminal or with NO_COLOR set (no_color), unless always. */
bool term_use_color(int fd, enum term_color wish, const char *no_color);

#endif
