/* Quoting for a POSIX shell. */
#ifndef MTLAUNCH_BASE_QUOTE_H
#define MTLAUNCH_BASE_QUOTE_H

#include <stddef.h>

#include "base/str.h"

/* Append text as one single-quoted word that every POSIX shell reads back byte for byte. */
void quote_sh(struct str *out, const char *text);

/*
 * The same, but without quotes when no character of text is special to any shell. For output that people
 * read.
 */
void quote_sh_pretty(struct str *out, const char *text);

/* Append argv, each word by quote_sh_pretty, separated by blanks. */
void quote_argv_pretty(struct str *out, char *const *argv, size_t count);

#endif
