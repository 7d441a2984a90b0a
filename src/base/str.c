/* Growing byte strings. */
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Make room for more bytes and the NUL after them. */
static void reserve(struct str *s, size_t more)
{
    if (s->cap > s->len && more < s->cap - s->len) {
        return;
    }
    /* SIZE_MAX asks xrealloc for the impossible, which ends the process as out of memory does. */
    size_t wanted = more > SIZE_MAX / 4 || s->len > SIZE_MAX / 4 ? SIZE_MAX : s->len + more + 1;
    if (wanted < 2 * s->cap) {
        wanted = 2 * s->cap;
    }
    if (wanted < 32) {
        wanted = 32;
    }
    s->data = xrealloc(s->data, wanted, 1);
    s->cap = wanted;
    s->data[s->len] = '\0';
}

void str_release(struct str *s)
{
    free(s->data);
    *s = (struct str)STR_INIT;
}

void str_reset(struct str *s)
{
    str_truncate(s, 0);
}

void str_add(struct str *s, const char *text)
{
    str_add_mem(s, text, strlen(text));
}

void str_add_mem(struct str *s, const void *bytes, size_t len)
{
    reserve(s, len);
    if (len > 0) {
        memcpy(s->data + s->len, bytes, len);
    }
    s->len += len;
    s->data[s->len] = '\0';
}

void str_add_char(struct str *s, char c)
{
    str_add_mem(s, &c, 1);
}

void str_addf(struct str *s, const char *format, ...)
{
    va_list args, copy;

    reserve(s, 0);
    va_start(args, format);
    va_copy(copy, args);
    int len = vsnprintf(s->data + s->len, s->cap - s->len, format, args);
    if (len >= 0 && (size_t)len < s->cap - s->len) {
        s->len += (size_t)len;
    } else { /* no room, or an encoding error, for which xvasprintf ends the process */
        AUTO_FREE char *text = xvasprintf(format, copy);
        s->data[s->len] = '\0';
        str_add_mem(s, text, len >= 0 ? (size_t)len : strlen(text));
    }
    va_end(copy);
    va_end(args);
}

void str_consume(struct str *s, size_t len)
{
    if (len >= s->len) {
        str_reset(s);
        return;
    }
    s->len -= len;
    memmove(s->data, s->data + len, s->len + 1);
}

void str_truncate(struct str *s, size_t len)
{
    if (!s->data || len > s->len) {
        return;
    }
    s->len = len;
    s->data[len] = '\0';
}

const char *str_text(const struct str *s)
{
    return s->data ? s->data : "";
}

char *str_detach(struct str *s)
{
    reserve(s, 0);
    char *result = s->data;
    *s = (struct str)STR_INIT;
    return result;
}
