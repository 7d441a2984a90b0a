/* What git reports about a folder that is pushed. Without git, or outside a work tree, it reports nothing. */
#ifndef MTLAUNCH_RUN_SYNC_GIT_INTERNAL_H
#define MTLAUNCH_RUN_SYNC_GIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

/* The commit that is checked out (caller frees), and whether there are changes in no commit. NULL: unknown.
 */
char *sync_git_commit(const char *folder, bool *dirty);

/*
 * Append patterns (model/skip.h) for what .gitignore names below folder, each after prefix ("" or "/name").
 * Errors: kind_usage, it is not a work tree.
 */
int sync_git_ignored(const char *folder, const char *prefix, struct strlist *patterns, struct error *err);

/* Which of the paths below folder (those of folders end in '/') would .gitignore name, whether they are here
 * or not? Sets ignored[i]. */
void sync_git_check(const char *folder, const char *const *paths, size_t count, bool *ignored);

#endif
