/* Keeps the last lines of a log for a screen. */
#include "report/logpage.h"

#include <string.h>

#include "base/text.h"

void logpage_init(struct logpage *page)
{
    *page = (struct logpage){0};
    lines_init(&page->lines);
}

void logpage_release(struct logpage *page)
{
    lines_release(&page->lines);
    str_release(&page->text);
}

/* Drop the oldest lines; the last one stays, cut if need be. */
static void bound(struct logpage *page)
{
    struct str *text = &page->text;
    if (text->len <= LOGPAGE_BYTES) {
        return;
    }
    size_t drop = text->len - LOGPAGE_BYTES / 2;
    const char *end = memchr(text->data + drop, '\n', text->len - drop);
    if (end && (size_t)(end + 1 - text->data) < text->len) {
        drop = (size_t)(end + 1 - text->data);
    }
    str_consume(text, drop);
    page->last = page->last > drop ? page->last - drop : 0;
}

static void take_piece(void *ctx, const struct line_piece *piece)
{
    struct logpage *page = ctx;
    size_t len = piece->len;
    while (len > 0 && piece->bytes[len - 1] == '\r') {
        len--;
    }
    const char *cr = len > 0 ? memrchr(piece->bytes, '\r', len) : NULL;
    const char *shown = cr ? cr + 1 : piece->bytes;
    len -= (size_t)(shown - piece->bytes);
    if (!page->unfinished) {
        page->last = page->text.len;
    } else if (cr) {
        str_truncate(&page->text, page->last);
    }
    text_add_line(&page->text, shown, len);
    if (piece->ends) {
        str_add_char(&page->text, '\n');
    }
    page->unfinished = !piece->ends;
    bound(page);
}

void logpage_feed(struct logpage *page, const char *bytes, size_t len)
{
    lines_feed(&page->lines, bytes, len, take_piece, page);
    page->has_pending = page->lines.part.len > 0;
}

void logpage_flush(struct logpage *page)
{
    if (page->has_pending) {
        lines_flush(&page->lines, take_piece, page);
        page->has_pending = false;
    }
}
