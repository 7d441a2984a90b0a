/* Growing lists of strings. */
#include "base/strlist.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

void strlist_release(struct strlist *list)
{
    for (size_t i = 0; !list->texts && i < list->len; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct strlist)STRLIST_INIT;
}

static void append(struct strlist *list, char *text)
{
    /* len + 1: room for the NULL after the last item. */
    list->items = xgrow(list->items, list->len + 1, &list->cap, sizeof *list->items);
    list->items[list->len++] = text;
    list->items[list->len] = NULL;
}

void strlist_add(struct strlist *list, const char *text)
{
    append(list, list->texts ? texts_add(list->texts, text) : xstrdup(text));
}

void strlist_add_mem(struct strlist *list, const char *text, size_t len)
{
    strlist_take(list, xstrndup(text, len));
}

void strlist_addf(struct strlist *list, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strlist_take(list, xvasprintf(format, args));
    va_end(args);
}

void strlist_take(struct strlist *list, char *text)
{
    append(list, list->texts ? texts_take(list->texts, text) : text);
}

void strlist_copy(struct strlist *to, const struct strlist *from)
{
    size_t count = from->len; /* read first, so that a list can be appended to itself */

    bool shared = to->texts && to->texts == from->texts;

    if (to->cap < to->len + count + 1) {
        to->cap = to->len + count + 1;
        to->items = xrealloc(to->items, to->cap, sizeof *to->items);
        to->items[to->len] = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (shared) {
            append(to, from->items[i]);
        } else {
            strlist_add(to, from->items[i]);
        }
    }
}

bool strlist_has(const struct strlist *list, const char *text)
{
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

char *strlist_join(const struct strlist *list, const char *separator)
{
    struct str joined = STR_INIT;

    for (size_t i = 0; i < list->len; i++) {
        if (i > 0) {
            str_add(&joined, separator);
        }
        str_add(&joined, list->items[i]);
    }
    return str_detach(&joined);
}
