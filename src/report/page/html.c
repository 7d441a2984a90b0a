/* Escapes foreign text for an HTML page. */
#include <string.h>

#include "base/text.h"
#include "html_internal.h"

#define UNKNOWN "–"

static const char *reference_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text_len(struct str *out, const char *bytes, size_t len)
{
    AUTO_STR struct str safe = STR_INIT;
    text_add_safe(&safe, bytes, len);
    const char *text = str_text(&safe), *from = text;
    for (const char *at = text; at < text + safe.len; at++) {
        const char *reference = reference_of(*at);
        if (reference) {
            str_add_mem(out, from, (size_t)(at - from));
            str_add(out, reference);
            from = at + 1;
        }
    }
    str_add_mem(out, from, (size_t)(text + safe.len - from));
}

void html_text(struct str *out, const char *text)
{
    html_text_len(out, text ? text : UNKNOWN, strlen(text ? text : UNKNOWN));
}

void html_text_short(struct str *out, const char *text, size_t characters)
{
    AUTO_STR struct str safe = STR_INIT;
    if (!text) {
        html_text(out, NULL);
        return;
    }
    text_add_line(&safe, text, strlen(text));
    size_t count = 0, end = 0;
    for (size_t i = 0; i < safe.len; i++) {
        if (((unsigned char)safe.data[i] & 0xC0) != 0x80 && ++count == characters) {
            end = i; /* where the last character that fits begins */
        }
    }
    if (count > characters) {
        str_truncate(&safe, end);
        str_add(&safe, "…");
    }
    html_text(out, str_text(&safe));
}

void html_element(struct str *out, const char *tag, const char *attributes, const char *text)
{
    str_addf(out, "<%s%s>", tag, attributes);
    html_text(out, text);
    str_addf(out, "</%s>", tag);
}
