/* Prepares the rows of all signature tables and line formats for a search in one pass. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reader_internal.h"

static size_t count_rows(void)
{
    size_t count = 0;
    for (size_t i = 0; i < signature_tables_len; i++) {
        count += signature_tables[i]->len;
    }
    return count;
}

static void add_row(struct scanner *scanner, const struct signature *row)
{
    size_t index = scanner->rows_len++;
    scanner->rows[index] = row;
    for (size_t i = 0; row->literals[i]; i++) {
        literals_add(scanner->literals, row->literals[i], (uint16_t)index);
    }
    /* The patterns are constants, and the table's test compiles each of them. */
    if (row->pattern && regcomp(&scanner->patterns[index], row->pattern, REG_EXTENDED) != 0) {
        abort();
    }
}

struct scanner *scanner_new(void)
{
    struct scanner *scanner = xcalloc(1, sizeof(*scanner));
    size_t count = count_rows();
    scanner->literals = literals_new();
    scanner->rows = xcalloc(count, sizeof(*scanner->rows));
    scanner->patterns = xcalloc(count, sizeof(*scanner->patterns));
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            add_row(scanner, &signature_tables[i]->rows[j]);
        }
    }
    for (size_t i = 0; i < line_formats_len; i++) {
        literals_add(scanner->literals, line_formats[i].literal, (uint16_t)(scanner->rows_len + i));
    }
    literals_build(scanner->literals);
    return scanner;
}

void scanner_free(struct scanner *scanner)
{
    if (!scanner) {
        return;
    }
    for (size_t i = 0; i < scanner->rows_len; i++) {
        if (scanner->rows[i]->pattern) {
            regfree(&scanner->patterns[i]);
        }
    }
    literals_free(scanner->literals);
    free(scanner->rows);
    free(scanner->patterns);
    free(scanner);
}

void scanner_list_literals(const struct scanner *scanner, struct strlist *literals)
{
    for (size_t i = 0; i < scanner->rows_len; i++) {
        for (size_t j = 0; scanner->rows[i]->class != CLASS_NOISE && scanner->rows[i]->literals[j]; j++) {
            strlist_add(literals, scanner->rows[i]->literals[j]);
        }
    }
    for (size_t i = 0; i < line_formats_len; i++) {
        if (line_formats[i].use != LINE_STEP) {
            strlist_add(literals, line_formats[i].literal);
        }
    }
}
