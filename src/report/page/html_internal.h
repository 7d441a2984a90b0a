/*
 * HTML text. Every text from outside the program goes through html_text, so that no part of it becomes
 * markup.
 */
#ifndef MTLAUNCH_REPORT_HTML_INTERNAL_H
#define MTLAUNCH_REPORT_HTML_INTERNAL_H

#include <stddef.h>

#include "base/str.h"

/*
 * Append bytes in a form that is valid both as the text of an element and in a quoted attribute: & < > " '
 * become references, control characters other than a line end and a tab become '?', and bytes that are not
 * UTF-8 become U+FFFD. text NULL: "–".
 */
void html_text(struct str *out, const char *text);
void html_text_len(struct str *out, const char *bytes, size_t len);

/* The same, cut to this many characters, followed by "…". */
void html_text_short(struct str *out, const char *text, size_t characters);

/* Append "<TAG ATTRIBUTES>text</TAG>". Only text is escaped; attributes begin with a blank. */
void html_element(struct str *out, const char *tag, const char *attributes, const char *text);

#endif
