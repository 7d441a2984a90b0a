/* Renders frames for a terminal (control sequences of ECMA-48, private modes as in xterm's ctlseqs). */
#include "report/screen.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/table.h"

#define HOME       "\033[H"
#define CLEAR_REST "\033[K"
#define COLOR_END  "\033[0m"
#define BREAK_NEAR 24 /* columns; a longer word is cut */

const char screen_enter[] = "\033[?1049h\033[?25l";
const char screen_leave[] = "\033[?25h\033[?1049l";

/* --- lines -------------------------------------------------------------------------------------- */

/* The length in bytes of what is at text: a colour sequence, which takes no column, or a character. */
static size_t unit_len(const char *text, size_t *columns)
{
    size_t len = 1;
    *columns = text[0] >= ' ' && text[0] < 0x7f;
    if (*columns > 0) {
        return len;
    }
    if (text[0] == '\033' && text[1] == '[') {
        len = 2 + strcspn(text + 2, "m\n");
        return text[len] == 'm' ? len + 1 : len;
    }
    while (((unsigned char)text[len] & 0xc0) == 0x80) {
        len++;
    }
    AUTO_FREE char *character = xstrndup(text, len);
    *columns = text_columns(character);
    return len;
}

/* A line that is being wrapped. */
struct cut {
    struct str line;
    size_t columns;      /* of line */
    size_t blank;        /* bytes before the last blank; 0: there is none */
    size_t blank_column; /* its column */
    char color[16];      /* colour sequence in effect at its end; "": none */
};

static void end_line(struct cut *cut, struct strlist *lines)
{
    if (cut->color[0]) {
        str_add(&cut->line, COLOR_END);
    }
    strlist_add(lines, str_text(&cut->line));
    str_reset(&cut->line);
    str_add(&cut->line, cut->color);
    cut->columns = cut->blank = cut->blank_column = 0;
}

/* The line is full: move what follows its last blank to the next one. */
static void break_line(struct cut *cut, struct strlist *lines)
{
    AUTO_FREE char *rest = NULL;
    size_t rest_columns = 0;
    if (cut->blank > 0 && cut->columns - cut->blank_column <= BREAK_NEAR) {
        rest = xstrdup(str_text(&cut->line) + cut->blank + 1);
        rest_columns = cut->columns - cut->blank_column - 1;
        str_truncate(&cut->line, cut->blank);
    }
    end_line(cut, lines);
    if (rest) {
        str_add(&cut->line, rest);
        cut->columns = rest_columns;
    }
}

static void take_color(struct cut *cut, const char *sequence, size_t len)
{
    bool ends = len == strlen(COLOR_END) && strncmp(sequence, COLOR_END, len) == 0;
    cut->color[0] = '\0';
    if (!ends && len < sizeof(cut->color)) {
        memcpy(cut->color, sequence, len);
        cut->color[len] = '\0';
    }
}

void screen_wrap(const char *text, size_t columns, struct strlist *lines)
{
    struct cut cut = {0};
    while (*text != '\0') {
        size_t wide = 0;
        const size_t len = unit_len(text, &wide);
        if (*text == '\n') {
            end_line(&cut, lines);
        } else if (*text == '\033') {
            take_color(&cut, text, len);
            str_add_mem(&cut.line, text, len);
        } else {
            if (cut.columns + wide > columns && *text == ' ') {
                end_line(&cut, lines);
                text += len;
                continue;
            }
            if (cut.columns + wide > columns && cut.columns > 0) {
                break_line(&cut, lines);
            }
            if (*text == ' ' && cut.columns > 0) {
                cut.blank = cut.line.len;
                cut.blank_column = cut.columns;
            }
            str_add_mem(&cut.line, text, len);
            cut.columns += wide;
        }
        text += len;
    }
    if (cut.columns > 0) {
        end_line(&cut, lines);
    }
    str_release(&cut.line);
}

/* --- frames ------------------------------------------------------------------------------------- */

size_t screen_room(size_t rows)
{
    return rows > 3 ? rows - 2 : 1;
}

size_t screen_last_top(size_t lines, size_t rows)
{
    const size_t room = screen_room(rows);
    return lines > room ? lines - room : 0;
}

static size_t width_of(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        size_t wide = 0;
        text += unit_len(text, &wide);
        width += wide;
    }
    return width;
}

/* Append text in at most columns. Returns how many columns it takes. */
static size_t add_cut(struct str *out, const char *text, size_t columns)
{
    size_t used = 0;
    while (*text != '\0') {
        size_t wide = 0;
        const size_t len = unit_len(text, &wide);
        if (used + wide > columns) {
            break;
        }
        str_add_mem(out, text, len);
        used += wide;
        text += len;
    }
    return used;
}

/* After the last column a terminal has not wrapped yet, and clearing would erase the last character. */
static void end_row(struct str *out, size_t used, size_t columns, bool last)
{
    if (used < columns) {
        str_add(out, CLEAR_REST);
    }
    if (!last) {
        str_add(out, "\r\n");
    }
}

/* Append the title, and the corner if there is room for both. */
static void add_title(const struct screen *screen, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;
    const size_t corner = width_of(screen->corner);
    size_t used = add_cut(&text, screen->title, screen->columns);
    if (corner > 0 && used + 2 + corner <= screen->columns) {
        str_addf(&text, "%*s%s", (int)(screen->columns - used - corner), "", screen->corner);
        used = screen->columns;
    }
    tone_add(out, str_text(&text), TONE_STRONG, screen->color);
    end_row(out, used, screen->columns, false);
}

void screen_frame(const struct screen *screen, struct str *out)
{
    const size_t room = screen_room(screen->rows);
    str_add(out, HOME);
    if (screen->rows > 2) {
        add_title(screen, out);
    }
    for (size_t row = 0; row < room; row++) {
        const size_t at = screen->top + row;
        const char *line = at < screen->lines->len ? screen->lines->items[at] : "";
        str_add(out, line);
        end_row(out, width_of(line), screen->columns, screen->rows == 1);
    }
    if (screen->rows > 1) {
        AUTO_STR struct str footer = STR_INIT;
        size_t used = add_cut(&footer, screen->footer, screen->columns);
        tone_add(out, str_text(&footer), TONE_FAINT, screen->color);
        end_row(out, used, screen->columns, true);
    }
}
