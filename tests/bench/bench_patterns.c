/* Prints the patterns of all signatures and the literals of line formats, one per line, as `grep -E -f` takes
 * them. */
#include <stdio.h>
#include <string.h>

#include "insight/evidence.h"

static void print_literal(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr(".[]{}()*+?^$|\\", *text)) {
            putchar('\\');
        }
        putchar(*text);
    }
    putchar('\n');
}

int main(void)
{
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            const struct signature *row = &signature_tables[i]->rows[j];
            for (size_t k = 0; row->literals[k] && !row->pattern; k++) {
                print_literal(row->literals[k]);
            }
            if (row->literals[0] && row->pattern) {
                puts(row->pattern);
            }
        }
    }
    return 0;
}
