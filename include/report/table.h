/*
 * Tables of text that fit a width. Columns are as wide as their longest cell. When the table is too wide, the
 * columns marked as flexible shrink first, their cells cut with "…". Cells are made safe for a terminal.
 *
 * A column of names first loses the suffix that all its cells share (a domain), then the middle of each cell,
 * cut so that different names stay different. Also set last for what readers copy into their next command. A
 * column with own_line is printed below its row, wrapped and indented.
 */
#ifndef MTLAUNCH_REPORT_TABLE_H
#define MTLAUNCH_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "report/style.h"

struct table_column {
    const char *title;
    bool right;      /* numbers: aligned to the right */
    bool flexible;   /* may be cut to fit */
    bool hide_empty; /* left out when no row has a cell there */
    bool names;      /* flexible; cut in the middle, and different cells stay different */
    bool last;       /* shrinks only when the flexible columns can shrink no further */
    bool own_line;   /* its own line below the row, unless the cell is empty; the last column only */
};

struct table_cell {
    char *text;
    enum report_tone tone;
};

struct table {
    const struct table_column *columns;
    size_t count; /* of columns */
    struct table_cell *cells;
    size_t len; /* of cells: rows * count */
    size_t cap;
};

void table_init(struct table *table, const struct table_column *columns, size_t count);
void table_release(struct table *table);

/* Add the next cell, row by row; text NULL is an empty cell. Copied. */
void table_add(struct table *table, const char *text, enum report_tone tone);
void table_addf(struct table *table, enum report_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append the table; no line is wider than width when the fixed columns allow it. */
void table_render(const struct table *table, size_t width, bool color, struct str *out);

/* Append text in a tone (as ANSI sequences when color is true), without making it safe. */
void tone_add(struct str *out, const char *text, enum report_tone tone, bool color);

#endif
