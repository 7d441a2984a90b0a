#include "report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define COLUMN_GAP    2
#define COLUMN_MIN    1
#define ELLIPSIS      "…"
#define ELLIPSIS_COLS 1

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
    *table = (struct table){.columns = columns, .count = count};
}

void table_release(struct table *table)
{
    for (size_t i = 0; i < table->len; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->len = table->cap = 0;
}

void table_add(struct table *table, const char *text, enum report_tone tone)
{
    struct str safe = STR_INIT;
    if (text)
        text_add_safe(&safe, text, strlen(text));
    for (size_t i = 0; i < safe.len; i++) {
        if (safe.data[i] == '\n' || safe.data[i] == '\t')
            safe.data[i] = ' ';
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
    if (wrapped)
        str_add(out, codes[tone]);
    str_add(out, text);
    if (wrapped)
        str_add(out, "\033[0m");
}

/* The beginning of text that needs at most columns, ended by an ellipsis when something is cut. */
static char *cut_to(const char *text, size_t columns)
{
    struct str cut = STR_INIT;
    size_t used = 0;
    if (text_columns(text) <= columns)
        return xstrdup(text);
    for (const char *at = text; *at;) {
        size_t len = 1;
        while (((unsigned char)at[len] & 0xc0) == 0x80)
            len++;
        AUTO_FREE char *character = xstrndup(at, len);
        size_t width = text_columns(character);
        if (used + width + ELLIPSIS_COLS > columns)
            break;
        str_add(&cut, character);
        used += width;
        at += len;
    }
    str_add(&cut, ELLIPSIS);
    return str_detach(&cut);
}

static size_t widths_measure(const struct table *table, size_t *widths)
{
    size_t total = 0;
    for (size_t column = 0; column < table->count; column++) {
        bool empty = true;
        widths[column] = text_columns(table->columns[column].title);
        for (size_t i = column; i < table->len; i += table->count) {
            size_t width = text_columns(table->cells[i].text);
            empty = empty && width == 0;
            if (width > widths[column])
                widths[column] = width;
        }
        if (empty && table->columns[column].hide_empty)
            widths[column] = 0;
        if (widths[column])
            total += widths[column] + (total ? COLUMN_GAP : 0);
    }
    return total;
}

/* The widest column that may give one more; table->count when none may. */
static size_t widths_widest(const struct table *table, const size_t *widths, bool flexible)
{
    size_t found = table->count;
    for (size_t column = 0; column < table->count; column++) {
        if (flexible && !table->columns[column].flexible)
            continue;
        if (widths[column] > COLUMN_MIN && (found == table->count || widths[column] > widths[found]))
            found = column;
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
    while (count-- > 0)
        str_add_char(out, ' ');
}

/* One line; blanks are held back until something follows them, so that no line ends in blanks. */
static void render_row(const struct table *table, const size_t *widths, size_t row, bool color,
                       struct str *out)
{
    size_t pending = 0;
    bool first = true;
    for (size_t column = 0; column < table->count; column++) {
        const struct table_column *spec = &table->columns[column];
        const struct table_cell *cell = row ? &table->cells[(row - 1) * table->count + column] : NULL;
        if (!widths[column])
            continue;
        AUTO_FREE char *text = cut_to(cell ? cell->text : spec->title, widths[column]);
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

void table_render(const struct table *table, size_t width, bool color, struct str *out)
{
    AUTO_FREE size_t *widths = xcalloc(table->count, sizeof(widths[0]));
    widths_fit(table, widths, width);
    for (size_t row = 0; row <= table->len / table->count; row++)
        render_row(table, widths, row, color, out);
}
