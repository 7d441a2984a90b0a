/*
 * A page of the reference, written once and shown in two forms: as text for a terminal (`help TOPIC`) and as
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

/* A heading: lower case with a capital, as "Host list". In roff it is in capitals. */
void page_section(struct page *page, const char *title);
/* A paragraph. Words are wrapped. */
void page_text(struct page *page, const char *text);
/* A term and what it means. */
void page_item(struct page *page, const char *term, const char *text);
/* One more line of what the last item means. */
void page_item_line(struct page *page, const char *text);
/* Lines as they are, each ended by '\n'. */
void page_lines(struct page *page, const char *lines);

/* For what only the manual has: text as roff prints it unchanged, the same in bold. */
void page_roff(struct str *out, const char *text);
void page_roff_bold(struct str *out, const char *text);

#endif
