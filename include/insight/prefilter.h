/*
 * From a regular expression to what every text that it matches holds, so that grep can look for that where a
 * log is, and only lines that may match have to come here. It is looked for in the bytes as they are written,
 * while the expression is applied to what is shown of them: of a line only the text after its last carriage
 * return, control characters replaced by '?', bytes that are no UTF-8 by U+FFFD. So only characters count
 * that are shown as they are written.
 */
#ifndef MTLAUNCH_INSIGHT_PREFILTER_H
#define MTLAUNCH_INSIGHT_PREFILTER_H

#include <stdbool.h>

#include "base/str.h"
#include "base/strlist.h"

#define PREFILTER_GAP '\n'

/*
 * Append the alternatives of a POSIX extended expression that regcomp accepts: each text that it matches
 * holds the pieces of one of them, in this order. Pieces are not empty and stand between PREFILTER_GAPs.
 * False: nothing can be said about what it matches; then nothing is appended.
 */
bool prefilter_find(const char *expression, struct strlist *alternatives);

/*
 * Append the patterns for grep -F (*fixed) or grep -E, one a line, that select with LC_ALL=C at least the
 * lines that hold one of the alternatives.
 */
void prefilter_add_patterns(const struct strlist *alternatives, bool *fixed, struct str *out);

#endif
