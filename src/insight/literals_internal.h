/* Finds any of many literals in one pass over a line (Aho and Corasick, CACM 18, 1975). */
#ifndef MTLAUNCH_INSIGHT_LITERALS_INTERNAL_H
#define MTLAUNCH_INSIGHT_LITERALS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct literals;

struct literals *literals_new(void);
void literals_free(struct literals *literals);

/*
 * Add a literal (not empty, without a line end) that stands for the number. Not allowed after literals_build.
 */
void literals_add(struct literals *literals, const char *text, uint16_t number);

/* Make it ready to search. */
void literals_build(struct literals *literals);

/*
 * Find the numbers whose literals are in the bytes, each once, ascending. Returns how many were found, at
 * most max.
 */
size_t literals_find(const struct literals *literals, const char *bytes, size_t len, uint16_t *numbers,
                     size_t max);

#endif
