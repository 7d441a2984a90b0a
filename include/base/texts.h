/*
 * Interned texts: equal texts are stored once, so what many lists have in common takes the memory of one. The
 * lists borrow the texts; release the lists first. Each text can have a number, which is found by the text.
 */
#ifndef MTLAUNCH_BASE_TEXTS_H
#define MTLAUNCH_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct texts_slot {
    char *text; /* NULL: free */
    size_t value;
};

struct texts {
    struct texts_slot *slots; /* a hash table */
    size_t len;
    size_t cap; /* a power of two, or 0 */
};

/* clang-format off */
#define TEXTS_INIT {0}
/* clang-format on */

void texts_release(struct texts *texts);

/* Returns the stored text that equals text, and adds it if needed. Borrowed and read-only. NULL for NULL. */
char *texts_add(struct texts *texts, const char *text);
char *texts_take(struct texts *texts, char *text); /* the same, and takes ownership of text */

/* Add a text with a number. If the text is already there, its number is changed. */
void texts_put(struct texts *texts, const char *text, size_t value);
/* Is the text there? *value (value may be NULL) is then its number: 0 unless texts_put set one. */
bool texts_find(const struct texts *texts, const char *text, size_t *value);

#endif
