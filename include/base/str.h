/* A growing byte string, always NUL-terminated once it holds anything; may hold NUL bytes. */
#ifndef MTLAUNCH_BASE_STR_H
#define MTLAUNCH_BASE_STR_H

#include <stddef.h>

struct str {
    char *data; /* NULL while empty and never used */
    size_t len;
    size_t cap;
};

/* clang-format off */
#define STR_INIT {0}
/* clang-format on */
#define AUTO_STR __attribute__((cleanup(str_release)))

void str_release(struct str *s);
void str_reset(struct str *s); /* length 0, memory kept */
void str_add(struct str *s, const char *text);
void str_add_mem(struct str *s, const void *bytes, size_t len);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_consume(struct str *s, size_t len); /* drop len bytes from the front */
void str_truncate(struct str *s, size_t len);
const char *str_text(const struct str *s); /* "" when empty; borrowed */
char *str_detach(struct str *s);           /* the caller owns the text (never NULL); s is empty then */

#endif
