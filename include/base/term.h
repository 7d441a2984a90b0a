/* What the streams of this process can show. */
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
/*
 * May colour be used on fd: never without a terminal, or with no_color (the environment's NO_COLOR, may
 * be NULL) set and not empty, unless the choice is always.
 */
bool term_use_color(int fd, enum term_color choice, const char *no_color);

#endif
