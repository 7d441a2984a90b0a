/* A growing list of strings, which it owns; items is NULL-terminated, so it serves as an argv. */
#ifndef MTLAUNCH_BASE_STRLIST_H
#define MTLAUNCH_BASE_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/texts.h"

struct strlist {
    char **items; /* NULL while never used */
    size_t len;
    size_t cap;
    struct texts *texts; /* borrowed; if set, it owns the strings. Set it only while the list is empty */
};

/* clang-format off */
#define STRLIST_INIT {0}
/* clang-format on */
#define AUTO_STRLIST __attribute__((cleanup(strlist_release)))

void strlist_release(struct strlist *list);
void strlist_add(struct strlist *list, const char *text);
void strlist_add_mem(struct strlist *list, const char *text, size_t len);
void strlist_addf(struct strlist *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strlist_take(struct strlist *list, char *text);               /* takes ownership of text */
void strlist_copy(struct strlist *to, const struct strlist *from); /* appends */
bool strlist_has(const struct strlist *list, const char *text);
char *strlist_join(const struct strlist *list, const char *separator); /* caller frees */

#endif
