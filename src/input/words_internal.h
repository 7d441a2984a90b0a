/* Splits a line into words as in a shell, and writes words as a YAML list. For hints. */
#ifndef MTLAUNCH_INPUT_WORDS_INTERNAL_H
#define MTLAUNCH_INPUT_WORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"

/* Bytes up to the first blank or line end outside of ${{ }}; the whole length when there is none.
 */
size_t words_first_len(const char *text);
bool words_has_blank(const char *text);

/* Split at blanks. Quotes hold a word together and are removed, ${{ name }} stays whole. Appended to out. */
void words_split(const char *line, struct strlist *out);

/* Append a text as a YAML scalar that is valid anywhere: plain if that is safe, else in double quotes. */
void words_add_scalar(const char *text, struct str *out);
/* Append "[--lr, 1e-5]"; a long list is cut with "...". */
void words_add_list(char *const *words, size_t count, struct str *out);

#endif
