/* Renders tables of text that fit a width. */
#include "report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define COLUMN_GAP      2
#define COLUMN_MIN      1
#define ELLIPSIS        "…"
#define ELLIPSIS_COLS   1
#define OWN_LINE_INDENT 6

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
    *table = (struct table){.columns = columns, .count = count};
}

void table_release(struct table *table)
{
    for (size_t i = 0; i < table->len; i++) {
        free(table->cells[i].text);
    }
    free(table->cells);
    table->cells = NULL;
    table->len = table->cap = 0;
}

void table_add(struct table *table, const char *text, enum report_tone tone)
{
    struct str safe = STR_INIT;
    if (text) {
        text_add_line(&safe, text, strlen(text));
    }
    table->cells = xgrow(table->cells, table->len, &table->cap, sizeof(table->cells[0]));
    table->cells[table->len++] = (struct table_cell){.text = str_detach(&safe), .tone = tone};
}

void table_addf(struct table *table, enum report_tone tone, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    table_add(table, text, tone);
}

void tone_add(struct str *out, const char *text, enum report_tone tone, bool color)
{
    static const char *const codes[] = {
        [TONE_PLAIN] = "",       [TONE_GOOD] = "\033[32m", [TONE_WARN] = "\033[33m",
        [TONE_BAD] = "\033[31m", [TONE_FAINT] = "\033[2m", [TONE_STRONG] = "\033[1m",
    };
    bool wrapped = color && codes[tone][0] && *text;
    if (wrapped) {
        str_add(out, codes[tone]);
    }
    str_add(out, text);
    if (wrapped) {
        str_add(out, "\033[0m");
    }
}

/* The length in bytes of the character at text. */
static size_t character_len(const char *text)
{
    size_t len = 1;
    while (((unsigned char)text[len] & 0xc0) == 0x80) {
        len++;
    }
    return len;
}

/* The length in bytes of the longest beginning of text that needs at most columns. */
static size_t head_len(const char *text, size_t columns)
{
    size_t used = 0;
    const char *at = text;
    while (*at) {
        AUTO_FREE char *character = xstrndup(at, character_len(at));
        used += text_columns(character);
        if (used > columns) {
            break;
        }
        at += character_len(at);
    }
    return (size_t)(at - text);
}

/* The longest end of text that needs at most columns. */
static const char *find_tail(const char *text, size_t columns)
{
    while (text_columns(text) > columns) {
        text += character_len(text);
    }
    return text;
}

/*
 * The text in at most columns: unchanged, or `head` columns of its beginning, an ellipsis, and its end. The
 * caller frees.
 */
static char *cut_middle(const char *text, size_t columns, size_t head)
{
    if (text_columns(text) <= columns) {
        return xstrdup(text);
    }
    const char *tail = find_tail(text, columns - ELLIPSIS_COLS - head);
    return xasprintf("%.*s" ELLIPSIS "%s", (int)head_len(text, head), text, tail);
}

static char *cut_end(const char *text, size_t columns)
{
    return cut_middle(text, columns, columns - ELLIPSIS_COLS);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t count_different(char *const *texts, size_t count)
{
    AUTO_FREE char **sorted = xcalloc(count + 1, sizeof(*sorted));
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = texts[i];
    }
    qsort(sorted, count, sizeof(*sorted), compare_texts);
    for (size_t i = 0; i < count; i++) {
        different += i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0;
    }
    return different;
}

/* --- columns of names --------------------------------------------------------------------------------- */

/*
 * The length of the longest suffix that all names share and that begins with a dot, as a domain does. 0:
 * there is none, or it contains no letter, as in addresses.
 */
static size_t shared_suffix(char *const *names, size_t count)
{
    const char *suffix = count > 0 ? strchr(names[0], '.') : NULL;
    for (; suffix; suffix = strchr(suffix + 1, '.')) {
        bool shared = strpbrk(suffix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        for (size_t i = 0; shared && i < count; i++) {
            shared = text_ends(names[i], suffix) && strlen(names[i]) > strlen(suffix);
        }
        if (shared) {
            return strlen(suffix);
        }
    }
    return 0;
}

static void cut_all(char *const *names, size_t count, size_t columns, size_t head, char **out)
{
    for (size_t i = 0; i < count; i++) {
        free(out[i]);
        out[i] = cut_middle(names[i], columns, head);
    }
}

/*
 * Cut names to columns at one position that keeps different names different, as near to the middle as
 * possible.
 */
static void cut_apart(char *const *names, size_t count, size_t columns, char **out)
{
    const size_t different = count_different(names, count);
    const size_t room = columns - ELLIPSIS_COLS, middle = room / 2;
    for (size_t distance = 0; distance <= room; distance++) {
        if (middle >= distance) {
            cut_all(names, count, columns, middle - distance, out);
            if (count_different(out, count) == different) {
                return;
            }
        }
        if (middle + distance <= room) {
            cut_all(names, count, columns, middle + distance, out);
            if (count_different(out, count) == different) {
                return;
            }
        }
    }
    cut_all(names, count, columns, middle, out);
}

/* The cells of a column as shown, one per row; the caller frees them and the array. */
static char **fit_cells(const struct table *table, size_t column, size_t columns)
{
    const size_t rows = table->len / table->count;
    const struct table_column *spec = &table->columns[column];
    char **shown = xcalloc(rows + 1, sizeof(*shown));
    AUTO_FREE char **names = xcalloc(rows + 1, sizeof(*names));
    bool fits = true;
    for (size_t row = 0; row < rows; row++) {
        names[row] = xstrdup(table->cells[row * table->count + column].text);
        fits = fits && text_columns(names[row]) <= columns;
    }
    size_t suffix = spec->names && !fits ? shared_suffix(names, rows) : 0;
    for (size_t row = 0; row < rows && suffix; row++) {
        char *name = names[row];
        names[row] = xasprintf("%.*s" ELLIPSIS, (int)(strlen(name) - suffix), name);
        free(name);
    }
    if (spec->names) {
        cut_apart(names, rows, columns, shown);
    }
    for (size_t row = 0; row < rows; row++) {
        if (!spec->names) {
            shown[row] = cut_end(names[row], columns);
        }
        free(names[row]);
    }
    return shown;
}

/* --- widths ------------------------------------------------------------------------------------------- */

static size_t widths_measure(const struct table *table, size_t *widths)
{
    size_t total = 0;
    for (size_t column = 0; column < table->count; column++) {
        bool empty = true;
        widths[column] = text_columns(table->columns[column].title);
        for (size_t i = column; i < table->len; i += table->count) {
            size_t width = text_columns(table->cells[i].text);
            empty = empty && width == 0;
            if (width > widths[column]) {
                widths[column] = width;
            }
        }
        if ((empty && table->columns[column].hide_empty) || table->columns[column].own_line) {
            widths[column] = 0;
        }
        if (widths[column]) {
            total += widths[column] + (total ? COLUMN_GAP : 0);
        }
    }
    return total;
}

/* The widest column that may still shrink; table->count when there is none. */
static size_t widths_widest(const struct table *table, const size_t *widths, bool flexible)
{
    size_t found = table->count;
    for (size_t column = 0; column < table->count; column++) {
        const struct table_column *spec = &table->columns[column];
        if (flexible && (spec->last || (!spec->flexible && !spec->names))) {
            continue;
        }
        if (widths[column] > COLUMN_MIN && (found == table->count || widths[column] > widths[found])) {
            found = column;
        }
    }
    return found;
}

static void widths_fit(const struct table *table, size_t *widths, size_t limit)
{
    size_t total = widths_measure(table, widths);
    for (bool flexible = true; total > limit;) {
        size_t widest = widths_widest(table, widths, flexible);
        if (widest < table->count) {
            widths[widest]--;
            total--;
        } else if (flexible) {
            flexible = false;
        } else {
            break;
        }
    }
}

static void add_blanks(struct str *out, size_t count)
{
    while (count-- > 0) {
        str_add_char(out, ' ');
    }
}

/*
 * Append a row as one line. Blanks are held back until something follows them, so that no line ends in
 * blanks.
 */
static void render_row(const struct table *table, const size_t *widths, char **const *shown, size_t row,
                       bool color, struct str *out)
{
    size_t pending = 0;
    bool first = true;
    for (size_t column = 0; column < table->count; column++) {
        const struct table_column *spec = &table->columns[column];
        const struct table_cell *cell = row ? &table->cells[(row - 1) * table->count + column] : NULL;
        if (!widths[column]) {
            continue;
        }
        AUTO_FREE char *text = cell ? xstrdup(shown[column][row - 1]) : cut_end(spec->title, widths[column]);
        size_t padding = widths[column] - text_columns(text);
        pending += (first ? 0 : COLUMN_GAP) + (spec->right ? padding : 0);
        first = false;
        if (*text) {
            add_blanks(out, pending);
            tone_add(out, text, cell ? cell->tone : TONE_FAINT, color);
            pending = 0;
        }
        pending += spec->right ? 0 : padding;
    }
    str_add_char(out, '\n');
}

/* Append the cell that has its own line, wrapped at blanks; a word longer than a line is split. */
static void render_own_line(const struct table_cell *cell, size_t width, bool color, struct str *out)
{
    const size_t room = width > OWN_LINE_INDENT + COLUMN_MIN ? width - OWN_LINE_INDENT : COLUMN_MIN;
    const char *at = cell->text;
    while (*(at += strspn(at, " ")) != '\0') {
        size_t len = head_len(at, room);
        if (len == 0) {
            len = character_len(at);
        }
        if (at[len] && at[len] != ' ') {
            const char *blank = memrchr(at, ' ', len);
            len = blank ? (size_t)(blank - at) : len;
        }
        AUTO_FREE char *line = xstrndup(at, len);
        add_blanks(out, OWN_LINE_INDENT);
        tone_add(out, line, cell->tone, color);
        str_add_char(out, '\n');
        at += len;
    }
}

void table_render(const struct table *table, size_t width, bool color, struct str *out)
{
    const size_t rows = table->len / table->count;
    AUTO_FREE size_t *widths = xcalloc(table->count, sizeof(widths[0]));
    AUTO_FREE char ***shown = xcalloc(table->count, sizeof(shown[0]));
    widths_fit(table, widths, width);
    for (size_t column = 0; column < table->count; column++) {
        if (widths[column]) {
            shown[column] = fit_cells(table, column, widths[column]);
        }
    }
    const size_t last = table->count - 1;
    for (size_t row = 0; row <= rows; row++) {
        render_row(table, widths, shown, row, color, out);
        if (row && table->columns[last].own_line) {
            render_own_line(&table->cells[(row - 1) * table->count + last], width, color, out);
        }
    }
    for (size_t column = 0; column < table->count; column++) {
        for (size_t row = 0; shown[column] && row < rows; row++) {
            free(shown[column][row]);
        }
        free(shown[column]);
    }
}
