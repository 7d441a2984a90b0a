/*
 * Texts kept once, however often they are added: what many lists have in common takes the memory of one. The
 * lists borrow them, so the texts are released after the lists.
 */
#ifndef MTLAUNCH_BASE_TEXTS_H
#define MTLAUNCH_BASE_TEXTS_H

#include <stddef.h>

struct texts {
    char **slots; /* a hash table */
    size_t len;
    size_t cap;
};

/* clang-format off */
#define TEXTS_INIT {0}
/* clang-format on */

void texts_release(struct texts *texts);

/* The text that equals this one, borrowed; nobody may change it. NULL stays NULL. */
char *texts_add(struct texts *texts, const char *text);
char *texts_take(struct texts *texts, char *text); /* the same, and takes ownership of text */

#endif
