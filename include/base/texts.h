/*
 * Texts kept once, however often they are added: what many lists have in common takes the memory of one. The
 * lists borrow them, so the texts are released after the lists. Each may carry a number, to be found by its
 * text.
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

/* The text that equals this one, borrowed; nobody may change it. NULL stays NULL. */
char *texts_add(struct texts *texts, const char *text);
char *texts_take(struct texts *texts, char *text); /* the same, and takes ownership of text */

/* Add a text with a number; one that is there gets the number. */
void texts_put(struct texts *texts, const char *text, size_t value);
/* Is it there? value, which may be NULL, gets its number: 0 unless texts_put gave it another. */
bool texts_find(const struct texts *texts, const char *text, size_t *value);

#endif
