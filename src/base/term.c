/* Asks terminals for their size and abilities. */
#include "base/term.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define COLUMNS_MIN     20 /* narrower tables are unreadable; the terminal then wraps the lines */
#define COLUMNS_MAX     10000
#define COLUMNS_UNKNOWN 80
#define ROWS_UNKNOWN    24

bool term_is_tty(int fd)
{
    return isatty(fd) == 1;
}

size_t term_columns(int fd)
{
    const char *variable = getenv("COLUMNS");
    uint64_t columns = 0;
    struct winsize size;

    if (!variable || !text_to_uint(variable, 1, COLUMNS_MAX, &columns)) {
        if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
            return COLUMNS_UNKNOWN;
        }
        columns = size.ws_col;
    }
    return columns < COLUMNS_MIN ? COLUMNS_MIN : (size_t)columns;
}

void term_size(int fd, size_t *rows, size_t *columns)
{
    struct winsize size;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;

    *rows = known ? size.ws_row : ROWS_UNKNOWN;
    *columns = known ? size.ws_col : COLUMNS_UNKNOWN;
}

bool term_can_redraw(int fd)
{
    const char *type = getenv("TERM");

    return term_is_tty(fd) && type && type[0] != '\0' && strcmp(type, "dumb") != 0;
}

bool term_use_color(int fd, enum term_color choice, const char *no_color)
{
    switch (choice) {
    case TERM_COLOR_ALWAYS:
        return true;
    case TERM_COLOR_NEVER:
        return false;
    case TERM_COLOR_AUTO:
        break;
    }
    /* An empty NO_COLOR counts as unset: https://no-color.org */
    return term_is_tty(fd) && (!no_color || no_color[0] == '\0');
}
