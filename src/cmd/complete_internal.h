/*
 * What may stand at the cursor of a shell. The scripts of the shells (cmd/completion/) hand over the words of
 * the command line; everything that is known about commands and options comes from their tables.
 */
#ifndef MTLAUNCH_CMD_COMPLETE_INTERNAL_H
#define MTLAUNCH_CMD_COMPLETE_INTERNAL_H

#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"

/* The scripts, made from cmd/completion/mtlaunch.* by the build. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

/*
 * Append the candidates for the last of words (those behind "mtlaunch", at least one, which may be empty),
 * one a line: WORD, or WORD, a tab and what it is. A candidate for "--color=a" begins with "--color=". The
 * line
 * ":files" says that names of files fit too. runs and jobs: the names there are.
 */
void complete_words(char *const *words, size_t count, const struct strlist *runs, const struct strlist *jobs,
                    struct str *out);

#endif
