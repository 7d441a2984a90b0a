/*
 * Derives from a regular expression the texts that each of its matches contains. grep can search for them
 * where the log is, so that only lines that may match have to be transferred.
 *
 * grep sees the bytes as they are written. The expression is applied to what is shown of a line: the text
 * after its last carriage return, with control characters replaced by '?' and invalid UTF-8 by U+FFFD. So
 * only characters that are shown as they are written count.
 */
#ifndef MTLAUNCH_INSIGHT_PREFILTER_H
#define MTLAUNCH_INSIGHT_PREFILTER_H

#include <stdbool.h>

#include "base/str.h"
#include "base/strlist.h"

#define PREFILTER_GAP '\n'

/*
 * Append the alternatives of a POSIX extended expression that regcomp accepts. Each text that it matches
 * contains all pieces of one alternative, in order. Pieces are not empty and are separated by PREFILTER_GAP.
 * Returns false, and appends nothing, when nothing is known about the matches.
 */
bool prefilter_find(const char *expression, struct strlist *alternatives);

/*
 * Append the patterns for grep -F (*fixed) or grep -E, one per line. With LC_ALL=C they select at least the
 * lines that contain one of the alternatives.
 */
void prefilter_add_patterns(const struct strlist *alternatives, bool *fixed, struct str *out);

#endif
