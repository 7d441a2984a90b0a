/* Reads UTF-8 one character at a time, for the printing functions of the base layer. */
#ifndef MTLAUNCH_BASE_UTF8_INTERNAL_H
#define MTLAUNCH_BASE_UTF8_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * Read the character at bytes (len > 0). *used is the number of bytes it takes. For invalid UTF-8 (RFC 3629:
 * overlong forms, surrogates, above U+10FFFF, truncated) the result is UTF8_INVALID and *used the length of
 * the maximal subpart that one U+FFFD replaces (Unicode 15, section 3.9, table 3-8).
 */
uint32_t utf8_read(const char *bytes, size_t len, size_t *used);

/* Columns of a terminal that the character takes: 0, 1 or 2. */
size_t utf8_columns(uint32_t character);

#endif
