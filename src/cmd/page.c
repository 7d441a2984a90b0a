/* Writes a page of the reference as text for a terminal or as roff. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "cmd/page_internal.h"

#define INDENT      2
#define ITEM_INDENT 6

/* Escape text for roff: a minus must not become a hyphen, nor the start of a line a request. */
void page_roff(struct str *out, const char *text)
{
    static const struct {
        char character;
        const char *roff;
    } special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"}};
    bool at_start = out->len == 0 || out->data[out->len - 1] == '\n';
    for (; *text; text++) {
        size_t i = 0;
        while (i < sizeof special / sizeof special[0] && special[i].character != *text) {
            i++;
        }
        if (at_start && (*text == '.' || *text == '\'')) {
            str_add(out, "\\&");
        }
        if (i < sizeof special / sizeof special[0]) {
            str_add(out, special[i].roff);
        } else {
            str_add_char(out, *text);
        }
        at_start = *text == '\n';
    }
}

void page_roff_bold(struct str *out, const char *text)
{
    str_add(out, "\\fB");
    page_roff(out, text);
    str_add(out, "\\fR");
}

void page_section(struct page *page, const char *title)
{
    if (page->form == PAGE_TEXT) {
        str_addf(page->out, "%s%s\n", page->out->len > 0 ? "\n" : "", title);
        return;
    }
    str_add(page->out, ".SH ");
    for (; *title; title++) {
        str_add_char(page->out, (char)toupper((unsigned char)*title));
    }
    str_add_char(page->out, '\n');
}

/* The last line of the page, "" when there is none. */
static const char *last_line(const struct page *page)
{
    const struct str *out = page->out;
    size_t begin = out->len > 0 ? out->len - 1 : 0;
    while (begin > 0 && out->data[begin - 1] != '\n') {
        begin--;
    }
    return out->len > 0 ? out->data + begin : "";
}

/* Begin a paragraph with an empty line before it, unless it follows a heading. */
static void begin_paragraph(struct page *page)
{
    const char *before = last_line(page);
    if (page->form == PAGE_ROFF) {
        str_add(page->out, text_starts(before, ".SH ") ? "" : ".PP\n");
    } else if (before[0] == ' ') {
        str_add_char(page->out, '\n');
    }
}

void page_text(struct page *page, const char *text)
{
    begin_paragraph(page);
    if (page->form == PAGE_ROFF) {
        page_roff(page->out, text);
        str_add_char(page->out, '\n');
        return;
    }
    str_addf(page->out, "%*s", INDENT, "");
    text_add_wrapped(page->out, text, INDENT, INDENT, page->columns);
}

void page_item(struct page *page, const char *term, const char *text)
{
    if (page->form == PAGE_ROFF) {
        str_add(page->out, ".TP\n");
        page_roff_bold(page->out, term);
        str_add_char(page->out, '\n');
        page_roff(page->out, text);
        str_add_char(page->out, '\n');
        return;
    }
    size_t before = strspn(last_line(page), " ");
    str_addf(page->out, "%s%*s%s\n%*s", before > 0 && before < ITEM_INDENT ? "\n" : "", INDENT, "", term,
             ITEM_INDENT, "");
    text_add_wrapped(page->out, text, ITEM_INDENT, ITEM_INDENT, page->columns);
}

void page_item_line(struct page *page, const char *text)
{
    if (page->form == PAGE_ROFF) {
        str_add(page->out, ".br\n");
        page_roff(page->out, text);
        str_add_char(page->out, '\n');
        return;
    }
    str_addf(page->out, "%*s", ITEM_INDENT, "");
    text_add_wrapped(page->out, text, ITEM_INDENT, ITEM_INDENT, page->columns);
}

void page_lines(struct page *page, const char *lines)
{
    begin_paragraph(page);
    if (page->form == PAGE_ROFF) {
        str_add(page->out, ".RS 4\n.nf\n");
        page_roff(page->out, lines);
        str_add(page->out, ".fi\n.RE\n");
        return;
    }
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        str_addf(page->out, "%*s%.*s\n", len > 0 ? INDENT + 2 : 0, "", (int)len, lines);
        lines += len + (lines[len] == '\n' ? 1 : 0);
    }
}
