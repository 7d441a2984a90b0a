/* HTML text. Every text that comes from elsewhere goes through html_text: nothing of it becomes markup. */
#ifndef MTLAUNCH_REPORT_HTML_INTERNAL_H
#define MTLAUNCH_REPORT_HTML_INTERNAL_H

#include <stddef.h>

#include "base/str.h"

/*
 * Append bytes as the text of an element or of a quoted attribute, for both alike: & < > " ' become
 * references, control characters other than a line end and a tab become '?', and bytes that are no UTF-8
 * U+FFFD. text NULL: "–".
 */
void html_text(struct str *out, const char *text);
void html_text_len(struct str *out, const char *bytes, size_t len);

/* The same, cut to so many characters, followed by "…". */
void html_text_short(struct str *out, const char *text, size_t characters);

/* "<TAG ATTRIBUTES>text</TAG>"; attributes (with a blank before) and tag are ours. */
void html_element(struct str *out, const char *tag, const char *attributes, const char *text);

#endif
