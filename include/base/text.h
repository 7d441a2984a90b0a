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

/* A DURATION of options and job files: whole seconds, or a whole number with s, m, h or d. In seconds. */
bool text_to_duration(const char *text, uint64_t *seconds);
/* The duration that text most likely means ("10 minutes": "10m", "1h30m": "90m"), or NULL. Caller frees. */
char *text_duration_meant(const char *text);
/*
 * Append the words of text, wrapped to columns columns, and a line end. at is the current column;
 * continuation lines are indented by indent columns.
 */
void text_add_wrapped(struct str *out, const char *text, size_t at, size_t indent, size_t columns);

/* A SIZE of options and job files: whole bytes, or a whole number with K, M, G or T (powers of 1024). At most
 * INT64_MAX. */
bool text_to_size(const char *text, uint64_t *bytes);

/*
 * The candidate nearest to word by edit distance, or NULL: at most 2 edits, or a third of the length when
 * that is more (1 edit in words of up to 3 characters). A transposition is one edit; the case of ASCII
 * letters does not count. If none is that near, the result is the first candidate that begins with word (of
 * at least 3 characters). candidates holds count strings; NULL entries are skipped.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

/* True if at least one of the shell patterns (fnmatch) matches text. */
bool text_matches_any(const char *text, char *const *patterns, size_t count);

/*
 * Append bytes so that a terminal shows them safely: control characters other than newline and tab (and DEL,
 * C1 controls, line separators, directional formatting characters) become '?'; invalid UTF-8 becomes U+FFFD,
 * one for each maximal subpart, as in most decoders. A character that the caller has cut in two counts as two
 * invalid parts. A newline in foreign text begins a line that can look like one of ours: to show text as part
 * of our own line, use text_add_line or text_add_lines.
 */
void text_add_safe(struct str *out, const char *bytes, size_t len);

/* The same on one line: a newline or a tab becomes a blank. */
void text_add_line(struct str *out, const char *bytes, size_t len);

/*
 * The same for a text that may quote lines below its first one. A newline is kept only in front of
 * TEXT_QUOTE_INDENT, the indent of quoted lines, so only the first line of the result begins at the margin.
 * Tabs become blanks.
 */
#define TEXT_QUOTE_INDENT "    "
void text_add_lines(struct str *out, const char *bytes, size_t len);

/* Append bytes with invalid UTF-8 replaced by U+FFFD (for JSON). Control characters, also NUL, are kept. */
void text_add_utf8(struct str *out, const char *bytes, size_t len);

/*
 * Append text with every value of secrets shown as "***". Values shorter than TEXT_SECRET_MIN bytes are not
 * masked, because they also occur in ordinary text. secrets may be NULL. Mask a text before you truncate it:
 * a part of a secret is not recognised.
 */
#define TEXT_SECRET_MIN 4
void text_add_masked(struct str *out, const char *text, const struct strlist *secrets);

/* Columns the text needs on a terminal (UTF-8 characters counted; wide ones as 2). */
size_t text_columns(const char *text);

#endif
