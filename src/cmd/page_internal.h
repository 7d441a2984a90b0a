/*
 * A page of the reference, written once and output in two forms: as text for a terminal (`help TOPIC`) and as
 * roff for a manual page (man(7), see groff_man(7)).
 */
#ifndef MTLAUNCH_CMD_PAGE_INTERNAL_H
#define MTLAUNCH_CMD_PAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum page_form { PAGE_TEXT, PAGE_ROFF };

struct page {
    struct str *out; /* borrowed */
    enum page_form form;
    size_t columns; /* PAGE_TEXT: the width of lines */
};

/* A heading in sentence case, such as "Host list". roff shows it in capitals. */
void page_section(struct page *page, const char *title);
/* A paragraph. Words are wrapped. */
void page_text(struct page *page, const char *text);
/* A term and its meaning. */
void page_item(struct page *page, const char *term, const char *text);
/* One more line for the last item's meaning. */
void page_item_line(struct page *page, const char *text);
/* Lines without wrapping, each ended by '\n'. */
void page_lines(struct page *page, const char *lines);

/* For parts that only the manual has: append text so that roff prints it unchanged; the same in bold. */
void page_roff(struct str *out, const char *text);
void page_roff_bold(struct str *out, const char *text);

#endif
