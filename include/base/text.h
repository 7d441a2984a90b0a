/* Small pure functions over text: numbers, durations, sizes, nearest names, safe printing. */
#ifndef MTLAUNCH_BASE_TEXT_H
#define MTLAUNCH_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strlist.h"

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);
void text_lower(char *text); /* its ASCII letters */

/* Whole decimal number without sign, blanks or leading '+', within min..max; false otherwise. */
bool text_to_uint(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Longest duration taken, in seconds: 100 years of 365 days, so that sums in milliseconds never overflow. */
#define TEXT_DURATION_MAX UINT64_C(3153600000)

/* DURATION of the contract: whole seconds, or a whole number with s, m, h or d. Result in seconds. */
bool text_to_duration(const char *text, uint64_t *seconds);
/* The duration that text most likely means ("10 minutes": "10m", "1h30m": "90m"), or NULL. Caller frees. */
char *text_duration_meant(const char *text);
/*
 * Append the words of text with line breaks before column columns, continued at indent, and a line end. at is
 * the present column.
 */
void text_add_wrapped(struct str *out, const char *text, size_t at, size_t indent, size_t columns);

/* SIZE of the contract: whole bytes, or a whole number with K, M, G or T (powers of 1024); at most INT64_MAX.
 */
bool text_to_size(const char *text, uint64_t *bytes);

/*
 * The candidate nearest to word by edit distance, or NULL: at most 2 edits, or a third of the length
 * when that is more (1 edit in words of up to 3 characters). A transposition is one edit; the case of
 * ASCII letters does not count. When none is that near, the first candidate that begins with word (of
 * at least 3 characters). candidates holds count strings; NULL entries are passed over.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

/* Every shell pattern of patterns (fnmatch) is tried; true when one matches. */
bool text_matches_any(const char *text, char *const *patterns, size_t count);

/*
 * Append bytes so that a terminal shows them safely: control characters other than newline and tab
 * (and DEL, C1 controls, line separators, marks that turn the direction of text) become '?'; bytes that are
 * no UTF-8 become U+FFFD, one for each maximal subpart, as most decoders do. A character cut in two by the
 * caller counts as two such places. A newline in foreign text begins a line that can be taken for one of
 * ours: where text is shown as a part of a line of ours, use one of the next two.
 */
void text_add_safe(struct str *out, const char *bytes, size_t len);

/* The same on one line: a newline or a tab becomes a blank. */
void text_add_line(struct str *out, const char *bytes, size_t len);

/*
 * The same for a text that may quote lines below its first. A newline stays only before TEXT_QUOTE_INDENT,
 * with which quoted lines are written: no line of the result but the first begins at the margin. Tabs become
 * blanks.
 */
#define TEXT_QUOTE_INDENT "    "
void text_add_lines(struct str *out, const char *bytes, size_t len);

/* Append bytes with everything that is not valid UTF-8 replaced by U+FFFD (for JSON); control characters, NUL
 * too, stay. */
void text_add_utf8(struct str *out, const char *bytes, size_t len);

/*
 * Append text with every value of secrets shown as "***". Values below TEXT_SECRET_MIN bytes stay: masking
 * them would tear holes into every text. secrets may be NULL. To be done before a text is cut: a part of a
 * secret is a secret.
 */
#define TEXT_SECRET_MIN 4
void text_add_masked(struct str *out, const char *text, const struct strlist *secrets);

/* Columns the text needs on a terminal (UTF-8 characters counted; wide ones as 2). */
size_t text_columns(const char *text);

#endif
